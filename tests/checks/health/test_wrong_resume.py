from dataclasses import replace
from datetime import timedelta

import pytest

from builders import (
    MINUTE,
    NOON,
    PARENT,
    ROOT,
    a_checkpoint,
    a_history,
    a_receipt,
    an_instance,
    answer,
    some_metrics,
)
from herorun.checks.health.wrong_resume import wrong_resume
from herorun.core.check import Response
from herorun.core.evidence import (
    Checkpoints,
    Dropped,
    End,
    JobLog,
    JobState,
    Loading,
    Metrics,
    Nothing,
    PriorLaunch,
    Receipt,
    Resume,
    Unavailable,
)
from herorun.core.finding import Outcome
from wording import mentions

FROM = f"{ROOT}/step-3541"


def plan(step=3541, path=FROM, kind="full-state", instance="tiny-1"):
    return PriorLaunch(instance, {"start": {"path": path, "step": step, "kind": kind}})


SCRATCH = PriorLaunch("tiny-1", {"start": None})


def rows(step, first):
    return some_metrics(step, first_step=first, high_water=3600)


def test_the_step_after_the_checkpoints_is_right():
    assert answer(wrong_resume, plan(), rows(3550, 3542)).outcome is Outcome.PASS
    assert answer(wrong_resume, SCRATCH, some_metrics(20, first_step=1)).outcome is Outcome.PASS


@pytest.mark.parametrize("first", [1, 2651, 3540])
def test_rows_below_the_start_are_wrong(first):
    verdict = answer(wrong_resume, plan(), rows(max(first, 40), first))

    assert verdict.outcome is Outcome.FAIL
    assert mentions(verdict.message, "should", f"{FROM}", "3541")


@pytest.mark.parametrize(
    ("saved_at", "outcome"), [(NOON, Outcome.NOT_APPLICABLE), (NOON - 600 * MINUTE, Outcome.FAIL)]
)
def test_rows_that_a_job_lost_after_it_saved_behind_its_start_show_nothing(saved_at, outcome):
    """A metrics file was cut to before the start; an older instance's save proves nothing."""
    saved_checkpoints = Checkpoints((replace(a_checkpoint(3600), modified=saved_at),))
    verdict = answer(wrong_resume, plan(), rows(2900, 2000), saved_checkpoints)

    assert verdict.outcome is outcome


@pytest.mark.parametrize(
    ("instance", "step", "outcome"),
    [
        ("tiny-1", 3567, Outcome.NOT_APPLICABLE),
        ("tiny-1", 3541, Outcome.FAIL),
        ("tiny-1", None, Outcome.FAIL),
        ("tiny-0", 3567, Outcome.FAIL),
    ],
)
def test_rows_that_were_cut_after_the_job_ended_beyond_its_start_show_nothing(
    instance, step, outcome
):
    """It had saved nothing yet; what is left are an earlier instance's rows, read once more."""
    end = End(instance=instance, state=JobState.FAILED, at=NOON, step=step)
    history = a_history(1, ends=(end,))

    assert answer(wrong_resume, plan(), rows(2900, 2000), history).outcome is outcome


def test_a_first_row_from_a_newer_checkpoint_is_wrong():
    other = replace(a_checkpoint(3580), modified=NOON - timedelta(days=1))
    own = replace(a_checkpoint(3580), modified=NOON - MINUTE)

    verdict = answer(wrong_resume, plan(), rows(3600, 3581), Checkpoints((other,)))
    assert verdict.outcome is Outcome.FAIL and "as from /data/tiny/step-3580" in verdict.message
    assert (
        answer(wrong_resume, plan(), rows(3600, 3581), Checkpoints((own,))).outcome is Outcome.PASS
    )
    assert (
        answer(wrong_resume, plan(), rows(3600, 3551), Checkpoints()).outcome is Outcome.PASS
    )  # it logs rarely


def test_a_first_row_from_a_given_up_checkpoint_is_wrong():
    """The record rules it out; a trainer that looks for itself does not know that."""
    given_up = replace(a_checkpoint(3580), modified=NOON - timedelta(days=1))

    verdict = answer(wrong_resume, plan(), rows(3600, 3581), Checkpoints(given_up=(given_up,)))
    assert verdict.outcome is Outcome.FAIL and "as from /data/tiny/step-3580" in verdict.message


def test_a_row_of_the_starts_own_step_is_right():
    assert answer(wrong_resume, plan(), rows(3541, 3541)).outcome is Outcome.PASS


def test_rows_that_go_on_without_a_break_do_not_tell():
    assert answer(wrong_resume, plan(), rows(3550, 1)).outcome is Outcome.NOT_APPLICABLE


def test_weights_alone_begin_to_count_again():
    weights = plan(100, f"{PARENT}/step-100", "weights-only")

    assert answer(wrong_resume, weights, some_metrics(20, first_step=1)).outcome is Outcome.PASS


def test_what_was_loaded_is_compared():
    other = a_receipt(loaded=f"{ROOT}/step-2651")

    verdict = answer(wrong_resume, plan(), other, {Metrics: Nothing()})
    assert verdict.outcome is Outcome.FAIL
    assert mentions(verdict.message, "tiny-1", f"{ROOT}", "/step-2651", "plan", f"{FROM}", "3541")
    assert mentions(answer(wrong_resume, SCRATCH, other).message, "plan", "scratch")
    assert (
        answer(wrong_resume, plan(), a_receipt(loaded=f"{FROM}/"), rows(3550, 3542)).outcome
        is Outcome.PASS
    )


def test_a_later_attempt_continues_from_the_instances_own():
    saved_checkpoints = Checkpoints((a_checkpoint(3580),))

    def loaded_outcome(attempt):
        receipt = a_receipt(loaded=f"{ROOT}/step-3580", attempt=attempt)
        return answer(wrong_resume, plan(), receipt, saved_checkpoints, rows(3600, 3581)).outcome

    assert loaded_outcome(1) is Outcome.FAIL
    assert loaded_outcome(2) is Outcome.PASS


BEGIN_TIME = NOON - 61 * MINUTE  # when the instance was launched
OWN = Checkpoints((replace(a_checkpoint(120), modified=NOON - 30 * MINUTE),))
RESTARTED_HISTORY = a_history(restarts=((NOON - 20 * MINUTE, 2),))


def a_restart(first):
    """Rows of a second attempt."""
    resume = Resume(
        step=first,
        high_water=150,
        compared=0,
        early=(),
        median=0.0,
        worst=0.0,
        worst_step=0,
        first_bad_step=None,
        after=0,
        offset=0.0,
        noise=0.0,
        fall=None,
    )
    return some_metrics(first + 10, first_step=first, high_water=150, attempts=2, resume=resume)


def test_a_restart_by_the_back_end_that_begins_at_the_first_step_is_reported():
    verdict = answer(wrong_resume, SCRATCH, a_restart(1), OWN, RESTARTED_HISTORY)

    assert verdict.outcome is Outcome.FAIL
    assert mentions(verdict.message, "began", "1", "2")
    assert "step-120 (step 120)" in verdict.message


@pytest.mark.parametrize(
    ("metrics", "saved_step", "history"),
    [
        (a_restart(121), OWN, RESTARTED_HISTORY),  # it went on from its own
        (a_restart(1), Checkpoints(), RESTARTED_HISTORY),  # it had saved nothing
        (a_restart(1), OWN, a_history()),  # no restart is known: the steps may be an evaluation's
        (some_metrics(160, first_step=1), OWN, RESTARTED_HISTORY),  # its rows go on without a break
        # saved since
        (
            a_restart(1),
            Checkpoints((replace(a_checkpoint(120), modified=NOON),)),
            RESTARTED_HISTORY,
        ),
    ],
)
def test_a_restart_that_continues_or_could_not_is_not_told(metrics, saved_step, history):
    assert answer(wrong_resume, SCRATCH, metrics, saved_step, history).outcome is Outcome.PASS


def test_a_restart_whose_rows_are_dropped_from_the_first_one_on_is_reported():
    log = JobLog(changed_at=NOON, dropped=Dropped(0, 40, 150, 41, 99))

    verdict = answer(
        wrong_resume, SCRATCH, some_metrics(150, first_step=1), OWN, RESTARTED_HISTORY, log
    )

    assert verdict.outcome is Outcome.FAIL and mentions(verdict.message, "should", "120")
    replayed_log = JobLog(changed_at=NOON, dropped=Dropped(100, 110, 150, 11, 99))
    sound = answer(
        wrong_resume, SCRATCH, some_metrics(150, first_step=1), OWN, RESTARTED_HISTORY, replayed_log
    )
    assert sound.outcome is Outcome.PASS


def test_a_restart_continues_from_what_the_instance_saved_beyond_an_older_launchs_checkpoint():
    """Rolled back to step 3541 with 3800 still there; restarted later from its own step 3900."""
    older = replace(a_checkpoint(3800), modified=NOON - 300 * MINUTE)
    own = replace(a_checkpoint(3900), modified=NOON - 30 * MINUTE)
    rows_then = some_metrics(3910, first_step=3901, high_water=3905)

    assert (
        answer(wrong_resume, plan(), rows_then, Checkpoints((older, own))).outcome is Outcome.PASS
    )
    assert answer(wrong_resume, plan(), rows_then, Checkpoints((older,))).outcome is Outcome.FAIL


def test_too_early_or_out_of_sight():
    assert answer(wrong_resume, plan(), {Metrics: Nothing()}).outcome is Outcome.NOT_APPLICABLE
    assert answer(wrong_resume, plan(), {Metrics: Unavailable("503")}).outcome is Outcome.UNKNOWN
    assert answer(wrong_resume, plan(), {Receipt: Unavailable("403")}).outcome is Outcome.UNKNOWN
    assert answer(wrong_resume, plan(instance="tiny-9")).outcome is Outcome.NOT_APPLICABLE


def test_it_asks_a_person_and_holds_a_relaunch_back():
    assert wrong_resume.response is Response.ESCALATE
    assert wrong_resume.vetoes_relaunch


def test_an_adopted_job_was_told_no_start() -> None:
    adopted_launch = PriorLaunch("tiny-1", {"start": None}, adopted=True)
    verdict = answer(wrong_resume, adopted_launch, some_metrics(400, first_step=300))
    assert verdict.outcome == "n/a" and "was adopted" in verdict.message


# --- by the job's own log -------------------------------------------------------------------------

BEFORE = a_history(instances=(an_instance(start=3541),))
NO_ROWS = {Metrics: Nothing()}


def a_log(*loads, line=7, step=None, path="", **fields):
    lines = tuple(
        Loading(what, line + n, f"line of {what}", step, path) for n, what in enumerate(loads)
    )
    return JobLog(loading=lines, **fields)


@pytest.mark.parametrize("what", ["scratch", "none", "older", "weights", "part"])
def test_a_loader_that_falls_back_is_reported_with_its_line(what):
    verdict = answer(wrong_resume, plan(), BEFORE, NO_ROWS, a_log(what))

    assert verdict.outcome is Outcome.FAIL
    assert mentions(verdict.message, "tiny-1", "line", "7 of", f"{what}", f"{FROM}", "3541")


@pytest.mark.parametrize("what", ["scratch", "none"])
def test_from_scratch_as_planned(what):
    assert answer(wrong_resume, SCRATCH, NO_ROWS, a_log(what)).outcome is Outcome.NOT_APPLICABLE


def test_what_is_loaded_after_a_place_without_checkpoints_counts():
    log = a_log("none", "resumed", step=3541)
    assert answer(wrong_resume, plan(), BEFORE, NO_ROWS, log).outcome is Outcome.PASS
    part = a_log("part", "resumed", step=3541)
    assert answer(wrong_resume, plan(), BEFORE, NO_ROWS, part).outcome is Outcome.FAIL
    scratch_log = a_log("resumed", "scratch", step=3541)
    assert answer(wrong_resume, plan(), BEFORE, NO_ROWS, scratch_log).outcome is Outcome.FAIL


def test_an_empty_folder_next_to_the_planned_one_is_no_word():
    assert (
        answer(wrong_resume, plan(), NO_ROWS, a_log("none", path="/tmp/x")).outcome
        is Outcome.NOT_APPLICABLE
    )
    assert answer(wrong_resume, plan(), NO_ROWS, a_log("none", path=ROOT)).outcome is Outcome.FAIL


@pytest.mark.parametrize(
    ("step", "outcome"),
    [(3541, Outcome.PASS), (3540, Outcome.PASS), (3542, Outcome.PASS), (2651, Outcome.FAIL)],
)
def test_the_step_that_the_log_resumed_at(step, outcome):
    assert answer(wrong_resume, plan(), NO_ROWS, a_log("resumed", step=step)).outcome is outcome


def test_a_resume_where_the_plan_says_scratch():
    assert (
        answer(wrong_resume, SCRATCH, NO_ROWS, a_log("resumed", step=900)).outcome is Outcome.FAIL
    )
    own = Checkpoints((replace(a_checkpoint(900), modified=NOON),))
    assert (
        answer(wrong_resume, SCRATCH, NO_ROWS, own, a_log("resumed", step=900)).outcome
        is not Outcome.FAIL
    )


def test_weights_alone_as_planned_and_a_first_launch_that_loads_none():
    weights = plan(100, f"{PARENT}/step-100", "weights-only")

    assert (
        answer(wrong_resume, weights, NO_ROWS, a_log("none", "weights")).outcome
        is Outcome.NOT_APPLICABLE
    )
    assert answer(wrong_resume, weights, NO_ROWS, a_log("scratch")).outcome is Outcome.FAIL
    assert answer(wrong_resume, weights, NO_ROWS, a_log("part")).outcome is Outcome.FAIL


def dropped_rows_log(newest, steps=100):
    return JobLog(dropped=Dropped(0, newest, 3600, steps, 9))


def test_the_trackers_client_drops_the_rows_of_a_job_that_began_again():
    verdict = answer(wrong_resume, plan(), BEFORE, NO_ROWS, dropped_rows_log(120))

    assert verdict.outcome is Outcome.FAIL
    assert mentions(verdict.message, "tiny-1", "120", "3541", "3600", "dropped")


@pytest.mark.parametrize(
    "rows", [dropped_rows_log(3541), dropped_rows_log(3600), dropped_rows_log(0, steps=2)]
)
def test_replayed_rows_and_a_summary_at_step_0_are_dropped_as_they_must(rows):
    assert answer(wrong_resume, plan(), BEFORE, NO_ROWS, rows).outcome is Outcome.NOT_APPLICABLE


def test_a_checkpoint_below_the_start_that_was_saved_since_the_launch():
    below = replace(a_checkpoint(50), modified=NOON)
    verdict = answer(wrong_resume, plan(), BEFORE, NO_ROWS, Checkpoints((below,)))
    assert (
        verdict.outcome is Outcome.FAIL
        and "saved /data/tiny/step-50 at 2026-01-01 12:00 UTC" in verdict.message
    )

    for other in (
        replace(below, modified=NOON - timedelta(days=1)),
        replace(below, problem="no metadata.json"),
        replace(below, step=3600),
    ):
        answer_below = answer(wrong_resume, plan(), BEFORE, NO_ROWS, Checkpoints((other,)))
        assert answer_below.outcome is Outcome.NOT_APPLICABLE
    assert (
        answer(wrong_resume, SCRATCH, BEFORE, NO_ROWS, Checkpoints((below,))).outcome
        is not Outcome.FAIL
    )


# --- by the record's own boundaries ---------------------------------------------------------------


def test_the_instances_first_row_tells_however_far_it_has_come():
    """The fresh run has passed the old last step."""
    ours = some_metrics(3700, first_step=1, high_water=3700, instance="tiny-1")
    verdict = answer(wrong_resume, plan(), BEFORE, ours)

    assert verdict.outcome is Outcome.FAIL and mentions(verdict.message, "1", "should")


def test_where_a_tracker_drops_the_steps_that_it_has_the_first_row_shows_nothing():
    later = Resume(step=3601, high_water=3600, instance="tiny-1")
    ours = some_metrics(3700, first_step=3601, high_water=3700, instance="tiny-1", resume=later)
    newer = Checkpoints((replace(a_checkpoint(3590), modified=NOON - timedelta(days=1)),))

    assert answer(wrong_resume, plan(), BEFORE, ours, newer).outcome is Outcome.NOT_APPLICABLE
    assert (
        answer(wrong_resume, plan(), BEFORE, ours, a_log("resumed", step=3541)).outcome
        is Outcome.PASS
    )


def test_an_adopted_job_that_says_it_fell_back_is_unknown():
    adopted_launch = PriorLaunch("tiny-1", {"start": None}, adopted=True)
    verdict = answer(wrong_resume, adopted_launch, a_log("scratch"))

    assert verdict.outcome is Outcome.UNKNOWN and mentions(verdict.message, "line", "7 of")
