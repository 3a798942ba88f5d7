"""What a quiet tick adds to the user's `.git`, packed now and then as it is, compared with never
packed; and what an entry adds to a long logbook, compared with a short one.

Alone: `python -m benchmarks.growth`.
"""

import tempfile
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from statistics import mean, median
from time import perf_counter
from unittest.mock import patch

from benchmarks.recording import a_note
from benchmarks.scratch import open_tiny, repository
from benchmarks.timing import Row, format_seconds, run
from herorun.core.canonical_json import digest
from herorun.core.event import Decided, Observed
from herorun.operations.record.init import initialise
from herorun.record import Record, maintenance
from herorun.system.clock import now

TICKS = 300  # two days
CADENCE = timedelta(seconds=570)
YEAR = timedelta(days=365) / CADENCE
# digests of evidence that stay, and that are new with each tick: as in a real run
STEADY, MOVING = 26, 7
NEVER = 10**9
LENGTHS = (10, 1000, 10_000)  # entries
STRETCH = (
    # entries after these, so that a page of the logbook and a file of the journal fill up and begin
    # anew
    250
)


def rows(home: Path) -> Iterator[Row]:
    yield from by_ticks(home)
    yield from by_entries(home)


def by_entries(home: Path) -> Iterator[Row]:
    """The mean of a stretch, in turns: what an entry costs rises until its page and its segment are
    full.
    """
    records = {length: long(home / str(length), length) for length in LENGTHS}
    sizes = {length: size_of(objects_of(record)) for length, record in records.items()}
    times: dict[int, list[float]] = {length: [] for length in LENGTHS}
    for number in range(STRETCH):
        for length, record in records.items():
            began = perf_counter()
            record.append(a_note(length + number))
            times[length].append(perf_counter() - began)
    least = min(LENGTHS)
    for length, record in records.items():
        packed_record(record)
        size = size_of(objects_of(record)) - sizes[length]
        yield Row(
            f"an entry after {length:,} others: {size / STRETCH / 1e3:.1f} kB in `.git`",
            mean(times[length]),
            f"after {least:,} others",
            mean(times[least]),
        )


def long(home: Path, length: int) -> Record:
    """A packed record of so many entries."""
    home.mkdir()
    under = open_tiny(repository(home, files=10))
    initialise(under)
    under.record.append(*(a_note(number) for number in range(length)))
    return packed_record(under.record)


def packed_record(record: Record) -> Record:
    with patch.object(maintenance, "PACK", 1):
        record.pack_refs()
    return record


def objects_of(record: Record) -> Path:
    return record.repository.common / "objects"


def by_ticks(home: Path) -> Iterator[Row]:
    sizes, size, kinds = measure_ticks(home / "packed", maintenance.PACK)
    loose_taken, loose, _ = measure_ticks(home / "loose", NEVER)
    summary = ", ".join(
        f"{kinds[kind] / TICKS:.0f} bytes of {kind}s" for kind in ("blob", "tree", "commit")
    )
    yield Row(
        f"a quiet tick recorded: {size / TICKS / 1e3:.1f} kB in `.git` ({summary}, the rest "
        f"indexes and loose objects); "
        f"{size / TICKS * YEAR / 1e6:.0f} MB a year",
        sizes,
        f"never packed: {loose / TICKS / 1e3:.0f} kB; {loose / TICKS * YEAR / 1e6:,.0f} MB a year",
        loose_taken,
    )


def measure_ticks(home: Path, every: int) -> tuple[float, int, dict[str, int]]:
    """Seconds of a tick's commit and push, bytes of objects for all, and those in packs by kind."""
    home.mkdir()
    work = repository(home, files=10)
    under = open_tiny(work)
    initialise(under)
    objects = work / ".git" / "objects"
    before, times = size_of(objects), list[float]()
    with patch.object(maintenance, "PACK", every):
        tick = ticking(under.record)
        for number in range(TICKS):
            began = perf_counter()
            tick(number)
            times.append(perf_counter() - began)
    if every != NEVER:
        packed_record(under.record)  # the newest, of which a year has as few
    return median(times), size_of(objects) - before, kinds_of(objects / "pack", work)


def ticking(record: Record) -> Callable[[int], None]:
    start = now()

    def tick(number: int) -> None:
        at = start + number * CADENCE
        digests = {f"Steady{each}": digest([each]) for each in range(STEADY)}
        digests |= {f"Moving{each}": digest([each, number]) for each in range(MOVING)}
        after = digest(["after", number])[7:23]
        record.append(
            Observed(
                at=at,
                version="0.1.0",
                rules=digest("rules"),
                evidence=digests,
                gaps=(),
                after=after,
                lines=2 * number,
            ),
            Decided(at=at, run="healthy", monitor="fresh", progress=f"~{number}/100000000"),
        )
        assert record.push()

    return tick


def size_of(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def kinds_of(folder: Path, work: Path) -> dict[str, int]:
    """Bytes in packs by kind of object, as `git verify-pack` counts them."""
    sizes = dict.fromkeys(("blob", "tree", "commit"), 0)
    for index in folder.glob("*.idx"):
        for line in run(["git", "verify-pack", "-v", str(index)], work).splitlines():
            words = line.split()
            if len(words) > 3 and words[1] in sizes:
                sizes[words[1]] += int(words[3])
    return sizes


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="herorun-bench-") as home:
        for row in rows(Path(home)):
            print(
                f"{row.what:<90} {format_seconds(row.seconds):>8}  "
                f"{row.ratio:6.2f} x {row.alternative}",
                flush=True,
            )


if __name__ == "__main__":
    main()
