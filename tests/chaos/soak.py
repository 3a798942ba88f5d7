"""A day of `babysit --all` in 24 minutes: whether its memory, its open files and the clone's `.git`
stay flat.

`PYTHONPATH=tests python -m chaos.soak`: two runs, a tick a second where a day has one a minute, and
a job that dies every simulated four hours. It prints one row a simulated hour, and ends with 1
where something grows.
"""

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from chaos.judging import journal
from chaos.world import World

TICKS_AN_HOUR = 60  # and a tick takes a second
WARM = 6  # hours until all that is kept on purpose is there
# of the hour it was warm: the arenas of Python's allocator waver by some percent
MAX_MEMORY_RATIO = 1.10
MAX_LOOSE = 2000  # objects in the clone: beyond that nobody packs them
HEADER = " hour  memory MB  open files  threads  .git MB  loose objects  ticks  journal kB"


@dataclass(frozen=True)
class Sample:
    """What one simulated hour ended with."""

    hour: int
    pid: int  # of the babysitter
    memory: float  # MB, resident
    files: int
    threads: int
    git: float  # MB on disk
    loose: int
    ticks: int
    journal: float  # kB

    def __str__(self) -> str:
        return (
            f"{self.hour:5}  {self.memory:9.1f}  {self.files:10}  {self.threads:7}  {self.git:7.2f}"
            f"  {self.loose:13}  {self.ticks:5}  {self.journal:10.0f}"
        )


def sample(world: World, hour: int, files: int) -> Sample:
    pid = world.sitter.pid if world.sitter else 0
    status = dict(
        line.split(":\t", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines()
    )
    events = [event for slug in world.slugs for event in journal(world, slug)]
    loose = sum(
        len(os.listdir(path)) for path in (world.work / ".git/objects").glob("[0-9a-f][0-9a-f]")
    )
    return Sample(
        hour=hour,
        pid=pid,
        memory=int(status["VmRSS"].split()[0]) / 1024,
        files=files,
        threads=int(status["Threads"]),
        git=size(world.work / ".git") / 1e6,
        loose=loose,
        ticks=sum(kind == "Observed" for kind, _ in events),
        journal=sum(len(str(event)) for _, event in events) / 1e3,
    )


def fewest_files(world: World, until: float) -> int:
    """Those that stay open for the time until then: a call under way has pipes of its own."""
    counts = []
    while time.monotonic() < until:
        with suppress(OSError, AttributeError):  # it is being started again
            counts.append(len(os.listdir(f"/proc/{world.sitter.pid}/fd")))
        time.sleep(0.1)
    return min(counts, default=0)


def size(folder: Path) -> int:
    total = 0
    for path in folder.rglob("*"):
        with suppress(FileNotFoundError):  # packed meanwhile
            total += path.lstat().st_blocks * 512
    return total


def growth(samples: list[Sample]) -> list[str]:
    """What is not flat once it is warm: the last hours next to the first that are."""
    warm = [each for each in samples if each.hour >= min(WARM, samples[-1].hour // 2)]
    part = max(1, len(warm) // 3)

    def at(hours: list[Sample], value: Callable[[Sample], float]) -> float:
        return median(map(value, hours))

    slopes = (
        ["the babysitter ended, and was started again"]
        if len({each.pid for each in samples}) > 1
        else []
    )
    first, last = (at(hours, lambda each: each.memory) for hours in (warm[:part], warm[-part:]))
    if last > first * MAX_MEMORY_RATIO:
        slopes.append(f"memory grew from {first:.1f} to {last:.1f} MB")
    first, last = (at(hours, lambda each: each.files) for hours in (warm[:part], warm[-part:]))
    if last > first + 2:
        slopes.append(f"open files grew from {first:.0f} to {last:.0f}")
    if (most := max(each.loose for each in warm)) > MAX_LOOSE:
        slopes.append(f"{most} loose objects lay in the clone")
    first, last = (
        at(hours, lambda each: each.git / each.ticks) for hours in (warm[:part], warm[-part:])
    )
    if last > first * MAX_MEMORY_RATIO:
        slopes.append(f".git grew from {first * 1e3:.2f} to {last * 1e3:.2f} kB a tick")
    return slopes


def soak(world: World, hours: int) -> list[Sample]:
    """A sample at the end of each hour; a job dies every fourth."""
    world.begin()
    print(HEADER, flush=True)
    samples, began = [], time.monotonic()
    for hour in range(1, hours + 1):
        if hour % 4 == 0:
            world.kill_job(world.slugs[hour // 4 % len(world.slugs)])
        files = fewest_files(world, began + hour * TICKS_AN_HOUR)
        samples.append(sample(world, hour, files))
        print(samples[-1], flush=True)
    return samples


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--hours", type=int, default=24, help="simulated; each takes a minute")
    hours = parser.parse_args().hours
    with tempfile.TemporaryDirectory(prefix="herorun-soak-", ignore_cleanup_errors=True) as folder:
        world = World(Path(folder), ("r0", "r1"), step_time=0.25, saved_every=160)
        world.work.mkdir()
        try:
            slopes = growth(soak(world, hours))
        finally:
            world.close()
    print("\n".join(slopes) or "flat")
    return bool(slopes)


if __name__ == "__main__":
    sys.exit(main())
