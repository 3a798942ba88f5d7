"""A whole tick, as `babysit --once` makes it, of runs that have logged 10^4 to 10^6 steps (10^5 by
the trackers that take minutes to write more), each with 100 new rows; and after 10 and 10^4 earlier
ticks. Each is compared with the shortest of its kind: where the cost grew, the ratio would.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from statistics import median
from time import perf_counter

from benchmarks import logged
from benchmarks.measures import bytes_read, memory, reset_peak
from benchmarks.reporting import measure_report
from benchmarks.scratch import repository
from benchmarks.timing import LeftOut, Row, run
from herorun import __version__
from herorun.core.canonical_json import digest
from herorun.core.errors import WrongUse
from herorun.core.event import Decided, Event, Initialised, Observed
from herorun.core.evidence import History, Metrics, Now
from herorun.operations.babysit.loop import tick_once
from herorun.operations.launch.launch import launch
from herorun.operations.record.init import initialise
from herorun.runs import Run, open_run
from herorun.sources.metrics import COLUMNS, keep_metrics, read_metrics
from herorun.system.clock import now
from herorun.system.metrics_cache import read_fetched

ROUNDS = 5
SIZES, MAX_ROWS = (10_000, 100_000), 1_000_000  # the most of the tracker that is quickly written
TICKS = (10, 10_000)
CADENCE = timedelta(seconds=570)
NEW = 100  # rows between two ticks
TRACKERS: dict[str, tuple[logged.Log, str]] = {
    "jsonl": (logged.jsonl, ""),
    "wandb_offline": (logged.wandb_offline, 'path = "."\nid = "long"'),
    "trackio": (logged.trackio, 'path = "long.db"\nname = "long"'),
    "tensorboard": (logged.tensorboard, 'path = "."'),
}
CONTRACT = """\
slug = "{slug}"
goal = "be measured"
dri = "@dri"
stop_when = "the loss rises"
final_step = 100000000

[command]
argv = ["sleep", "3600"]

[output]
root = "{data}/{slug}"

[tracker]
kind = "{kind}"
{told}

[issue]
kind = "local"

[babysit]
recovery = "observe"
"""


@dataclass
class Cost:
    seconds: float
    volume: int  # bytes, by this process
    memory: int  # bytes, the most at once beyond what it began with


@dataclass
class Long:
    """One run under way; `log` adds rows to it."""

    work: Path
    slug: str
    log: logged.Log
    step: int = 0

    @property
    def run(self) -> Run:
        return open_run(self.slug, self.work)

    def grow(self, rows: int) -> None:
        root = Path(self.run.contract.output.root)
        self.log(root, self.step, rows)
        self.step += rows

    def tick(self) -> Cost:
        """With 100 new rows, all of which it must have seen."""
        self.grow(NEW)
        reset_peak()
        resident, volume, began = memory("VmRSS"), bytes_read(), perf_counter()
        _, turn = tick_once(self.slug, self.work)
        seconds, volume = perf_counter() - began, bytes_read() - volume
        metrics = turn.evidence[Metrics]
        assert isinstance(metrics, Metrics) and metrics.rows == self.step, (self.slug, metrics)
        assert not turn.doubts, turn.doubts
        return Cost(seconds, volume, max(0, memory("VmHWM") - resident))


def rows(home: Path) -> Iterator[Row | LeftOut]:
    for part, measure in {"steps": by_steps, "ticks": by_ticks}.items():
        (home / part).mkdir()
        yield from measure(home / part)


def by_steps(home: Path) -> Iterator[Row | LeftOut]:
    sizes = {kind: (*SIZES, MAX_ROWS) if kind == "jsonl" else SIZES for kind in TRACKERS}
    runs = {
        (kind, size): f"{kind.replace('_', '-')}-{size}"
        for kind in TRACKERS
        for size in sizes[kind]
    }
    work = sign_repository(home, {slug: kind for (kind, _), slug in runs.items()})
    for kind, (log, _) in TRACKERS.items():
        with stopping(work, [runs[kind, size] for size in sizes[kind]]):
            under = {
                size: start_run(Long(work, runs[kind, size], log), size) for size in sizes[kind]
            }
            yield from compare_sizes(under, f"`{kind}`, {{:,}} steps logged")
            if MAX_ROWS in under:
                rows_file = Path(under[MAX_ROWS].run.contract.output.root) / "metrics.jsonl"
                yield from measure_report(home, work, under[MAX_ROWS].slug, rows_file, MAX_ROWS)


def by_ticks(home: Path) -> Iterator[Row]:
    runs = {ticks: f"after-{ticks}" for ticks in TICKS}
    work = sign_repository(home, dict.fromkeys(runs.values(), "jsonl"))
    with stopping(work, runs.values()):
        under = {
            ticks: start_run(Long(work, slug, logged.jsonl), 1000, ticks)
            for ticks, slug in runs.items()
        }
        yield from compare_sizes(under, "`jsonl`, after {:,} earlier ticks")


@contextmanager
def stopping(work: Path, slugs: Iterable[str]) -> Iterator[None]:
    """Whatever happens, no job of theirs stays."""
    try:
        yield
    finally:
        for slug in slugs:
            with suppress(WrongUse):  # it was not launched
                open_run(slug, work).scheduler.stop(f"{slug}-1", "the benchmark")


def sign_repository(home: Path, kinds: dict[str, str]) -> Path:
    """A repository with a contract for each slug, by its kind of tracker."""
    work = repository(home, files=10)
    for slug, kind in kinds.items():
        text = CONTRACT.format(slug=slug, data=home / "data", kind=kind, told=TRACKERS[kind][1])
        (work / "runs" / f"{slug}.toml").write_text(text, encoding="utf-8")
        (home / "data" / slug).mkdir(parents=True)
    run(["git", "add", "--all"], work)
    run(["git", "commit", "--quiet", "--message", "contracts"], work)
    run(["git", "push", "--quiet"], work)
    return work


def start_run(long: Long, size: int, ticks: int = 0) -> Long:
    """Launched, with so many rows that an earlier tick has seen, and so many earlier ticks in its
    journal.
    """
    run = long.run
    if ticks:
        remember(run, ticks)
    initialise(run)
    answer = launch(long.run, babysit=False)
    assert answer.launched, answer.as_json()
    long.grow(size)
    under = long.run
    while (columns := read_fetched(under.state / COLUMNS)) is None or columns.rows < size:
        metrics = read_metrics(under.tracker, under.contract, under.place, Now(now()), History())
        assert isinstance(metrics, Metrics), metrics
        keep_metrics(under.place, metrics)
    for _ in range(2):
        long.tick()
    return long


def remember(under: Run, ticks: int) -> None:
    """The journal of a run that was watched for so long, a day at a time."""
    under.prepare()
    at = now() - ticks * CADENCE
    issue = "issue.md"
    under.record.append(Initialised(at, under.slug, {"DRI": "@dri"}, issue))
    day: list[Event] = []
    for number in range(ticks):
        at += CADENCE
        digests = {f"Evidence{name}": digest([name, number]) for name in range(30)}
        day += [
            Observed(at=at, version=__version__, rules=digest("rules"), evidence=digests),
            Decided(at=at, run="healthy", monitor="fresh", progress=f"~{number}/100000000"),
        ]
        if len(day) == 300:
            under.record.append(*day)
            day = []
    if day:
        under.record.append(*day)


def compare_sizes(runs: dict[int, Long], words: str) -> Iterator[Row]:
    """All of them in turns."""
    costs: dict[int, list[Cost]] = {size: [] for size in runs}
    for _ in range(ROUNDS):
        for size, long in runs.items():
            costs[size].append(long.tick())
    least = min(runs)
    for size, ticks in costs.items():
        volume, most = median(cost.volume for cost in ticks), median(cost.memory for cost in ticks)
        yield Row(
            f"a tick, {words.format(size)}: {volume / 1e6:.1f} MB read, {most / 1e6:.0f} MB more "
            "memory",
            median(cost.seconds for cost in ticks),
            words.format(least),
            median(cost.seconds for cost in costs[least]),
        )
