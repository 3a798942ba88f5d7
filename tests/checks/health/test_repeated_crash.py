import pytest

from builders import NOON, a_checkpoint, a_crashed_job, a_history, a_job, answer, some_metrics
from herorun.checks.health.repeated_crash import Limits, repeated_crash
from herorun.core.check import Response
from herorun.core.evidence import Checkpoints, End, JobState, Metrics, Nothing, Unavailable
from herorun.core.finding import Outcome
from wording import mentions

THIRD = a_crashed_job(instance="tiny-3")


def an_end(number, step=None, state=JobState.FAILED, **result):
    return End(
        instance=f"tiny-{number}",
        state=state,
        at=NOON,
        exit_code=1,
        signal=None,
        step=step,
        **result,
    )


def ask_check(*before, step=150, job=THIRD, newest=100, **changes):
    history = a_history(3, ends=before)
    saved_checkpoints = Checkpoints((a_checkpoint(newest),))
    return answer(repeated_crash, job, history, some_metrics(step), saved_checkpoints, **changes)


def test_a_first_crash_is_no_repetition():
    assert ask_check().outcome is Outcome.PASS
    assert answer(repeated_crash).outcome is Outcome.NOT_APPLICABLE


@pytest.mark.parametrize(
    ("step", "outcome"), [(152, Outcome.FAIL), (148, Outcome.FAIL), (153, Outcome.PASS)]
)
def test_the_same_step_again_is_enough(step, outcome):
    assert ask_check(an_end(2, step)).outcome is outcome


@pytest.mark.parametrize(("newest", "outcome"), [(149, Outcome.FAIL), (150, Outcome.PASS)])
def test_a_checkpoint_at_that_step_says_that_it_got_past_it(newest, outcome):
    assert ask_check(an_end(2, 150), step=151, newest=newest).outcome is outcome


def test_it_says_what_repeats():
    assert mentions(ask_check(an_end(2, 150)).message, "tiny-3", "signal", "2 failures", "step 150")


def test_three_ends_between_the_same_two_checkpoints():
    def ends(*checkpoints):
        return [an_end(n, 101 + 10 * n, checkpoint=c) for n, c in enumerate(checkpoints, 1)]

    assert ask_check(*ends(100)).outcome is Outcome.PASS
    assert ask_check(*ends(100, 100)).outcome is Outcome.FAIL
    assert ask_check(*ends(100, 90)).outcome is Outcome.PASS
    assert ask_check(*ends(None, None)).outcome is Outcome.PASS  # nobody could look


def test_the_same_error_twice_without_a_new_checkpoint():
    ours = an_end(3, 170, checkpoint=100, fingerprint="f1")

    def after(checkpoint, fingerprint):
        before = an_end(2, 120, checkpoint=checkpoint, fingerprint=fingerprint)
        return ask_check(before, ours).outcome

    assert after(100, "f1") is Outcome.FAIL
    assert after(90, "f1") is Outcome.PASS
    assert after(100, "f2") is Outcome.PASS
    assert after(100, "") is Outcome.PASS


def test_the_same_node_three_times():
    bad = a_crashed_job(instance="tiny-3", failed_on=("n7",))
    ends = [an_end(1, 10, failed_on=("n7",)), an_end(2, 60, failed_on=("n6", "n7"))]

    assert mentions(ask_check(*ends, job=bad).message, "3 failures", "n7")
    assert ask_check(*ends[1:], job=bad).outcome is Outcome.PASS


@pytest.mark.parametrize(
    "state", [JobState.PREEMPTED, JobState.TIMED_OUT, JobState.CANCELLED, JobState.SUCCEEDED]
)
def test_what_is_no_fault_of_the_run_neither_counts_nor_breaks_the_row(state):
    innocent = an_end(2, 150, state)

    assert ask_check(innocent).outcome is Outcome.PASS
    assert ask_check(an_end(1, 150), innocent).outcome is Outcome.FAIL


def test_preemption_at_the_same_step_is_none():
    preempted_job = a_job(JobState.PREEMPTED, "tiny-3", ended=NOON)

    assert ask_check(an_end(2, 150), job=preempted_job).outcome is Outcome.NOT_APPLICABLE


def test_without_rows_the_steps_say_nothing():
    no_metrics = {Metrics: Nothing()}, {Metrics: Unavailable("503")}
    for rows in no_metrics:
        history = a_history(3, ends=(an_end(2, None),))
        assert answer(repeated_crash, THIRD, history, rows).outcome is Outcome.PASS


def test_the_limits_are_the_contracts():
    assert ask_check(an_end(2, 150), limits=Limits(same_step=3)).outcome is Outcome.PASS
    assert ask_check(an_end(2, 160), limits=Limits(max_step_difference=10)).outcome is Outcome.FAIL


def test_a_job_in_doubt_is_unknown():
    assert answer(repeated_crash, a_job(JobState.GONE)).outcome is Outcome.UNKNOWN


def test_it_asks_a_person_and_holds_a_relaunch_back():
    assert repeated_crash.response is Response.ESCALATE
    assert repeated_crash.vetoes_relaunch
