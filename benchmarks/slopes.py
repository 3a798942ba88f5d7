"""How the cost grows with the work: CPU seconds at sizes that rise by four, and their slope where
they are largest, in a plot whose both axes are logarithmic. 1 is linear in the work that is new.

Seconds on the clock would tell of the machine's other work.
"""

import json
import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import redirect_stderr
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

from benchmarks import fleet, growth, ticking
from benchmarks.scratch import open_tiny, repository
from benchmarks.timing import Plot, Row, cpu_seconds, format_seconds
from herorun import adapters
from herorun.core.contract import contract_from
from herorun.core.evidence import FinalStep, History
from herorun.core.ports import Layout, Place
from herorun.operations.babysit.loop import tick_once
from herorun.operations.health.shared_polls import SharedPolls
from herorun.record import Pushed, maintenance
from herorun.sources.checkpoints import read_checkpoints
from herorun.sources.work_tree import read_work_tree
from herorun.store_router import RoutedStore

ROUNDS = 3
ROWS_OF_NAMES = 100  # rows that have many names each
Act = Callable[[], object]


@dataclass(frozen=True)
class Growth:
    """What grows, the sizes, and how the act of one size is set up in a folder of its own."""

    what: str
    sizes: tuple[int, ...]
    set_up: Callable[[Path, int], Act]


def rows(home: Path) -> Iterator[Row | Plot]:
    for growing in GROWING:
        seconds = {size: cpu(growing, home, size) for size in growing.sizes}
        least, most = min(seconds), max(seconds)
        yield Row(
            f"{most:,} {growing.what}: slope {slope(seconds):.2f}",
            seconds[most],
            f"{least:,}",
            seconds[least],
        )
        yield Plot(plot(growing.what, seconds))


def cpu(growing: Growth, home: Path, size: int) -> float:
    """The least of some rounds, with the processes that were started and ended in it."""
    folder = home / f"{growing.what.replace(' ', '-').replace(',', '')}-{size}"
    folder.mkdir()
    act = growing.set_up(folder, size)
    costs = []
    for _ in range(ROUNDS):
        before = cpu_seconds()
        with redirect_stderr(StringIO()):
            act()
        costs.append(cpu_seconds() - before)
    return min(costs)


def slope(seconds: Mapping[int, float]) -> float:
    """Between the two largest sizes, where what every size costs weighs least."""
    (small, less), (large, more) = sorted(seconds.items())[-2:]
    return math.log(more / less) / math.log(large / small)


def plot(what: str, seconds: Mapping[int, float]) -> str:
    """A bar for each size; each `#` is a factor of the square root of two. Bars of linear growth
    differ by four.
    """
    least = min(seconds.values())
    lines = [what]
    for size, costs in sorted(seconds.items()):
        bar = "#" * (1 + round(2 * math.log2(costs / least)))
        lines.append(f"{size:>10,} |{bar:<26} {format_seconds(costs)}")
    return "\n".join(lines)


def _rows(home: Path, size: int) -> Act:
    return ticking.acts(home / "rows", size)["cold"]


def _names(home: Path, size: int) -> Act:
    values = {f"metric/{number}": 0.5 for number in range(size)}
    with (home / "metrics.jsonl").open("w", encoding="utf-8") as file:
        for step in range(ROWS_OF_NAMES):
            file.write(
                json.dumps({"step": step, "train/loss": 2 + 1 / (step + 1), **values}) + "\n"
            )
    where = ticking.place(home, "state")

    def read() -> None:
        (Path(where.state) / "metrics.json").unlink(missing_ok=True)
        ticking.read(where)

    return read


def _checkpoints(home: Path, size: int) -> Act:
    for number in range(1, size + 1):
        folder = home / "run" / f"step-{number * 100}"
        folder.mkdir(parents=True)
        marker = {"step": number * 100, "timestamp": "2026-01-01T12:00:00", "is_temporary": False}
        (folder / "metadata.json").write_text(json.dumps(marker), encoding="utf-8")
    root = str(home / "run")
    place = Place("tiny", str(home / "state"), root, str(home))
    table = {"slug": "tiny", "command": {"argv": ["train"]}, "output": {"root": root}}
    contract = contract_from(table, "benchmarks")
    store = RoutedStore(place)
    layout: Layout = adapters.connect("stores.layouts", "levanter", {}, place)

    def read() -> None:
        checkpoints = read_checkpoints(contract, store, layout, History(), FinalStep(None))
        assert len(checkpoints.candidates) == size

    return read


def _files(home: Path, size: int) -> Act:
    run = open_tiny(repository(home, files=size))
    return lambda: read_work_tree(run.repository, run.contract)


def _lines(home: Path, size: int) -> Act:
    """Nothing is remembered of the record: as in a fresh clone."""
    record = growth.long(home / "record", size)
    snapshot = maintenance.memory_file(record.repository, record.slug)

    def read() -> None:
        snapshot.unlink(missing_ok=True)
        assert type(record).discover(record.repository, record.slug).memory()

    return read


def _runs(home: Path, size: int) -> Act:
    """A quiet tick of each, as `babysit --all --once` takes them."""
    work, slugs = fleet.a_fleet(home / "fleet", size)

    def tick() -> None:
        polls = SharedPolls().expect(slugs, work)
        for slug in slugs:
            tick_once(slug, work, polls, lambda *_: Pushed())

    with redirect_stderr(StringIO()):
        tick()  # which posts that they train
    return tick


GROWING = (
    Growth("rows of a log, read for the first time", (1000, 4000, 16_000, 64_000), _rows),
    Growth("metric names in each of 100 rows", (16, 64, 256, 1024), _names),
    Growth("checkpoints in a folder, listed", (50, 200, 800, 3200), _checkpoints),
    Growth("files in a work tree, compared", (500, 2000, 8000, 32_000), _files),
    Growth("runs, a tick of each", (2, 8, 32), _runs),
    Growth("lines of a record, read in a fresh clone", (250, 1000, 4000, 16_000), _lines),
)
