from datetime import timedelta

import pytest

from builders import MINUTE, NOON, a_history, a_job, an_instance, answer, answers
from herorun.checks.health.pending_too_long import pending_too_long
from herorun.core.check import Response, Topic
from herorun.core.evidence import History, JobLog, JobState, Metrics, Nothing, Receipt, Unavailable
from herorun.core.finding import Outcome
from herorun.core.health.queue_reasons import Waiting, why_waiting
from wording import mentions

SECOND = timedelta(seconds=1)
HOUR = 60 * MINUTE


def waiting(long, reason="Resources", **job):
    fields = {"started": None, "submitted": NOON - long, "reason": reason, **job}
    return answers(pending_too_long, a_job(JobState.PENDING, **fields))


def test_a_job_that_runs_waits_for_nothing():
    assert answer(pending_too_long).outcome is Outcome.NOT_APPLICABLE


SILENT = {Metrics: Nothing("no row"), JobLog: Nothing("no line"), Receipt: Nothing("no receipt")}


def called_running(long, signs, history=None):
    job = a_job(started=NOON - MINUTE, submitted=NOON - long)
    return answers(pending_too_long, job, history or a_history(), signs)


def test_running_without_a_row_a_line_or_a_receipt_is_unconfirmed_and_the_clock_runs():
    assert [v.outcome for v in called_running(30 * MINUTE, SILENT)] == [Outcome.PASS]
    (verdict,) = called_running(31 * MINUTE, SILENT)

    assert (verdict.outcome, verdict.subject) == (Outcome.FAIL, "tiny-1")
    assert mentions(verdict.message, "tiny-1", "unconfirmed", "31m")
    assert len(called_running(3 * HOUR, SILENT)) == 2


@pytest.mark.parametrize(
    "sign",
    [
        JobLog(changed_at=NOON),
        Metrics(step=1, rows=1, advanced_at=NOON),
        Receipt("tiny-1", 1, "pass"),
        a_history(checked_in=frozenset({"tiny-1"})),
    ],
)
def test_one_sign_of_the_instance_confirms_it(sign):
    history = sign if isinstance(sign, History) else a_history()
    signs = SILENT if isinstance(sign, History) else {**SILENT, type(sign): sign}
    assert [v.outcome for v in called_running(5 * HOUR, signs, history)] == [Outcome.NOT_APPLICABLE]


@pytest.mark.parametrize(
    "sign", [Receipt("tiny-0", 1, "pass"), Metrics(step=1, rows=1, advanced_at=NOON - 99 * HOUR)]
)
def test_a_sign_of_an_older_instance_confirms_nothing(sign):
    assert called_running(HOUR, {**SILENT, type(sign): sign})[0].outcome is Outcome.FAIL


@pytest.mark.parametrize("kind", [Metrics, JobLog, Receipt])
def test_what_could_not_be_read_neither_confirms_nor_denies(kind):
    (verdict,) = called_running(5 * HOUR, {**SILENT, kind: Unavailable("timed out")})
    assert verdict.outcome is Outcome.UNKNOWN


def test_half_an_hour_is_too_long():
    assert [v.outcome for v in waiting(30 * MINUTE)] == [Outcome.PASS]
    (verdict,) = waiting(30 * MINUTE + SECOND)

    assert (verdict.outcome, verdict.subject) == (Outcome.FAIL, "tiny-1")
    assert mentions(verdict.message, "tiny-1", "pending", "30m")


@pytest.mark.parametrize(
    ("long", "subjects"),
    [
        (2 * HOUR, ["tiny-1"]),
        (2 * HOUR + SECOND, ["tiny-1", "tiny-1 after 2h"]),
        (24 * HOUR - SECOND, ["tiny-1", "tiny-1 after 2h"]),
        (24 * HOUR, ["tiny-1", "tiny-1 after 2h", "tiny-1 after 1d"]),
        (49 * HOUR, ["tiny-1", "tiny-1 after 2h", "tiny-1 after 1d", "tiny-1 after 2d"]),
    ],
)
def test_it_is_reported_again_after_two_hours_and_daily(long, subjects):
    assert [v.subject for v in waiting(long)] == subjects


def test_without_a_time_of_submission_the_record_decides():
    launched_history = a_history(instances=(an_instance(started=NOON - 31 * MINUTE),))
    unset = a_job(JobState.PENDING, started=None, reason="Resources")

    assert answer(pending_too_long, unset, launched_history).outcome is Outcome.FAIL
    assert answer(pending_too_long, unset, a_history(0)).outcome is Outcome.UNKNOWN


@pytest.mark.parametrize(
    "reason", ["Dependency", "BeginTime", "JobArrayTaskLimit", "Reserved for maintenance"]
)
def test_a_wait_that_was_asked_for_is_none(reason):
    assert [v.outcome for v in waiting(5 * HOUR, reason)] == [Outcome.NOT_APPLICABLE]


@pytest.mark.parametrize(
    ("reason", "kind"),
    [
        ("", Waiting.UNSTATED),
        ("None", Waiting.UNSTATED),
        ("Priority", Waiting.CAPACITY),
        (
            "Waiting for worker scale-up in scale group 'tpu_v5e_32' (1 slice(s) requested)",
            Waiting.CAPACITY,
        ),
        ("QOSMaxGRESPerUser", Waiting.QUOTA),
        ("AssocGrpGRES", Waiting.QUOTA),
        ("exceeded quota: gpus=64", Waiting.QUOTA),
        ("Pending on peer cw-us-east-08a", Waiting.PEER),
        ("SchedulingGated", Waiting.GANG),
        ("BadConstraints", Waiting.HARDWARE),
        ("Requested node configuration is not available", Waiting.HARDWARE),
        ("unsupported TPU topology 4x4", Waiting.HARDWARE),
        ("the moon is full", Waiting.OTHER),
    ],
)
def test_the_schedulers_words_have_classes(reason, kind):
    assert why_waiting(reason) is kind


def test_a_job_in_doubt_is_unknown():
    assert answer(pending_too_long, a_job(JobState.UNKNOWN)).outcome is Outcome.UNKNOWN


def test_it_tells_and_does_nothing_to_the_cluster():
    assert (pending_too_long.response, pending_too_long.topic) == (Response.WARN, Topic.JOB)


def test_what_never_starts_by_waiting_is_reported_sooner():
    reason = "pod tiny-1-x: CreateContainerConfigError: secret tokens not found"
    assert waiting(5 * MINUTE, reason)[0].outcome is Outcome.PASS
    (verdict,) = waiting(6 * MINUTE, reason)
    assert verdict.outcome is Outcome.FAIL and mentions(verdict.message, "never start", "tokens")
