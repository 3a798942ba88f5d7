"""The decision table, row by row, and what no combination may say."""

from itertools import product

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


def test_each_combination() -> None:
    rows = {each: decision_of(*each) for each in COMBINATIONS}
    decisions = {each: (row.state, row.remedy) for each, row in rows.items()}
    assert decisions == {
        (job, training, chain): TABLE[job.value, training][ORDER.index(chain)]
        for job, training, chain in COMBINATIONS
    }


def test_nothing_is_trained_again_that_is_done_or_may_live() -> None:
    for each in COMBINATIONS:
        (job, training, chain), row = each, decision_of(*each)
        if row.remedy is Remedy.RESUME:
            assert job is JobFact.GONE and training is False, each
        if row.state is PatrolState.RUNNING:
            going = chain in (ChainFact.WAITING, ChainFact.RUNNING)
            assert job is JobFact.ALIVE or (training and going), each


def test_every_row_is_reached() -> None:
    assert {DECISIONS.index(decision_of(*each)) for each in COMBINATIONS} == set(
        range(len(DECISIONS))
    )
