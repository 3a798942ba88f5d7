import pytest

from builders import a_contract, answer
from herorun.checks.launch.missing_goal import missing_goal
from herorun.core.finding import Outcome
from wording import mentions


@pytest.mark.parametrize("hero", [{"hero": True}, {"flops": 1e22}], ids=["stated", "by its FLOPs"])
@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"goal": None, "stop_when": "loss > 4"}, "must state goal"),
        ({"stop_when": "  "}, "must state stop_when"),
        ({"goal": "", "stop_when": ""}, "must state goal and stop_when"),
    ],
)
def test_a_hero_run_without_them_is_blocked(hero, changes, text):
    verdict = answer(missing_goal, a_contract(**hero, **changes))

    assert verdict.outcome is Outcome.FAIL and verdict.message.endswith(text)


def test_an_ordinary_run_may_leave_them_out():
    assert answer(missing_goal, a_contract(goal=None)).outcome is Outcome.NOT_APPLICABLE


def test_what_is_stated_is_shown():
    contract = a_contract(hero=True, stop_when="loss > 4")
    verdict = answer(missing_goal, contract)

    assert verdict.outcome is Outcome.PASS
    assert mentions(verdict.message, contract.goal, contract.stop_when)
