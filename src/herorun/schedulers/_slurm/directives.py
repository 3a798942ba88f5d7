"""The `#SBATCH` lines of a script that the command runs. Slurm reads them only of the script that
is submitted, which is herorun's own: they become keys of `[scheduler]`. Pure.
"""

import shlex
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, pairwise
from typing import TypeAlias

from herorun.core.durations import format_duration
from herorun.core.evidence import Directive
from herorun.core.lazy_regex import lazy_regex
from herorun.core.ports import Submission
from herorun.core.shell_words import shell_commands
from herorun.schedulers._slurm.options import TYPED_FLAGS, Options, check_argument, parse_time
from herorun.schedulers._slurm.parse import Tag
from herorun.schedulers._slurm.submit import RemotePaths, sbatch_argv

Value: TypeAlias = str | int | list[str]

_MARK = "#SBATCH"
_OPTION = lazy_regex(r"--[a-z]|-[A-Za-z]")
_COMPONENT = lazy_regex(r"\s*(?:het|pack)job\s*")  # begins the next part of a job of several
_SHELL_TEXT = lazy_regex(r"-[a-z]*c")  # the option before it, such as -lc
_SUBMISSION = lazy_regex(r"\s*(?:(?:exec|env|\w+=\S*)\s+)*(?:\S*/)?sbatch(?!\S)")
# --output is for both, restarts are herorun's, and the rest only changes what sbatch prints.
_ALSO_SET = frozenset({"error", "requeue", "no-requeue", "quiet", "verbose", "wait"})
_SHORT = {
    "A": "account",
    "B": "extra-node-info",
    "C": "constraint",
    "D": "chdir",
    "F": "nodefile",
    "G": "gpus",
    "H": "hold",
    "J": "job-name",
    "L": "licenses",
    "M": "clusters",
    "N": "nodes",
    "O": "overcommit",
    "Q": "quiet",
    "S": "core-spec",
    "W": "wait",
    "a": "array",
    "b": "begin",
    "c": "cpus-per-task",
    "d": "dependency",
    "e": "error",
    "i": "input",
    "k": "no-kill",
    "m": "distribution",
    "n": "ntasks",
    "o": "output",
    "p": "partition",
    "q": "qos",
    "s": "oversubscribe",
    "t": "time",
    "v": "verbose",
    "w": "nodelist",
    "x": "exclude",
}


def unstated_directives(
    argv: Sequence[str], script: str, options: Options
) -> tuple[Directive, ...] | None:
    """The options of a script's `#SBATCH` lines that the request does not state; None if `argv`
    calls sbatch itself, which may read them.

    >>> script = "#!/bin/sh\\n#SBATCH -p big -N 64 # all\\ntrue\\n#SBATCH -H\\n"
    >>> unstated_directives(["sh", "t.sh"], script, Options(partition="big"))
    (Directive(line=2, text='-N 64'),)
    """
    if any(map(_SUBMISSION.match, _commands_in(argv))):
        return None
    own_names = _stated_names(options)
    return tuple(
        Directive(number, " ".join(option))
        for number, line in _directive_lines(script)
        for option in _split_options(line)
        if _name_of(option[0]) not in own_names
    )


def scheduler_table(script: str) -> dict[str, Value] | None:
    """What the script's `#SBATCH` lines say, as keys of `[scheduler]`; None without such lines.
    What herorun sets itself, and what no key can say, is left out; of a heterogeneous job, all.

    >>> scheduler_table("#!/bin/sh\\n#SBATCH -N 2 -t 1-12 --exclusive\\n#SBATCH -J name\\ntrue\\n")
    {'nodes': 2, 'time_limit': '36h', 'arguments': ['--exclusive']}
    """
    table: dict[str, Value] = {}
    arguments: list[str] = []
    lines = [line for _, line in _directive_lines(script)]
    if not lines:
        return None
    if any(map(_COMPONENT.fullmatch, lines)):
        return {}
    options = [each for each in chain(*map(_split_options, lines)) if _OPTION.match(each[0])]
    for option in options:
        name, value = _name_of(option[0]), _value_of(option)
        if key := TYPED_FLAGS.get(name):
            table |= _setting(key, value)
        else:
            arguments += _argument(name, value)
    return {**table, "arguments": arguments} if arguments else table


def _setting(key: str, value: str) -> dict[str, Value]:
    """Nothing for what the key cannot say, such as a range of nodes."""
    try:
        setting: Value = value
        if key == "nodes":
            setting = int(value)
        elif key == "time_limit":
            setting = format_duration(parse_time(value))
        Options.model_validate({key: setting})
    except (ValueError, OverflowError):
        return {}
    return {key: setting}


def _argument(name: str, value: str) -> list[str]:
    argument = f"--{name}={value}" if value else f"--{name}"
    try:
        return [] if name in _ALSO_SET else [check_argument(argument)]
    except ValueError:
        return []


def _commands_in(argv: Sequence[str]) -> Iterator[str]:
    """`argv`, and those of a shell's text in it."""
    yield " ".join(argv)
    for option, text in pairwise(argv):
        if _SHELL_TEXT.fullmatch(option):
            yield from map(" ".join, shell_commands(text))


def _stated_names(options: Options) -> frozenset[str]:
    """The options of sbatch that the request has with any submission."""
    submission, where = Submission("", (), "", {}, ()), RemotePaths("", "", "")
    request = sbatch_argv(submission, options, where, Tag("", "", 0))
    return _ALSO_SET.union(_name_of(word) for word in request[1:])


def _directive_lines(script: str) -> Iterator[tuple[int, str]]:
    """As Slurm finds them: until the first line that is neither blank nor a comment."""
    for number, line in enumerate(script.split("\n"), 1):
        if line.startswith(_MARK):
            yield number, line.removeprefix(_MARK)
        elif line.strip() and not line.lstrip().startswith("#"):
            return


def _split_options(line: str) -> Iterable[list[str]]:
    """Each option with its value."""
    try:
        words = shlex.split(line, comments=True)
    except ValueError:  # an open quotation
        words = line.split()
    options: list[list[str]] = []
    for word in words:
        if _OPTION.match(word) or not options:
            options.append([word])
        else:
            options[-1].append(word)
    return options


def _name_of(option: str) -> str:
    """The long name.

    >>> _name_of("--nodes=64"), _name_of("-N64")
    ('nodes', 'nodes')
    """
    if option.startswith("--"):
        return option.removeprefix("--").partition("=")[0]
    return _SHORT.get(option[1], option) if _OPTION.match(option) else option


def _value_of(option: Sequence[str]) -> str:
    """Its value: after `=`, joined to a short option, or the next word.

    >>> [_value_of(option) for option in (["--nodes=64"], ["-N64"], ["-N", "64"], ["-H"])]
    ['64', '64', '64', '']
    """
    first, *rest = option
    value = first.partition("=")[2] if first.startswith("--") else first[2:].removeprefix("=")
    return " ".join([value, *rest]).strip()
