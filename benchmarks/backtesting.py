"""A backtest of a million rows of five metrics, and the memory that it takes; compared with merely
parsing the file.

Ten times as many rows must not take more memory: the curve is read once, and the folds are of one
size.
"""

import csv
import math
import random
import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks.timing import Row, cpu_seconds, in_turns, run

ROWS = 1_000_000
ROUNDS = 1
# Not `ru_maxrss`: a process begins with that of the one that started it, here the benchmark's own.
PEAK = (
    "import sys; from benchmarks.measures import memory; from herorun.cli import run\n"
    "run(['backtest', sys.argv[1]])\n"
    "print(memory('VmHWM') >> 20)"
)


def rows(home: Path) -> Iterator[Row]:
    long, short = home / "long.csv", home / "short.csv"
    write(long, ROWS)
    write(short, ROWS // 10)
    memory = {path: peak(path) for path in (short, long)}
    costs = in_turns(
        {"ours": lambda: run_backtest(long), "parsed": lambda: parse_file(long)},
        ROUNDS,
        cpu_seconds,
    )
    yield Row(
        f"a backtest of {ROWS:,} rows of 5 metrics: {ROWS / costs['ours']:,.0f} rows a second of "
        f"CPU, {memory[long]} MB at most ({memory[short]} MB for a tenth of it)",
        costs["ours"],
        "parsing the file with csv and float",
        costs["parsed"],
    )


def write(path: Path, count: int) -> None:
    """A falling loss with noise, a spike every 100,000 rows, and the rest of what runs report."""
    lots = random.Random(7)
    with path.open("w", encoding="utf-8") as file:
        file.write("step,loss,grad_norm,lr,step_time_s,tokens_per_s\n")
        for step in range(count):
            spike = 1.8 if step % 100_000 > 99_950 else 1.0
            loss = spike * (1.8 + 4 * math.exp(-step / 50_000)) * math.exp(lots.gauss(0, 0.01))
            seconds = 18.5 * math.exp(lots.gauss(0, 0.02))
            norm = 0.3 * math.exp(lots.gauss(0, 0.1))
            file.write(
                f"{step},{loss:.6f},{norm:.5f},{3e-4:g},{seconds:.4f},{46.1e6 / seconds:.1f}\n"
            )


def run_backtest(path: Path) -> None:
    from herorun.operations.report.backtest import backtest

    (report,) = backtest([path], None).files
    assert (
        report[1] == ROWS
        and sum(alert.check == "loss-spike" for alert in report[2]) == ROWS // 100_000
    )


def parse_file(path: Path) -> None:
    with path.open(newline="", encoding="utf-8") as file:
        reader = csv.reader(file)
        next(reader)
        for cells in reader:
            [float(cell) for cell in cells]


def peak(path: Path) -> int:
    """The most memory of a process that backtests it, in MB."""
    return int(run([sys.executable, "-c", PEAK, str(path)], Path(__file__).parents[1]).split()[-1])
