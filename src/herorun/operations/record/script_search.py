"""The training script and the config file of a repository, for a new contract to begin with."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from pathlib import Path, PurePosixPath
from typing import Any

from herorun.adapter_declarations import scheduler_of_script, script_suffixes
from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_regex import lazy_regex
from herorun.system.files import read_regular
from herorun.system.git import Repository

_SCRIPTS = (
    lazy_regex(r"(pre)?train\.py"),
    lazy_regex(r"(pre)?train\.sh"),
    lazy_regex(r".*(^|_)(pre)?train(_.*)?\.(py|sh)"),
    lazy_regex(r"(main|run|finetune|launch)\.(py|sh)"),
)
_CONFIGS = (
    lazy_regex(r"(config|train|training)\.(toml|ya?ml|json)"),
    lazy_regex(r".*(config|train).*\.(toml|ya?ml|json)"),
    lazy_regex(r"(.*/)?(configs?|conf)/.*\.(toml|ya?ml|json)"),
)
_NOT_OURS = lazy_regex(
    r"(^|/)(\.[^/]+|runs|tests?|docs?|node_modules|third_party|vendor)/|(^|/)test_"
)
_NO_CONFIGS = lazy_regex(r"(^|/)(\.|pyproject\.toml|package(-lock)?\.json|tsconfig|mkdocs|pytest)")
MAX_DEPTH = 4  # folders
MAX_BYTES = 4 << 20  # bytes of a script


@dataclass(frozen=True)
class CommandDraft:
    """The best first; empty where there is none."""

    scripts: tuple[str, ...] = ()
    configs: tuple[str, ...] = ()
    takes_config: bool = False  # the first script has an option --config
    scheduler: str = ""  # the kind that the first script is written for
    request: Mapping[str, Any] = field(default_factory=dict)  # what it says for [scheduler]

    @property
    def argv(self) -> list[str]:
        if not self.scripts:
            return []
        program = "python" if self.scripts[0].endswith(".py") else "bash"
        option = ["--config", self.configs[0]] if self.takes_config and self.configs else []
        return [program, self.scripts[0], *option]

    def lines(self) -> list[str]:
        """What was chosen, and what could not be found, for people."""
        lines = [
            _note_line("training script", "[command] argv", self.scripts, "set it"),
            _note_line(
                "config file", "[config] files", self.configs, "set it (`[]` if there is none)"
            ),
        ]
        if self.scheduler:
            keys = ", ".join(("kind", *self.request))
            lines.insert(1, f"took [scheduler] {keys} from {self.scripts[0]}: check them")
        return lines


def _note_line(what: str, key: str, paths: tuple[str, ...], advice: str) -> str:
    if not paths:
        return f"no file is named like a {what}, so {key} is an example: {advice}"
    others = f"; also there: {', '.join(paths[1:4])}" if len(paths) > 1 else ""
    return f"chose {paths[0]} as the {what} ({key}){others}"


def find_command(repository: Repository, slug: str) -> CommandDraft:
    """Among the files that git tracks or would track: what is ignored is no part of a launch."""
    paths_listed = repository.git(
        "ls-files", "-z", "--cached", "--others", "--exclude-standard"
    ).text.split("\0")
    paths = [path for path in dict.fromkeys(paths_listed) if path and not _NOT_OURS.search(path)]
    paths = [path for path in paths if _is_usable(repository.top / path)]
    scripts = rank_paths(paths, _script_patterns(script_suffixes()))
    of_this_run = re.compile(rf"(.*/)?(configs?|conf)/(.*/)?{re.escape(slug)}\.(toml|ya?ml|json)")
    configs = rank_paths(
        (path for path in paths if not _NO_CONFIGS.search(path)), (of_this_run, *_CONFIGS)
    )
    text = _text(repository, scripts[0]) if scripts else ""
    scheduler, request = scheduler_of_script(text)
    return CommandDraft(scripts, configs, "--config" in text, scheduler, request)


def _script_patterns(suffixes: Sequence[str]) -> tuple[re.Pattern[str], ...]:
    """A batch script comes before what it calls; one that is not named after training comes last.

    >>> names = ["eval.sbatch", "train.py", "train-7b.sbatch", "job.sbatch"]
    >>> rank_paths(names, _script_patterns([".sbatch"]))
    ('train-7b.sbatch', 'train.py', 'job.sbatch', 'eval.sbatch')
    """
    if not suffixes:
        return _SCRIPTS
    batch = f"({'|'.join(map(re.escape, suffixes))})"
    names = (r"(pre)?train", r".*(^|[_-])(pre)?train([_-].*)?", r"(main|run|job|submit)", r".*")
    first, second, third, last = (re.compile(name + batch) for name in names)
    return (first, second, *_SCRIPTS, third, last)


def _is_usable(path: Path) -> bool:
    """Not deleted, and with a name that a contract can hold."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        return False
    return path.is_file()


def rank_paths(paths: Iterable[str], patterns: tuple[re.Pattern[str], ...]) -> tuple[str, ...]:
    """Those whose name or path a pattern fits: the plainest first, then the least deep.

    >>> rank_paths(["lib/train.py", "train.py", "train_moe.py", "setup.py"], _SCRIPTS)
    ('train.py', 'lib/train.py', 'train_moe.py')
    """
    places = []
    for path in paths:
        name, depth = PurePosixPath(path).name, path.count("/")
        rank = next(
            (
                at
                for at, each in enumerate(patterns)
                if each.fullmatch(name) or each.fullmatch(path)
            ),
            None,
        )
        if rank is not None and depth < MAX_DEPTH:
            places.append((rank, depth, path))
    return tuple(path for _, _, path in sorted(places))


def _text(repository: Repository, path: str) -> str:
    try:
        return read_regular(repository.top / path, MAX_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""
