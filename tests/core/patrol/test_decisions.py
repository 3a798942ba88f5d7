"""The decision table, row by row, and what no combination may say."""

from itertools import product

import pytest

from herorun.core.patrol.advice import PatrolState
from herorun.core.patrol.decisions import DECISIONS, ChainFact, JobFact, Remedy, decision_of

COMBINATIONS = list(product(JobFact, (True, False, None), ChainFact))
R, D, U = PatrolState.RUNNING, PatrolState.DOWN, PatrolState.UNKNOWN
NOTHING, RESUME, CHAIN = Remedy.NOTHING, Remedy.RESUME, Remedy.CHAIN
ORDER = ("none", "waiting", "running", "failed", "gone", "unknown")
# job, whether the training is done; then one cell for each chain of `ORDER`
TABLE: dict[tuple[str, bool | None], tuple[tuple[PatrolState, Remedy], ...]] = {
    ("alive", True): ((R, NOTHING),) * 6,
    ("alive", False): ((R, NOTHING),) * 6,
    ("alive", None): ((R, NOTHING),) * 6,
    ("ended", True): ((D, Remedy.FINISH), *[(R, NOTHING)] * 2, *[(D, CHAIN)] * 2, (U, NOTHING)),
    ("ended", False): ((D, Remedy.LOOK),) * 6,
    ("ended", None): ((U, NOTHING),) * 6,
    ("gone", True): ((D, Remedy.FINISH), *[(R, NOTHING)] * 2, *[(D, CHAIN)] * 2, (U, NOTHING)),
    ("gone", False): ((D, RESUME),) * 6,
    ("gone", None): ((U, NOTHING),) * 6,
    ("unknown", True): ((U, NOTHING), *[(R, NOTHING)] * 2, *[(D, CHAIN)] * 2, (U, NOTHING)),
    ("unknown", False): ((U, NOTHING),) * 6,
    ("unknown", None): ((U, NOTHING),) * 6,
}


@pytest.mark.parametrize(("job", "trained", "chain"), COMBINATIONS)
def test_each_combination(job: JobFact, trained: bool | None, chain: ChainFact) -> None:
    row = decision_of(job, trained, chain)
    assert (row.state, row.remedy) == TABLE[job.value, trained][ORDER.index(chain)]


@pytest.mark.parametrize(("job", "trained", "chain"), COMBINATIONS)
def test_nothing_is_trained_again_that_is_done_or_may_live(
    job: JobFact, trained: bool | None, chain: ChainFact
) -> None:
    row = decision_of(job, trained, chain)
    if row.remedy is Remedy.RESUME:
        assert job is JobFact.GONE and trained is False
    if row.state is PatrolState.RUNNING:
        assert job is JobFact.ALIVE or (trained and chain in (ChainFact.WAITING, ChainFact.RUNNING))


def test_every_row_is_reached() -> None:
    assert {DECISIONS.index(decision_of(*each)) for each in COMBINATIONS} == set(
        range(len(DECISIONS))
    )
