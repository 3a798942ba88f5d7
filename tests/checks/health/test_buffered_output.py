from dataclasses import replace
from datetime import timedelta

import pytest

from builders import MINUTE, NOON, a_checkpoint, a_job, answer, some_metrics
from herorun.checks.health.buffered_output import buffered_output
from herorun.core.check import Response
from herorun.core.evidence import Checkpoints, JobLog, JobState, Metrics, Unavailable
from herorun.core.finding import Outcome
from wording import mentions

SECOND = timedelta(seconds=1)
FROZEN_LOG = JobLog(changed_at=NOON - 30 * MINUTE)


@pytest.mark.parametrize(("ahead", "outcome"), [(15, Outcome.PASS), (16, Outcome.FAIL)])
def test_rows_more_than_15_minutes_newer_than_the_log(ahead, outcome):
    rows = some_metrics(advanced_at=NOON - (30 - ahead) * MINUTE)

    assert answer(buffered_output, FROZEN_LOG, rows).outcome is outcome


def test_a_newer_checkpoint_says_so_too():
    saved_checkpoints = Checkpoints((replace(a_checkpoint(90), modified=NOON - MINUTE),))
    verdict = answer(buffered_output, FROZEN_LOG, saved_checkpoints, {Metrics: Unavailable("503")})

    assert verdict.outcome is Outcome.FAIL
    assert mentions(verdict.message, "tiny-1", "11:30", "90 was", "11:59", "nothing", "buffered")


def test_a_time_in_the_future_is_a_clocks_fault():
    assert (
        answer(buffered_output, FROZEN_LOG, some_metrics(advanced_at=NOON + SECOND)).outcome
        is Outcome.PASS
    )


def test_a_log_of_unknown_age_and_a_job_that_does_not_run():
    assert answer(buffered_output, JobLog()).outcome is Outcome.NOT_APPLICABLE
    assert (
        answer(buffered_output, FROZEN_LOG, a_job(JobState.FAILED)).outcome
        is Outcome.NOT_APPLICABLE
    )
    assert buffered_output.response is Response.INFO
