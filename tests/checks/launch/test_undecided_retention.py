import pytest

from builders import a_contract, answer
from herorun.checks.launch.undecided_retention import undecided_retention
from herorun.core.contract import Contract
from herorun.core.evidence import Unavailable
from herorun.core.finding import Outcome
from wording import mentions

UNDECIDED_RETENTION = {"permanent_every": None, "temporary_every": None, "keep": None}


def test_a_hero_run_that_states_all_three_passes():
    verdict = answer(undecided_retention, a_contract(flops=1e23))

    assert verdict.outcome is Outcome.PASS
    assert mentions(verdict.message, "100 steps", "15m", "10")


@pytest.mark.parametrize("missing", UNDECIDED_RETENTION)
def test_a_hero_run_must_state_each(missing):
    verdict = answer(undecided_retention, a_contract(flops=1e23, checkpoints={missing: None}))

    assert verdict.outcome is Outcome.FAIL
    assert f"must state {missing} in" in verdict.message


def test_the_suggestion_is_printed():
    verdict = answer(undecided_retention, a_contract(hero=True, checkpoints=UNDECIDED_RETENTION))

    assert 'permanent_every = 100000, temporary_every = "15m", keep = 10' in verdict.message


@pytest.mark.parametrize(
    ("size", "outcome"),
    [
        ({"flops": 1e22}, Outcome.FAIL),
        ({"flops": 9.9e21}, Outcome.NOT_APPLICABLE),
        ({"params": 1e11, "tokens": 2e10}, Outcome.FAIL),  # 6ND = 1.2e22
        ({"params": 1e11, "tokens": 1e10}, Outcome.NOT_APPLICABLE),
        ({"flops": 1e23, "hero": False}, Outcome.NOT_APPLICABLE),
        ({"flops": 1e18, "hero": True}, Outcome.FAIL),
        ({}, Outcome.NOT_APPLICABLE),
    ],
)
def test_what_counts_as_a_hero_run(size, outcome):
    assert (
        answer(undecided_retention, a_contract(checkpoints=UNDECIDED_RETENTION, **size)).outcome
        is outcome
    )


def test_an_ordinary_run_is_told_its_default():
    assert (
        "newest temporary"
        in answer(undecided_retention, a_contract(checkpoints=UNDECIDED_RETENTION)).message
    )


def test_an_unread_contract_is_unknown():
    assert answer(undecided_retention, {Contract: Unavailable("gone")}).outcome is Outcome.UNKNOWN
