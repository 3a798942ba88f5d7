from dataclasses import replace

import pytest

from builders import (
    MINUTE,
    NOON,
    a_checkpoint,
    a_history,
    a_job,
    a_receipt,
    an_instance,
    answer,
    some_metrics,
)
from herorun.checks.health.not_checked_in import not_checked_in
from herorun.core.check import Hold, Response
from herorun.core.evidence import Checkpoints, JobState, Metrics, Nothing, Receipt, Unavailable
from herorun.core.finding import Outcome
from wording import mentions

NO_RECEIPT = {Receipt: Nothing("not yet")}


def test_a_receipt_passes():
    assert answer(not_checked_in).message == "tiny-1 checked in"


def test_a_job_that_trains_without_one_fails():
    verdict = answer(not_checked_in, NO_RECEIPT)

    assert verdict.outcome is Outcome.FAIL
    assert mentions(verdict.message, "tiny-1", "100", "receipt")


def test_an_earlier_instances_receipt_does_not_count():
    assert answer(not_checked_in, a_receipt("tiny-0")).outcome is Outcome.FAIL


def test_a_recorded_one_counts_when_the_file_is_gone():
    assert (
        answer(not_checked_in, NO_RECEIPT, a_history(checked_in=frozenset({"tiny-1"}))).outcome
        is Outcome.PASS
    )


@pytest.mark.parametrize(
    ("age", "outcome"), [(0 * MINUTE, Outcome.FAIL), (2 * MINUTE, Outcome.NOT_APPLICABLE)]
)
def test_rows_of_an_earlier_instance_are_no_steps_of_this_one(age, outcome):
    now = a_history(instances=(an_instance(intended=NOON - MINUTE, started=NOON),))

    assert (
        answer(not_checked_in, NO_RECEIPT, now, some_metrics(advanced_at=NOON - age)).outcome
        is outcome
    )


def test_no_step_yet_and_an_ended_job_are_not_applicable():
    assert (
        answer(not_checked_in, NO_RECEIPT, {Metrics: Nothing()}).outcome is Outcome.NOT_APPLICABLE
    )
    assert (
        answer(not_checked_in, NO_RECEIPT, a_job(JobState.FAILED)).outcome is Outcome.NOT_APPLICABLE
    )


def test_what_could_not_be_read_is_unknown():
    assert answer(not_checked_in, {Receipt: Unavailable("403")}).outcome is Outcome.UNKNOWN
    assert answer(not_checked_in, NO_RECEIPT, a_job(JobState.UNKNOWN)).outcome is Outcome.UNKNOWN
    assert answer(not_checked_in, NO_RECEIPT, a_job(JobState.GONE)).outcome is Outcome.UNKNOWN


def test_it_warns_after_two_ticks():
    assert not_checked_in.response is Response.WARN and not_checked_in.hold == Hold(ticks=2)


def test_a_checkpoint_of_its_own_shows_that_it_trains_where_no_row_does():
    own = Checkpoints((replace(a_checkpoint(250), modified=NOON - MINUTE),))
    verdict = answer(not_checked_in, NO_RECEIPT, {Metrics: Nothing()}, own)

    assert mentions(verdict.message, "tiny-1", "although", "250 was", "11:59", "UTC")
    assert mentions(verdict.details[0], "call", "herorun.check_in()")
