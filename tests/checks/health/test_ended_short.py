from dataclasses import replace

import pytest

from builders import (
    EVERY,
    FINAL,
    MINUTE,
    NOON,
    a_checkpoint,
    a_history,
    a_job,
    an_instance,
    answer,
    some_metrics,
)
from herorun.checks.health.ended_short import ended_short
from herorun.core.evidence import Checkpoints, FinalStep, JobState, Metrics, Nothing
from herorun.core.finding import Outcome

ENDED_JOB = a_job(JobState.SUCCEEDED)


def test_a_live_job_is_not_asked() -> None:
    assert answer(ended_short).outcome is Outcome.NOT_APPLICABLE


def test_the_final_step_is_the_end() -> None:
    assert answer(ended_short, ENDED_JOB, some_metrics(step=FINAL)).outcome is Outcome.PASS


def test_success_before_it_is_no_success() -> None:
    verdict = answer(ended_short, ENDED_JOB, some_metrics(step=FINAL - 1), Checkpoints())

    assert verdict.outcome is Outcome.FAIL
    assert f"step {FINAL - 1} of {FINAL}" in verdict.message


def test_a_complete_checkpoint_proves_what_sparse_rows_do_not_show() -> None:
    final = Checkpoints((a_checkpoint(FINAL),))

    assert (
        answer(ended_short, ENDED_JOB, some_metrics(step=FINAL - 9), final).outcome is Outcome.PASS
    )


def test_an_unknown_end_is_reported() -> None:
    assert answer(ended_short, ENDED_JOB, FinalStep(None, "nowhere")).outcome is Outcome.FAIL


def test_without_rows_and_checkpoints_no_step_is_claimed() -> None:
    verdict = answer(ended_short, ENDED_JOB, Checkpoints(), {Metrics: Nothing()})
    assert verdict.outcome is Outcome.FAIL
    assert str(FINAL) in verdict.message and " 0 " not in verdict.message


def test_what_herorun_stopped_itself_is_no_surprise() -> None:
    stopped_history = a_history(stopped=(("tiny-1", "dri"),))
    short = some_metrics(step=FINAL - 1)

    assert (
        answer(ended_short, ENDED_JOB, short, Checkpoints(), stopped_history).outcome
        is Outcome.NOT_APPLICABLE
    )
    other = a_history(stopped=(("tiny-0", "dri"),))
    assert answer(ended_short, ENDED_JOB, short, Checkpoints(), other).outcome is Outcome.FAIL


@pytest.mark.parametrize(("writer", "reached_step"), [("tiny-1", 20), ("tiny-2", FINAL)])
def test_what_an_earlier_instance_reached_beyond_the_start_does_not_count(
    writer: str, reached_step: int
) -> None:
    """After a rollback or a relaunch, an instance that ends at once has repeated none of it."""
    again = a_history(instances=(an_instance(1), an_instance(2, start=20, intended=NOON)))
    rows = some_metrics(step=FINAL, instance=writer, advanced_at=NOON - MINUTE)
    job = a_job(JobState.SUCCEEDED, instance="tiny-2")
    verdict = answer(ended_short, job, again, rows, Checkpoints((a_checkpoint(20),)))
    assert verdict.outcome is (Outcome.FAIL if reached_step < FINAL else Outcome.PASS)
    assert f"step {reached_step} of {FINAL}" in verdict.message


def test_rows_that_the_tracker_dates_before_the_launch_count() -> None:
    """Its clock is behind; no other instance can have written them."""
    early = some_metrics(step=FINAL, advanced_at=NOON - EVERY * 99)
    history = a_history(instances=(an_instance(1, start=0),))
    assert answer(ended_short, ENDED_JOB, history, early, Checkpoints()).outcome is Outcome.PASS


def test_its_own_final_checkpoint_counts_where_the_tracker_drops_repeated_rows() -> None:
    again = a_history(instances=(an_instance(1), an_instance(2, start=20)))
    rows, job = some_metrics(step=FINAL, instance="tiny-1"), replace(ENDED_JOB, instance="tiny-2")
    own = replace(a_checkpoint(FINAL), modified=NOON)
    assert answer(ended_short, job, again, rows, Checkpoints((own,))).outcome is Outcome.PASS
    assert again.reached_step(rows, Checkpoints((own,))) == FINAL
    older = replace(own, modified=NOON - EVERY * 99)
    assert again.reached_step(rows, Checkpoints((older,))) == 20
