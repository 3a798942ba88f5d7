from dataclasses import replace

import pytest

from builders import a_contract, a_plan, answer, answers
from herorun.checks.launch.unconfirmed_inference import unconfirmed_inference
from herorun.core.evidence import Sourced
from herorun.core.finding import Outcome
from wording import mentions

HERO = a_contract(hero=True)


def plan_of_guesses(*names, contract=None):
    plan = a_plan(contract)
    guesses = {
        name: Sourced(getattr(plan, name).value, "a rule of thumb", inferred=True) for name in names
    }
    return replace(plan, **guesses)


def test_a_plan_that_is_all_stated_passes():
    assert mentions(answer(unconfirmed_inference).message, "plan", "inferred")


@pytest.mark.parametrize("name", ["start", "output_root", "temporary_root"])
def test_lineage_and_output_identity_must_be_stated(name):
    verdict = answer(unconfirmed_inference, plan_of_guesses(name))

    assert (verdict.outcome, verdict.subject) == (Outcome.FAIL, name)
    assert "inferred" in verdict.message


def test_each_guess_is_a_finding_of_its_own():
    verdicts = answers(unconfirmed_inference, plan_of_guesses("start", "output_root", "argv"))

    assert [verdict.subject for verdict in verdicts] == ["start", "output_root"]


def test_retention_must_be_stated_for_a_hero_run_alone():
    none = {"permanent_every": None, "temporary_every": None, "keep": None}
    plan = a_plan(a_contract(checkpoints=none))

    assert plan.retention.inferred
    assert answer(unconfirmed_inference, plan).outcome is Outcome.PASS
    assert answer(unconfirmed_inference, plan, HERO).outcome is Outcome.FAIL


def test_other_inferred_values_are_labelled():
    verdict = answer(unconfirmed_inference, a_plan(a_contract(tracker={"id": None})), HERO)

    assert verdict.outcome is Outcome.PASS
    (detail,) = verdict.details
    assert mentions(detail, "tracker", "inferred", "slug")


def test_what_a_named_key_resolves_to_is_not_inferred():
    contract = a_contract(final_step="trainer.steps")
    plan = a_plan(contract, config={"trainer": {"steps": 200}})

    assert mentions(answer(unconfirmed_inference, plan, contract).message, "plan", "inferred")
