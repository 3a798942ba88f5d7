import pytest

from builders import FINAL, a_contract, answers, some_metrics
from herorun.checks.seal.unfinished_tracker_run import unfinished_tracker_run
from herorun.core.evidence import Metrics, Nothing, TrackerIdentity, TrackerState, Unavailable
from herorun.core.finding import Outcome
from wording import mentions


def ask(state=TrackerState.FINISHED, last=FINAL - 1, *changes):
    verdicts = answers(
        unfinished_tracker_run,
        TrackerIdentity(state=state, why="503", id="tiny", last_step=last),
        *changes,
    )
    return {verdict.subject: verdict for verdict in verdicts}


def test_a_finished_run_whose_last_row_is_that_of_the_last_update_passes():
    """`step-200` holds 200 updates, and the last of them was logged as 199."""
    answer = ask()
    assert [verdict.outcome for verdict in answer.values()] == [Outcome.PASS] * 2
    assert mentions(answer["step"].message, "last", "199", "200 of", "200 updates")


def test_where_the_first_update_is_logged_as_1_the_last_row_is_the_final_step():
    counts_from_1 = a_contract(tracker={"first_step": 1})
    assert ask(TrackerState.FINISHED, FINAL, counts_from_1)["step"].outcome is Outcome.PASS
    assert ask(TrackerState.FINISHED, FINAL - 1, counts_from_1)["step"].outcome is Outcome.FAIL


def test_a_row_short_fails():
    assert mentions(ask(last=FINAL - 2)["step"].message, "199 of 200", "1")


def test_a_trainer_that_logs_every_tenth_step_lacks_no_row():
    every_tenth = some_metrics(191, rows=20, first_step=1)
    assert ask(TrackerState.FINISHED, 190, every_tenth)["step"].outcome is Outcome.PASS
    assert ask(TrackerState.FINISHED, 180, every_tenth)["step"].outcome is Outcome.FAIL


@pytest.mark.parametrize("state", [TrackerState.RUNNING, TrackerState.CRASHED, TrackerState.ABSENT])
def test_any_other_state_fails(state):
    assert mentions(ask(state)["state"].message, "tracker", "tiny", f"{state}")


def test_a_tracker_out_of_reach_is_unknown():
    assert ask(TrackerState.UNREACHABLE)["state"].outcome is Outcome.UNKNOWN


def test_rows_that_cannot_be_read_leave_the_trackers_own_word():
    assert (
        ask(TrackerState.FINISHED, FINAL - 1, {Metrics: Unavailable("503")})["step"].outcome
        is Outcome.PASS
    )


def test_a_tracker_without_ids_is_asked_nothing():
    (verdict,) = answers(
        unfinished_tracker_run, {TrackerIdentity: Nothing("the tracker jsonl has no run ids")}
    )
    assert verdict.outcome is Outcome.NOT_APPLICABLE
