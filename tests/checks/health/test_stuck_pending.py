from datetime import timedelta

import pytest

from builders import MINUTE, NOON, a_contract, a_job, answer
from herorun.checks.health.stuck_pending import stuck_pending
from herorun.core.check import Response, Topic
from herorun.core.evidence import JobLog, JobState, Metrics, Nothing, Receipt, Unavailable
from herorun.core.finding import Outcome
from wording import mentions

HOUR = 60 * MINUTE
HERO = a_contract(hero=True)


def waiting(long, contract=HERO, reason="Resources"):
    job = a_job(JobState.PENDING, started=None, submitted=NOON - long, reason=reason)
    return answer(stuck_pending, job, contract)


def test_a_hero_run_that_waits_for_hours_needs_a_person():
    assert waiting(6 * HOUR).outcome is Outcome.PASS
    verdict = waiting(6 * HOUR + MINUTE)

    assert (verdict.outcome, verdict.subject) == (Outcome.FAIL, "tiny-1")
    assert mentions(verdict.message, "tiny-1", "pending", "6h1m", "6h", "Resources")
    assert (stuck_pending.response, stuck_pending.topic) == (Response.ESCALATE, Topic.JOB)


def test_an_ordinary_run_only_warns():
    assert waiting(99 * HOUR, a_contract(hero=False)).outcome is Outcome.NOT_APPLICABLE


@pytest.mark.parametrize("name", ["first", "first_wait"])  # the earlier one counts too
@pytest.mark.parametrize(("first", "hours"), [("30m", 6), ("4h", 12)])
def test_a_longer_declared_limit_counts_three_times(name, first, hours):
    thresholds = {"pending-too-long": {name: first}}
    contract = a_contract(hero=True, babysit={"thresholds": thresholds})

    assert waiting(hours * HOUR, contract).outcome is Outcome.PASS
    assert waiting(hours * HOUR + MINUTE, contract).outcome is Outcome.FAIL


def test_what_waiting_cannot_fix_needs_a_person_sooner():
    reason = "pod tiny-1-x: ErrImagePull"
    assert waiting(30 * MINUTE, reason=reason).outcome is Outcome.PASS
    assert waiting(31 * MINUTE, reason=reason).outcome is Outcome.FAIL


def test_a_wait_that_was_requested_needs_nobody():
    assert waiting(99 * HOUR, reason="BeginTime").outcome is Outcome.NOT_APPLICABLE


@pytest.mark.parametrize(
    ("metrics", "outcome"),
    [(Nothing("no row"), Outcome.FAIL), (Unavailable("timed out"), Outcome.UNKNOWN)],
)
def test_a_running_job_without_a_sign_still_waits(metrics, outcome):
    silent = {Metrics: metrics, JobLog: Nothing("no line"), Receipt: Nothing("no receipt")}
    job = a_job(started=NOON - MINUTE, submitted=NOON - timedelta(hours=7))
    assert answer(stuck_pending, job, HERO, silent).outcome is outcome
    assert answer(stuck_pending, job, HERO).outcome is Outcome.NOT_APPLICABLE


def test_a_job_in_doubt_is_unknown():
    assert answer(stuck_pending, a_job(JobState.UNKNOWN), HERO).outcome is Outcome.UNKNOWN
