import pytest

from builders import ROOT, a_checkpoint, a_contract, a_history, a_plan, answer
from herorun.checks.launch.outdated_checkpoint_path import outdated_checkpoint_path
from herorun.core.check import AtRelaunch
from herorun.core.evidence import Checkpoints
from herorun.core.finding import Outcome
from wording import mentions

OWN = (a_checkpoint(54000), a_checkpoint(58014))
OLD, NEW = f"{ROOT}/step-54000", f"{ROOT}/step-58014"


def ask(own=OWN, history=None, config=None, **contract):
    history = history or a_history()
    signed_contract = a_contract(**contract)
    plan = a_plan(signed_contract, own, (), history, config)
    return answer(outdated_checkpoint_path, signed_contract, plan, history, Checkpoints(own))


def test_nothing_named_passes():
    assert ask().outcome is Outcome.PASS


@pytest.mark.parametrize(
    ("result", "where"),
    [
        ({"start": {"from": OLD}}, "[start] from"),
        ({"command": {"argv": ["python", "train.py", f"--start={OLD}/"]}}, "the command"),
        ({"command": {"env": {"START": OLD}}}, "[command] env START"),
        ({"config": {"trainer": {"initialize_from": OLD}}}, "the config's trainer.initialize_from"),
    ],
)
def test_an_older_one_is_named_with_its_place_and_what_it_costs(result, where):
    verdict = ask(**result)

    assert (verdict.outcome, verdict.subject) == (Outcome.FAIL, OLD)
    cost = "4014 steps"
    assert mentions(verdict.message, where, f"{OLD} (step 54000)", NEW, "step 58014", cost)


@pytest.mark.parametrize(
    "result",
    [
        {"start": {"from": NEW}},
        {"start": {"from": OLD, "reason": "a spike at 55,000"}},
        {"start": {"from": "/data/parent/step-54000"}},
        {"command": {"argv": ["python", "train.py", f"{OLD}0"]}},
    ],
)
def test_the_newest_one_that_was_decided_on_and_another_runs_pass(result):
    assert ask(**result).outcome is not Outcome.FAIL


def test_an_incomplete_newer_one_does_not_count():
    own = (a_checkpoint(54000), a_checkpoint(58014, problem="no metadata.json"))

    assert ask(own, start={"from": OLD}).outcome is Outcome.PASS


def test_a_first_launch_is_not_asked():
    assert ask(history=a_history(0), start={"from": OLD}).outcome is Outcome.NOT_APPLICABLE
    assert ask(own=(), start={"from": OLD}).outcome is Outcome.NOT_APPLICABLE


def test_a_relaunch_by_the_babysitter_is_not_asked():
    assert outdated_checkpoint_path.at_relaunch is AtRelaunch.SKIP
