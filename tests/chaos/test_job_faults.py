"""Everything that goes wrong inside a job, once each, on three runs side by side."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from chaos.faults import Fault, inject
from chaos.figures import figures
from chaos.job_faults import OF_A_JOB, WARM, await_step
from chaos.judging import await_relaunches, newest_lines, violations
from chaos.world import World

SLUGS = ("r0", "r1", "r2")


def _happen(world: World, number: int) -> list[Fault]:
    """Every third fault, on this run."""
    await_step(world, SLUGS[number], WARM)
    return [inject(world, SLUGS[number], act) for act in OF_A_JOB[number :: len(SLUGS)]]


@pytest.mark.thorough
def test_every_fault_of_a_job_is_reported_once_and_overcome(home: Path) -> None:
    world = World(home, SLUGS, impatient=True)
    world.work.mkdir()
    try:
        world.begin()
        with ThreadPoolExecutor() as pool:
            orders = pool.map(lambda number: _happen(world, number), range(len(SLUGS)))
            faults = [fault for each in orders for fault in each]
        await_relaunches(world, faults)
        world.end_watch()
        assert {fault.name for fault in faults} == {act.__name__ for act in OF_A_JOB}
        measures = figures(world, faults)
        wrong = (
            violations(world, faults) + measures.missed_faults + measures.repeats + measures.false
        )
        assert not wrong, "\n".join([*wrong, "", *map(str, faults), "", *newest_lines(world)])
    finally:
        world.close()
