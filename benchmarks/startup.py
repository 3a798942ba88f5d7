"""What a command costs: compared with importing the command-line library, and with bare Python.

`status` and `babysit --once` are of a run that was launched and has ended.
"""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.scratch import open_tiny, repository
from benchmarks.timing import Row, cpu_seconds, in_turns, process
from herorun.operations.launch.launch import launch
from herorun.operations.record.init import initialise

ROUNDS = 20
FILES = 20


def rows(home: Path) -> Iterator[Row]:
    python, herorun = sys.executable, str(Path(sys.executable).with_name("herorun"))
    work = repository(home, FILES)
    initialise(open_tiny(work))
    answer = launch(open_tiny(work), babysit=False)
    assert answer.launched, answer.as_json()
    costs = in_turns(
        {
            "bare": process(python, "-c", "pass"),
            "click": process(python, "-c", "import click"),
            "import herorun": process(python, "-c", "import herorun"),
            "herorun --version": process(herorun, "--version"),
            "herorun --help": process(herorun, "--help"),
            "herorun explain dirty-tree": process(herorun, "explain", "dirty-tree"),
            "herorun explain --list": process(herorun, "explain", "--list"),
            "herorun status RUN": command_on_ended_run(work, "status", "tiny"),
            "herorun babysit RUN --once": command_on_ended_run(work, "babysit", "tiny", "--once"),
        },
        ROUNDS,
        cpu_seconds,
    )
    for name in (name for name in costs if name.startswith("herorun ")):
        yield Row(f"`{name}`", costs[name], "`python -c 'import click'`", costs["click"])
    yield Row(
        "`python -c 'import herorun'`", costs["import herorun"], "`python -c pass`", costs["bare"]
    )


def command_on_ended_run(work: Path, *words: str) -> Callable[[], None]:
    """A command on the run that ended, which is a finding: exit code 1, or 0 once it is told."""
    herorun = Path(sys.executable).with_name("herorun")
    return process("sh", "-c", f'"{herorun}" {" ".join(words)}; test $? -le 1', cwd=work)
