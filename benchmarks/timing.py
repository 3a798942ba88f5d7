"""Measure acts side by side: in turns, so that a busy moment of the machine meets all of them."""

import os
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage
from statistics import median
from time import perf_counter

# Where `make bench` puts what others wrote.
BESIDE = Path(__file__).parents[1] / ".venv-bench" / "bin" / "python"


@dataclass(frozen=True)
class Row:
    """One line of the table: what was measured against what."""

    what: str
    seconds: float
    alternative: str
    alternative_seconds: float

    @property
    def ratio(self) -> float:
        return self.seconds / self.alternative_seconds


@dataclass(frozen=True)
class LeftOut:
    """What could not be measured here, and why."""

    why: str


@dataclass(frozen=True)
class Plot:
    """A picture of text below the table."""

    text: str


def cpu_seconds() -> float:
    """Of this process and of those that it started and that have ended: what else the machine does
    is not in them.
    """
    both = getrusage(RUSAGE_SELF), getrusage(RUSAGE_CHILDREN)
    return sum(each.ru_utime + each.ru_stime for each in both)


def in_turns(
    acts: Mapping[str, Callable[[], object]],
    rounds: int,
    clock: Callable[[], float] = perf_counter,
) -> dict[str, float]:
    """The median seconds of each act over the rounds, after one round to warm up."""
    costs: dict[str, list[float]] = {name: [] for name in acts}
    for number in range(rounds + 1):
        for name, act in acts.items():
            began = clock()
            act()
            if number:
                costs[name].append(clock() - began)
    return {name: median(times) for name, times in costs.items()}


def process(
    *argv: str, cwd: Path | None = None, env: Mapping[str, str] | None = None
) -> Callable[[], None]:
    """Run a program to its end; a failure ends the benchmark, for its time would mean nothing."""

    def act() -> None:
        run(argv, cwd, env)

    return act


def run(argv: Sequence[str], cwd: Path | None = None, env: Mapping[str, str] | None = None) -> str:
    process = subprocess.run(
        argv,
        cwd=cwd,
        env={**os.environ, **(env or {})},
        capture_output=True,
        text=True,
        check=False,
    )
    if process.returncode:
        complaint = (process.stderr or process.stdout).strip()
        raise SystemExit(
            f"{' '.join(argv)} ended with exit code {process.returncode}: {complaint[-2000:]}"
        )
    return process.stdout


def format_seconds(seconds: float) -> str:
    """`31 ms`, `2.4 s`, in two figures."""
    value, unit = (seconds, "s") if seconds >= 1 else (seconds * 1000, "ms")
    return f"{float(f'{value:.2g}'):g} {unit}"
