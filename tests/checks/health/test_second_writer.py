from datetime import timedelta

import pytest

from builders import (
    EVERY,
    MINUTE,
    NOON,
    a_crashed_job,
    a_job,
    answer,
    answers,
    some_metrics,
)
from herorun.checks.health.second_writer import second_writer
from herorun.core.check import Response
from herorun.core.evidence import (
    Cadence,
    Job,
    JobState,
    LiveJobs,
    Metrics,
    TrackerIdentity,
    TrackerState,
    Unavailable,
)
from herorun.core.finding import Outcome
from wording import mentions

SECOND = timedelta(seconds=1)


def after(late, cadence=MINUTE, **job):
    rows = some_metrics(advanced_at=NOON - MINUTE)
    return answer(
        second_writer, a_crashed_job(ended=NOON - MINUTE - late, **job), rows, Cadence(cadence)
    )


def test_one_writer_passes():
    assert answer(second_writer).outcome is Outcome.PASS
    assert answer(second_writer, LiveJobs((a_job(),))).outcome is Outcome.PASS


def test_another_live_instance():
    verdict = answer(second_writer, LiveJobs((a_job(), a_job(instance="tiny-2"))))

    assert (verdict.outcome, verdict.subject) == (Outcome.FAIL, "tiny-2")
    assert mentions(verdict.message, "tiny-2", "tiny-1")


@pytest.mark.parametrize(("cadence", "limit"), [(MINUTE, 10 * MINUTE), (EVERY, 30 * MINUTE)])
def test_rows_long_after_the_end_are_anothers(cadence, limit):
    assert after(limit, cadence).outcome is Outcome.PASS
    verdict = after(limit + SECOND, cadence)

    assert (verdict.outcome, verdict.subject) == (Outcome.FAIL, "rows")


def test_an_end_after_which_nothing_was_read_is_not_quiet():
    unread_evidence = {Metrics: Unavailable("503"), TrackerIdentity: Unavailable("503")}
    verdicts = answers(second_writer, a_crashed_job(ended=NOON - MINUTE), unread_evidence)

    assert {v.outcome for v in verdicts} == {Outcome.UNKNOWN}
    assert answer(second_writer, unread_evidence).outcome is Outcome.PASS


def test_rows_from_the_future_are_a_clocks_fault():
    rows = some_metrics(advanced_at=NOON + timedelta(days=1))

    assert answer(second_writer, a_crashed_job(), rows).outcome is Outcome.PASS


def test_a_heartbeat_after_the_end(notice):
    beating = TrackerIdentity(state=TrackerState.RUNNING, heartbeat="2026-01-01T11:59:00+00:00")
    ended_job = a_crashed_job(ended=NOON - 60 * MINUTE)
    quiet = some_metrics(advanced_at=NOON - 61 * MINUTE)

    (verdict,) = answers(second_writer, beating, ended_job, quiet)
    assert verdict.outcome is Outcome.FAIL and verdict.subject == notice


def test_what_nobody_knows_is_unknown():
    unknown_job = a_job(JobState.UNKNOWN, "tiny-2")

    assert answer(second_writer, LiveJobs((unknown_job,))).outcome is Outcome.UNKNOWN
    assert (
        answer(second_writer, {LiveJobs: Unavailable("squeue: time-out")}).outcome
        is Outcome.UNKNOWN
    )
    assert answer(second_writer, {Job: Unavailable("squeue: time-out")}).outcome is Outcome.UNKNOWN


def test_it_asks_a_person_and_holds_a_relaunch_back():
    assert second_writer.response is Response.ESCALATE
    assert second_writer.vetoes_relaunch


def test_a_part_of_the_job_next_to_another():
    words = "pod tiny-1-a runs together with tiny-1-b"
    verdict = answer(second_writer, a_job(other_writers=(words,)))

    assert (verdict.outcome, verdict.message) == (Outcome.FAIL, words)
