from dataclasses import replace

import pytest

from builders import (
    EVERY,
    MINUTE,
    NOON,
    a_checkpoint,
    a_contract,
    a_history,
    a_job,
    answer,
    answers,
    some_metrics,
)
from herorun.checks.health.dead_log_pattern import dead_log_pattern
from herorun.core.check import Response
from herorun.core.evidence import Checkpoints, JobLog, JobState, Metrics, Nothing, TrackerTraits
from herorun.core.finding import Outcome
from wording import mentions

MIB = 1 << 20
LEVANTER = a_contract(tracker={"kind": "levanter_log", "path": "train.log"})
NO_ROWS = {Metrics: Nothing("no rows yet")}
READS_LOG = TrackerTraits("Levanter's")


def ask_check(*changes):
    return answer(dead_log_pattern, LEVANTER, READS_LOG, *changes).outcome


def test_a_row_whose_line_is_overdue_is_named():
    (verdict,) = answers(dead_log_pattern, JobLog(overdue=(("heart", 8 * MIB, 9 * MIB),)))

    assert (verdict.outcome, verdict.subject) == (Outcome.FAIL, "heart")
    assert mentions(verdict.message, "9", "MiB", "heart", "8", "MiB")
    assert dead_log_pattern.response is Response.WARN


@pytest.mark.parametrize(
    ("size", "outcome"), [(16 * MIB, Outcome.NOT_APPLICABLE), (16 * MIB + 1, Outcome.FAIL)]
)
def test_much_log_without_levanters_progress(size, outcome):
    assert ask_check(NO_ROWS, JobLog(size=size)) is outcome


def test_a_checkpoint_of_this_job_without_levanters_progress():
    def saved_checkpoints(age):
        return Checkpoints((replace(a_checkpoint(90), modified=NOON - age),))

    (verdict,) = answers(dead_log_pattern, LEVANTER, READS_LOG, NO_ROWS, saved_checkpoints(MINUTE))
    assert (verdict.outcome, verdict.subject) == (Outcome.FAIL, "levanter_log")
    assert (
        answer(
            dead_log_pattern, LEVANTER, READS_LOG, NO_ROWS, saved_checkpoints(61 * MINUTE)
        ).outcome
        is Outcome.NOT_APPLICABLE
    )


def test_progress_that_was_seen_and_other_trackers():
    assert ask_check(JobLog(size=99 * MIB)) is Outcome.PASS
    assert (
        answer(dead_log_pattern, NO_ROWS, JobLog(size=99 * MIB)).outcome is Outcome.NOT_APPLICABLE
    )


def test_rows_of_an_earlier_instance_are_no_progress():
    again = a_history(2)
    assert (
        ask_check(some_metrics(instance="tiny-2"), again, a_job(instance="tiny-2")) is Outcome.PASS
    )
    old = some_metrics(instance="tiny-1", advanced_at=NOON - 99 * EVERY)
    job = a_job(instance="tiny-2")
    assert ask_check(old, again, job, JobLog(size=16 * MIB)) is Outcome.NOT_APPLICABLE
    assert ask_check(old, again, job, JobLog(size=16 * MIB + 1)) is Outcome.FAIL


def test_only_a_pattern_that_matched_passes():
    log = JobLog(overdue=(("heart", 8 * MIB, 9 * MIB),), matching=("pulse",))
    assert {v.subject: v.outcome for v in answers(dead_log_pattern, log)} == {
        "heart": Outcome.FAIL,
        "pulse": Outcome.PASS,
    }


def test_a_job_that_does_not_run():
    late = JobLog(overdue=(("heart", 8 * MIB, 9 * MIB),))
    assert answer(dead_log_pattern, a_job(JobState.FAILED), late).outcome is Outcome.NOT_APPLICABLE
