import pytest

from builders import a_contract, answer
from herorun.adapter_declarations import notified_by
from herorun.checks.launch.unnotified_hero import unnotified_hero
from herorun.core.finding import Outcome

GITHUB = {"kind": "github", "repo": "lab/runs"}


@pytest.mark.parametrize(
    ("changes", "outcome"),
    [
        ({"hero": True}, Outcome.FAIL),
        ({"flops": 1e22}, Outcome.FAIL),
        ({"hero": True, "notify": {"targets": ["PAGER"]}}, Outcome.PASS),
        ({"hero": True, "issue": GITHUB}, Outcome.PASS),
        ({"hero": True, "notify": {"kinds": ["terminal"]}}, Outcome.FAIL),
        ({}, Outcome.NOT_APPLICABLE),
    ],
)
def test_a_hero_run_must_reach_somebody(changes, outcome):
    contract = a_contract(**changes)
    assert answer(unnotified_hero, contract, notified_by(contract)).outcome is outcome
