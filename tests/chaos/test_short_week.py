"""Two runs, a minute, and every fault that comes to them: the short form of a week, for each
change.

HERORUN_WEEK_SECONDS makes it longer, and HERORUN_WEEK_SEEDS names the orders of faults (`1,2,3`).
"""

import os
import threading
import time
from pathlib import Path

import pytest

from chaos.faults import OF_A_RUN, OF_THE_MACHINE, Fault, full_root, full_state, happen, small_disk
from chaos.judging import await_relaunches, newest_lines, violations
from chaos.world import World

SECONDS = float(os.environ.get("HERORUN_WEEK_SECONDS", "60"))
SEEDS = [int(seed) for seed in os.environ.get("HERORUN_WEEK_SEEDS", "1").split(",")]


@pytest.mark.thorough
@pytest.mark.filterwarnings(
    "error::pytest.PytestUnhandledThreadExceptionWarning"
)  # an order of faults that broke off
@pytest.mark.parametrize("seed", SEEDS)
def test_a_short_week(home: Path, seed: int) -> None:
    world, faults = World(home, ("r0", "r1")), list[Fault]()
    world.work.mkdir()
    world.state.mkdir()
    out = world.home / "out"
    out.mkdir()
    with small_disk(world.state) as may_fill, small_disk(out):
        try:
            world.begin()
            machine = (full_root, *OF_THE_MACHINE, full_state) if may_fill else OF_THE_MACHINE
            until = time.monotonic() + SECONDS
            threads = [
                threading.Thread(
                    target=lambda s=slug, m=may: faults.extend(happen(world, seed, s, until, m))
                )
                for slug, may in (("r0", OF_A_RUN), ("r1", OF_A_RUN), ("", machine))
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            await_relaunches(world, faults)
            world.end_watch()
            assert len(faults) >= 6
            wrong = violations(world, faults)
            assert not wrong, "\n".join([*wrong, "", *map(str, faults), "", *newest_lines(world)])
        finally:
            world.close()
