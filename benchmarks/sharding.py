"""Two thousand runs on one machine, a fifth of them in each of five processes, as with
`herorun babysit --all --shard K/5`; compared with a shell loop that asks for each of them.

Five thousand take longer than the ten minutes within which two cores have to begin with each, and
then ticks are rightly called late.
"""

import multiprocessing
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from benchmarks.fleet import BESIDE, a_fleet, looping, two_rounds
from benchmarks.measures import memory
from benchmarks.timing import Row, cpu_seconds, in_turns
from herorun.core.babysit.shard import Shard

RUNS, SHARDS = 2_000, 5


class Watched(NamedTuple):
    """What one process has done, and what it took."""

    ticks: int
    odd: tuple[str, ...]  # what was not as it should be, one text a tick
    seconds: float  # of CPU, its programs included
    memory: int  # bytes at most


def rows(home: Path) -> Iterator[Row]:
    work, slugs = a_fleet(home / "fleet", RUNS)
    with multiprocessing.get_context("spawn").Pool(SHARDS) as processes:
        shards = [Shard(number, SHARDS) for number in range(1, SHARDS + 1)]
        shares = [[slug for slug in slugs if shard.has(slug)] for shard in shards]
        results = processes.starmap(watch, [(home / "fleet", work, share) for share in shares])
    assert sum(each.ticks for each in results) == 2 * RUNS, results
    assert not any(each.odd for each in results), [each.odd[:1] for each in results]
    seconds = sum(each.seconds for each in results) / 2
    most = max(each.memory for each in results) / 1e6
    what = (
        f"a tick of each of {RUNS:,} runs in {SHARDS} processes: {RUNS / seconds:.0f} a second of "
        f"CPU, {most:.0f} MB at most in one"
    )
    loop = in_turns({"loop": looping(home / "fleet")}, 1, cpu_seconds)["loop"]
    yield Row(what, seconds, BESIDE, loop)


def watch(home: Path, work: Path, slugs: list[str]) -> Watched:
    began = cpu_seconds()
    ticks, _ = two_rounds(home, work, slugs)
    odd = tuple(text for text in ticks if text)
    return Watched(len(ticks), odd, cpu_seconds() - began, memory("VmHWM"))
