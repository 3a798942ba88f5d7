"""The command, its environment, the config or the tracker names another output root than the
contract does.

Why: the trainer would write where the babysitter does not look: checkpoints seem to be missing, and
a relaunch starts from scratch or from another run's.
Fix: make `[output]` and the named value equal, or remove the value if the trainer does not use it.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from herorun.core.check import Gate, Response, check
from herorun.core.contract import Contract
from herorun.core.evidence import Nothing, TrackerIdentity, Unavailable
from herorun.core.finding import Verdict, failed, not_applicable, passed
from herorun.core.lazy_regex import lazy_regex
from herorun.core.plan import Plan

NAMES = lazy_regex(
    r"output(_dir|_path|_root)?|out_dir|save(_dir|_path|_folder)?|checkpoints?_dir|checkpoint_root|ckpt_dir|run_dir"
    r"|default_root_dir"
)
IN_A_TABLE = lazy_regex(r"(temporary_)?(base_path|root)|dirpath|dir|directory|folder")
A_FOLDER = lazy_regex(r"(output|out|save|checkpoints?|ckpt|run)_(dir|root|folder)|default_root_dir")
A_TABLE = lazy_regex(
    r"(model_)?checkpoint(s|er|ing)?|ckpt|outputs?"
)  # of checkpoints, or of all that is written
OTHERWISE = lazy_regex(  # words of keys that are about something else
    r"load|restore|resume|init|initiali[sz]e|initial|pretrained|from|source|input|cache|data|datasets?|logs?|logging"
    r"|logger|tokenizer|tensorboard|wandb|profiler?|profiling|trace|eval|evaluation|export|hf|teacher|reference|debug"
    r"|dump|hydra|slurm"
)
A_FILE = lazy_regex(r"\.(log|out|err|txt|jsonl?|ya?ml|toml|csv|html|md)$")
A_TEMPLATE = lazy_regex(r"[{$<`]|%[A-Za-z(]")
Named = tuple[str, str]  # where the root is stated, and its value


@check(Gate.LAUNCH, Response.BLOCK)
def output_root_mismatch(
    contract: Contract, plan: Plan, tracker: TrackerIdentity | Nothing | Unavailable
) -> list[Verdict]:
    """One verdict for each value that differs. Another check reports a tracker that cannot be
    read.
    """
    values = [
        *_flags("argv", plan.argv.value),
        *_flags("resume_argv", plan.resume_argv.value),
        *((f"env {name}", value) for name, value in plan.env.value.items() if _is_output([name])),
        *_roots_in_config("config", plan.config.value, []),
        *(
            _roots_in_config("tracker", tracker.config, [])
            if isinstance(tracker, TrackerIdentity)
            else ()
        ),
    ]
    places = {where: value for where, value in values if _is_place(value)}
    names = {contract.slug, plan.tracker.value.id}
    if not any(_is_under_root(value, plan.roots, names) for value in places.values()):
        places |= _relative(plan)
    if not places:
        return [
            not_applicable(
                "neither the command, its environment, the config nor the tracker names one"
            )
        ]
    wrong = {
        where: value
        for where, value in places.items()
        if not _is_under_root(value, plan.roots, names)
    }
    if not wrong:
        return [passed(f"as in the contract: {', '.join(places)}")]
    roots = " and ".join(plan.roots)
    return [
        failed(f"{where} is {value}, but the contract's roots are {roots}", subject=where)
        for where, value in wrong.items()
    ]


def _flags(word: str, argv: Sequence[str]) -> Iterator[Named]:
    """`--output-dir X`, `--output-dir=X`, `trainer.output_dir=X`."""
    for at, part in enumerate(argv):
        name, mark, value = part.partition("=")
        if not mark and part.startswith("-") and at + 1 < len(argv):
            value = argv[at + 1]
        if value and _is_output(name.lstrip("-+").split(".")):
            yield f"{word} {name}", value


def _relative(plan: Plan) -> dict[str, str]:
    """Folders of the command line that would be in the exported copy, which is deleted later.

    Used only if nothing else names the root: a trainer may append the folder to the root.
    """
    if plan.in_place.value or plan.cwd.value.startswith("/"):
        return {}
    arguments = (*_flags("argv", plan.argv.value), *_flags("resume_argv", plan.resume_argv.value))
    return {
        where: value
        for where, value in arguments
        if A_FOLDER.fullmatch(_normalise_key(re.split(r"[ .]-*", where)[-1].lstrip("-+")))
        and not _is_place(value)
        and not A_TEMPLATE.search(value)
        and not any(root.endswith(f"/{value.strip('./')}") for root in plan.roots)
    }


def _roots_in_config(word: str, config: Any, keys: list[str]) -> Iterator[Named]:
    if isinstance(config, Mapping):
        for key, value in config.items():
            yield from _roots_in_config(word, value, [*keys, *str(key).split(".")])
    elif isinstance(config, (list, tuple)):
        for at, value in enumerate(config):
            yield from _roots_in_config(word, value, [*keys, str(at)])
    elif isinstance(config, str) and keys and _is_output(keys):
        yield f"{word} {'.'.join(keys)}", config


def _is_output(keys: Sequence[str]) -> bool:
    *parents, last = [_normalise_key(key) for key in keys]
    parts = [word for key in (*parents, last) for word in key.split("_")]
    if any(OTHERWISE.fullmatch(word) for word in parts):
        return False
    if NAMES.fullmatch(last):
        return True
    return bool(IN_A_TABLE.fullmatch(last)) and any(A_TABLE.fullmatch(key) for key in parents)


def _normalise_key(key: str) -> str:
    """`outputDir`, `output-dir` and `OUTPUT_DIR` are one key."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", key).replace("-", "_").lower()


def _is_place(value: str) -> bool:
    """Whether the value is a folder: a relative path depends on where the job starts, and a single
    file is no root.
    """
    return (value.startswith("/") or "://" in value) and not A_FILE.search(value)


def _is_under_root(value: str, roots: Sequence[str], names: set[str]) -> bool:
    """Whether the value is a root, is inside one, or becomes one when the trainer appends the run's
    name.
    """
    template = A_TEMPLATE.search(value)
    path, normal_roots = _normal(value), [_normal(root) for root in roots]
    if template:
        return any(root.startswith(_normal(value[: template.start()])) for root in normal_roots)
    under = any(f"{path}/".startswith(f"{root}/") for root in normal_roots)
    return under or any(f"{path}/{name}" in normal_roots for name in names)


def _normal(path: str) -> str:
    scheme, mark, tail = path.rpartition("://")
    tail = re.sub(r"/(\./)*/*", "/", tail).rstrip("/")
    return tail if scheme in ("", "file") else f"{scheme}{mark}{tail}"
