from dataclasses import replace
from datetime import timedelta

import pytest

from builders import MINUTE, NOON, a_checkpoint, a_history, a_job, answer, answers, some_metrics
from herorun.checks.health.writes_after_end import writes_after_end
from herorun.core.check import Hold
from herorun.core.evidence import Checkpoints, End, JobLog, JobState, Metrics, Unavailable
from herorun.core.finding import Outcome
from wording import mentions

ENDED_JOB = a_job(JobState.FAILED, ended=NOON - 10 * MINUTE)
OLD = some_metrics(advanced_at=NOON - 11 * MINUTE)


def saved_checkpoints(modified_at):
    return Checkpoints((replace(a_checkpoint(100), modified=modified_at),))


def test_a_job_that_ended_and_writes_no_more_passes():
    assert answer(writes_after_end, ENDED_JOB, OLD).outcome is Outcome.PASS


@pytest.mark.parametrize(
    ("change", "subject"),
    [
        (some_metrics(advanced_at=NOON - MINUTE), "rows"),
        (saved_checkpoints(NOON - MINUTE), "checkpoints"),
        (JobLog(changed_at=NOON - MINUTE), "log"),
    ],
)
def test_each_source_that_continues_is_named(change, subject):
    (verdict,) = answers(writes_after_end, ENDED_JOB, OLD, change)

    assert (verdict.outcome, verdict.subject) == (Outcome.FAIL, subject)
    assert mentions(verdict.message, "tiny-1", "failed", "11:50")


@pytest.mark.parametrize(
    ("source", "subject"), [(Metrics, "rows"), (Checkpoints, "checkpoints"), (JobLog, "log")]
)
def test_a_source_that_could_not_be_read_is_unknown(source, subject):
    verdicts = answers(writes_after_end, ENDED_JOB, OLD, {source: Unavailable("timed out")})

    assert [(each.outcome, each.subject) for each in verdicts] == [(Outcome.UNKNOWN, subject)]


def test_the_last_words_of_a_client_and_a_clock_in_the_future_are_no_other_writer():
    for at in (NOON - 9 * MINUTE, NOON + timedelta(hours=1)):
        assert (
            answer(writes_after_end, ENDED_JOB, some_metrics(advanced_at=at)).outcome
            is Outcome.PASS
        )


def test_where_the_scheduler_tells_no_end_the_records_counts():
    silent = a_job(JobState.SUCCEEDED)
    history = a_history(
        ends=(End(instance="tiny-1", state=JobState.SUCCEEDED, at=NOON - 10 * MINUTE),)
    )

    assert answer(writes_after_end, silent, history, some_metrics()).outcome is Outcome.FAIL
    assert answer(writes_after_end, silent, some_metrics()).outcome is Outcome.NOT_APPLICABLE


def test_a_job_that_lives_or_is_gone_is_not_asked():
    for state in (JobState.RUNNING, JobState.PENDING, JobState.GONE, JobState.UNKNOWN):
        assert answer(writes_after_end, a_job(state)).outcome is Outcome.NOT_APPLICABLE


def test_it_is_told_at_the_second_look():
    assert writes_after_end.hold == Hold(ticks=2)
