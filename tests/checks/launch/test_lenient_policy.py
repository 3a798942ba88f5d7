import pytest

from builders import a_contract, answer
from herorun.checks.launch.lenient_policy import lenient_policy
from herorun.core.finding import Outcome
from wording import mentions


@pytest.mark.parametrize("hero", [None, True])
def test_findings_are_enforced_by_default(hero):
    assert mentions(answer(lenient_policy, a_contract(hero=hero)).message, "findings", "enforced")


@pytest.mark.parametrize("mode", ["warn", "audit"])
def test_a_lenient_mode_is_reported_and_refused_for_a_hero_run(mode):
    ordinary, hero = (
        answer(lenient_policy, a_contract(policy={"mode": mode}, hero=h)) for h in (None, True)
    )

    assert (ordinary.outcome, hero.outcome) == (Outcome.PASS, Outcome.FAIL)
    assert mode in ordinary.message and mode in hero.message
    assert lenient_policy.always
