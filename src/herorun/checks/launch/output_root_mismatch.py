"""The command, its environment, the config or the tracker names another output root than the
contract does.

Why: the trainer would write where the babysitter does not look: checkpoints seem to be missing, and
a relaunch starts from scratch or from the checkpoint of another run.
Fix: make `[output]` and the named value equal, or remove the value if the trainer does not use it.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from herorun.core.check import Gate, Response, check
from herorun.core.contract import Contract
from herorun.core.evidence import Nothing, OtherRoots, TrackerIdentity, Unavailable
from herorun.core.finding import Verdict, failed, not_applicable, passed
from herorun.core.lazy_regex import lazy_regex
from herorun.core.plan import Plan
from herorun.core.shell_words import shell_commands

NAMES = lazy_regex(
    r"output(_dir|_path|_root)?|out(_?dir)?|save(_dir|_path|_folder)?|checkpoints?_dir|checkpoint_root|ckpt_dir|run_dir"
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
AN_INPUT = lazy_regex(
    r"model|base|parent|weights|ckpt|checkpoints?|student|draft|read|baseline|finetuned?|fine"
    r"|warm(start)?|start|pretrain|tune|vocab|path"
)
A_FILE = lazy_regex(r"\.(log|out|err|txt|jsonl?|ya?ml|toml|csv|html|md)$")
A_TEMPLATE = lazy_regex(r"[{$<`]|%[A-Za-z(]")
# Where a value is stated, its keys from the outermost on, and the value.
NamedValue = tuple[str, Sequence[str], str]


@check(Gate.LAUNCH, Response.BLOCK)
def output_root_mismatch(
    contract: Contract,
    plan: Plan,
    tracker: TrackerIdentity | Nothing | Unavailable,
    others: OtherRoots | Nothing | Unavailable,
) -> list[Verdict]:
    """One verdict for each value that differs. Another check reports a tracker that cannot be
    read.

    A command that names no root of this run, as a fork that kept its parent's, is also compared
    with the roots of the other runs, whatever the key; but for keys of what is read.
    """
    tracker_config = tracker.config if isinstance(tracker, TrackerIdentity) else {}
    values = [*_values_of(plan), *_values_in_config("tracker", tracker_config, [])]
    places = {
        where: value for where, keys, value in values if _is_output(keys) and _is_place(value)
    }
    names = {contract.slug, plan.tracker.value.id}
    theirs = _in_roots_of_others(plan, others)
    names_own_root = any(_normal(value) == _normal(plan.roots[0]) for _, _, value in values)
    if not names_own_root and not any(
        _is_under_root(value, plan.roots, names) for value in places.values()
    ):
        places |= {where: value for where, (value, _) in theirs.items()}
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
    return [
        _fail(where, value, theirs.get(where, ("", ""))[1], plan.roots)
        for where, value in wrong.items()
    ]


def _fail(where: str, value: str, slug: str, roots: Sequence[str]) -> Verdict:
    owner = f", in a root of the run {slug!r}" if slug else ""
    message = f"{where} is {value}{owner}, but the contract's roots are {' and '.join(roots)}"
    return failed(message, subject=where)


def _in_roots_of_others(
    plan: Plan, others: OtherRoots | Nothing | Unavailable
) -> dict[str, tuple[str, str]]:
    """By where it is stated: a folder in a root of another run, and that run. What the key or the
    plan says is read, is left out, and so is a word without a key.
    """
    if not isinstance(others, OtherRoots):
        return {}
    start = plan.start.value
    slugs = {_normal(root): slug for slug, roots in others.roots.items() for root in roots}
    places = {}
    for where, keys, value in _values_of(plan):
        path = _normal(value)
        if not keys or not _is_place(value) or "." in path.rpartition("/")[2] or _is_read(keys):
            continue
        if start is not None and f"{path}/".startswith(f"{_normal(start.path)}/"):
            continue
        for root, slug in slugs.items():
            if f"{path}/".startswith(f"{root}/"):
                places[where] = value, slug
    return places


def _values_of(plan: Plan) -> Iterator[NamedValue]:
    for word, argv in (("argv", plan.argv.value), ("resume_argv", plan.resume_argv.value)):
        yield from _values_in_argv(word, argv)
        for text in argv:
            for command in shell_commands(text) if " " in text else ():
                yield from _values_in_argv(word, command)
    yield from ((f"env {name}", [name], value) for name, value in plan.env.value.items())
    yield from _values_in_config("config", plan.config.value, [])


def _values_in_argv(word: str, argv: Sequence[str]) -> Iterator[NamedValue]:
    """`--output-dir X`, `--output-dir=X`, `trainer.output_dir=X`, and `X` alone."""
    flag = ""
    for part in argv:
        name, mark, value = part.partition("=")
        if mark and value:
            yield f"{word} {name}", name.lstrip("-+").split("."), value
        elif flag:
            yield f"{word} {flag}", flag.lstrip("-+").split("."), part
        elif not part.startswith("-"):
            yield word, [], part
        flag = part if part.startswith("-") and not mark else ""


def _relative(plan: Plan) -> dict[str, str]:
    """Folders of the command line that would be in the exported copy, which is deleted later.

    Used only if nothing else names the root: a trainer may append the folder to the root.
    """
    if plan.in_place.value or plan.cwd.value.startswith("/"):
        return {}
    arguments = (
        *_values_in_argv("argv", plan.argv.value),
        *_values_in_argv("resume_argv", plan.resume_argv.value),
    )
    return {
        where: value
        for where, keys, value in arguments
        if _is_output(keys)
        and A_FOLDER.fullmatch(_normalise_key(keys[-1]))
        and not _is_place(value)
        and not A_TEMPLATE.search(value)
        and not any(root.endswith(f"/{value.strip('./')}") for root in plan.roots)
    }


def _values_in_config(word: str, config: Any, keys: list[str]) -> Iterator[NamedValue]:
    if isinstance(config, Mapping):
        for key, value in config.items():
            yield from _values_in_config(word, value, [*keys, *str(key).split(".")])
    elif isinstance(config, (list, tuple)):
        for at, value in enumerate(config):
            yield from _values_in_config(word, value, [*keys, str(at)])
    elif isinstance(config, str) and keys:
        yield f"{word} {'.'.join(keys)}", keys, config


def _is_output(keys: Sequence[str]) -> bool:
    if not keys or any(OTHERWISE.fullmatch(word) for word in _words_in_keys(keys)):
        return False
    *parents, last = [_normalise_key(key) for key in keys]
    if NAMES.fullmatch(last):
        return True
    return bool(IN_A_TABLE.fullmatch(last)) and any(A_TABLE.fullmatch(key) for key in parents)


def _is_read(keys: Sequence[str]) -> bool:
    """Whether the keys say that the value is an input."""
    return not _is_output(keys) and any(
        OTHERWISE.fullmatch(word) or AN_INPUT.fullmatch(word) for word in _words_in_keys(keys)
    )


def _words_in_keys(keys: Sequence[str]) -> list[str]:
    return [word for key in keys for word in _normalise_key(key).split("_")]


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
