"""`make bench`: measure against what people would use instead, print the table, and write
docs/benchmarks.md.

A few of its parts alone, which writes nothing: `python -m benchmarks fleet triage`. With `--write`
they replace theirs on the page, and name the machine if it is another one.
"""

import os
import platform
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from time import perf_counter
from typing import TypeAlias

from benchmarks import (
    backtesting,
    checking_in,
    finding,
    fleet,
    git_calls,
    growth,
    kubernetes_clients,
    long_runs,
    preflighting,
    recording,
    sealing,
    sharding,
    slopes,
    startup,
    ticking,
    trackers,
    triage,
    work_tree,
)
from benchmarks.timing import LeftOut, Plot, Row, format_seconds

PAGE = Path(__file__).parents[1] / "docs" / "benchmarks.md"
Measure: TypeAlias = Callable[
    [Path], Iterator[Row] | Iterator[Row | LeftOut] | Iterator[Row | Plot]
]
PARTS: dict[str, Measure] = {
    "Start-up, in CPU seconds": startup.rows,
    "Check-in, inside the job": checking_in.rows,
    "The record": recording.rows,
    "What the record takes": growth.rows,
    "A tick, in CPU seconds": ticking.rows,
    "A long run": long_runs.rows,
    "Many runs, in CPU seconds": fleet.rows,
    "Many runs in several processes, in CPU seconds": sharding.rows,
    "Asking Kubernetes": kubernetes_clients.rows,
    "Preflight": preflighting.rows,
    "Calls of git": git_calls.rows,
    "Finding a checkpoint": finding.rows,
    "Sealing a checkpoint": sealing.rows,
    "A large work tree": work_tree.rows,
    "Reading a log, in CPU seconds": triage.rows,
    "Reading a tracker": trackers.rows,
    "A backtest, in CPU seconds": backtesting.rows,
    "How cost grows with work, in CPU seconds": slopes.rows,
}
INTRO = """\
# How fast it is

<!-- Written by `make bench`. -->

Every line is the median of several rounds, taken in turns with its alternative; the lines of one part are from one run.
Where a title does not say CPU seconds, the seconds are those of the clock.
Ratios can be compared between machines; milliseconds cannot.
The alternative is what people type instead, or a yardstick, such as the import of a common library; it does less: a preflight also makes the plan and looks at checkpoints, jobs and the record."""  # noqa: E501  # a text that is read as it stands


def main() -> None:
    names = set(sys.argv[1:]) - {"--write"}
    if strange := names - {name_of(measure) for measure in PARTS.values()}:
        raise SystemExit(f"There is no benchmark called {min(strange)}.")
    os.environ["HERORUN_TRUST"] = "all"  # the contracts are our own, and name programs of ours
    parts = {
        title: table(title, measure)
        for title, measure in PARTS.items()
        if not names or name_of(measure) in names
    }
    if not names:
        write_page(machine(), parts)
    elif "--write" in sys.argv:
        where, others = read_page()
        if where != machine():
            parts = {title: f"Measured on {machine()}.\n\n{text}" for title, text in parts.items()}
        write_page(where, {**others, **parts})


def read_page() -> tuple[str, dict[str, str]]:
    """The machine that it was measured on, and its parts by their titles."""
    intro, *sections = PAGE.read_text(encoding="utf-8").rstrip("\n").split("\n\n## ")
    where = intro.rpartition("\n\nMeasured on ")[2].removesuffix(".")
    return where, {title: text for title, _, text in (each.partition("\n\n") for each in sections)}


def write_page(where: str, parts: Mapping[str, str]) -> None:
    sections = [f"## {title}\n\n{parts[title]}" for title in PARTS if title in parts]
    text = "\n\n".join([INTRO, f"Measured on {where}.", *sections])
    PAGE.write_text(text + "\n", encoding="utf-8")
    print(f"\nwrote docs/{PAGE.name}")


def table(title: str, measure: Measure) -> str:
    print(f"\n{title}", flush=True)
    began = perf_counter()
    other = "smallest size" if name_of(measure) == "slopes" else "alternative"
    lines = [f"| what | takes | {other} | takes | ratio |", "| --- | --- | --- | --- | --- |"]
    missing, plots = [], []
    with tempfile.TemporaryDirectory(prefix="herorun-bench-") as home:
        for row in measure(Path(home)):
            if isinstance(row, LeftOut):
                print(f"  left out: {row.why}", flush=True)
                missing.append(f"\nLeft out: {row.why}.")
                continue
            if isinstance(row, Plot):
                print(row.text, flush=True)
                plots.append(row.text)
                continue
            print(
                f"  {row.what:<55} {format_seconds(row.seconds):>8}  "
                f"{row.ratio:6.2f} x {row.alternative}",
                flush=True,
            )
            lines.append(line(row))
    print(f"  ({perf_counter() - began:.0f} s)", flush=True)
    pictures = ["", "```text", "\n\n".join(plots), "```"] if plots else []
    return "\n".join(lines + missing + pictures)


def name_of(measure: Measure) -> str:
    return measure.__module__.rpartition(".")[2]


def line(row: Row) -> str:
    cells = (
        row.what,
        format_seconds(row.seconds),
        row.alternative,
        format_seconds(row.alternative_seconds),
        f"{row.ratio:.2f}",
    )
    return f"| {' | '.join(cells)} |"


def machine() -> str:
    """Cores, kind and Python; nothing that names it."""
    return (
        f"{os.cpu_count()} cores of {processor()}, {platform.system()}, Python "
        f"{platform.python_version()}"
    )


def processor() -> str:
    try:
        cpuinfo = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return platform.machine()
    names = [
        text.partition(":")[2].strip()
        for text in cpuinfo.splitlines()
        if text.startswith("model name")
    ]
    return names[0] if names else platform.machine()


if __name__ == "__main__":
    main()
