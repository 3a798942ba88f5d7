"""What a tick pays for the metrics: 10 new rows after 10^3 to 10^5, warm and cold; compared with
reading the whole file.
"""

import json
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

from benchmarks.timing import Row, cpu_seconds, in_turns
from herorun.core.contract import Contract, contract_from
from herorun.core.evidence import History, Metrics, Now
from herorun.core.ports import Place
from herorun.sources.metrics import keep_metrics, read_metrics
from herorun.system.clock import now
from herorun.trackers import jsonl

ROUNDS = 7
SIZES = (1_000, 10_000, 100_000)
NEW = 10  # rows between two ticks


def rows(home: Path) -> Iterator[Row]:
    for size in SIZES:
        costs = in_turns(acts(home / str(size), size), ROUNDS, cpu_seconds)
        for how, words in (("warm", "with the state of the last tick"), ("cold", "without it")):
            yield Row(
                f"metrics of a tick, {size:,} rows, {words}",
                costs[how],
                "parse the file with `json`",
                costs["whole"],
            )


def acts(home: Path, size: int) -> dict[str, Callable[[], object]]:
    """`warm` goes on from the state of the last tick, `cold` folds every row again."""
    home.mkdir()
    metrics, numbers = home / "metrics.jsonl", count()
    log(metrics, numbers, size)
    warm, cold = place(home, "warm"), place(home, "cold")
    read(warm)

    def tick_warm() -> None:
        log(metrics, numbers, NEW)
        read(warm)

    def tick_cold() -> None:
        (Path(cold.state) / "metrics.json").unlink(missing_ok=True)
        read(cold)

    return {"warm": tick_warm, "cold": tick_cold, "whole": lambda: parse(metrics)}


def place(home: Path, name: str) -> Place:
    return Place("tiny", str(home / name), str(home), str(home))


def read(where: Place) -> None:
    tracker = jsonl.connect(jsonl.Options.model_validate({}), where)
    metrics = read_metrics(tracker, contract(where.output_root), where, Now(now()), History())
    assert isinstance(metrics, Metrics)
    keep_metrics(where, metrics)


def contract(root: str) -> Contract:
    table = {"slug": "tiny", "command": {"argv": ["python"]}, "output": {"root": root}}
    return contract_from(table, "runs/tiny.toml")


def log(path: Path, numbers: Iterator[int], rows: int) -> None:
    with path.open("a", encoding="utf-8") as file:
        for _ in range(rows):
            step = next(numbers)
            row = {
                "step": step,
                "train/loss": 2 + 1 / (step + 1),
                "grad_norm": 0.5,
                "throughput": 1e5,
            }
            file.write(json.dumps(row) + "\n")


def parse(path: Path) -> None:
    with path.open(encoding="utf-8") as file:
        assert max(json.loads(line)["step"] for line in file) > 0
