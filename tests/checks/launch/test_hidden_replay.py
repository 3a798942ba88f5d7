import pytest

from builders import a_checkpoint, a_contract, a_history, a_plan, answer, traits_of
from herorun.checks.launch.hidden_replay import hidden_replay
from herorun.core.canonical_json import plain
from herorun.core.evidence import PriorLaunch, TrackerIdentity, TrackerState
from herorun.core.finding import Outcome, count
from wording import mentions

TRACKER = {"kind": "wandb", "path": None, "entity": "ent", "project": "proj"}


def ask(last_step, step=100, state=TrackerState.CRASHED, first_step=0, **tracker):
    """A relaunch from the own checkpoint of a step, where W&B has logged up to another."""
    contract = a_contract(tracker={**TRACKER, "first_step": first_step, **tracker})
    prior = PriorLaunch("tiny-1", {"tracker": plain(a_plan(contract).tracker.value)})
    plan = a_plan(contract, own=[a_checkpoint(step)] if step else [], history=a_history())
    identity = TrackerIdentity(state=state, why="down", last_step=last_step)
    traits = traits_of(contract.tracker.kind)
    return answer(hidden_replay, contract, plan, a_history(), prior, identity, traits)


@pytest.mark.parametrize(("last", "first_step"), [(99, 0), (100, 1), (42, 0)])
def test_a_run_that_continues_above_what_was_logged_shows_every_step(last, first_step):
    assert ask(last, first_step=first_step).outcome is Outcome.PASS


@pytest.mark.parametrize(
    ("last", "first_step", "hidden_steps"), [(100, 0, 1), (149, 0, 50), (149, 1, 49)]
)
def test_the_steps_that_w_and_b_will_not_show_are_counted(last, first_step, hidden_steps):
    verdict = ask(last, first_step=first_step)

    assert verdict.outcome is Outcome.FAIL
    assert mentions(verdict.message, "first", f"{count(hidden_steps, 'step')}", "invisible")


def test_from_scratch_all_of_it_is_hidden():
    assert "first 150 steps" in ask(149, step=None).message


def test_a_run_that_logged_nothing_hides_nothing():
    assert ask(None).outcome is Outcome.PASS


def test_where_w_and_b_cannot_be_asked_it_is_unknown():
    assert ask(None, state=TrackerState.UNREACHABLE).outcome is Outcome.UNKNOWN


def test_a_first_launch_replays_nothing():
    identity = TrackerIdentity(state=TrackerState.FINISHED, last_step=500)

    assert answer(hidden_replay, identity).outcome is Outcome.NOT_APPLICABLE


def test_a_tracker_without_identities_is_asked_nothing():
    assert answer(hidden_replay).outcome is Outcome.NOT_APPLICABLE


def test_a_tracker_that_keeps_both_rows_of_a_step_hides_none():
    assert ask(149, kind="mlflow", entity=None).outcome is Outcome.NOT_APPLICABLE
