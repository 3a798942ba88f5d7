from dataclasses import replace
from datetime import timedelta

import pytest

from builders import EVERY, MINUTE, NOON, answer
from herorun.checks.health.stale_monitor import stale_monitor
from herorun.core.check import Response, Topic
from herorun.core.evidence import Cadence, Heartbeat, LeaseSeen, Nothing, Unavailable
from herorun.core.finding import Outcome
from wording import mentions

SECOND = timedelta(seconds=1)
LIMITS = [(EVERY, 30 * MINUTE), (SECOND, 2 * MINUTE)]


def lease(idle, cadence=EVERY, mine=False):
    lease_seen = LeaseSeen(owner="eve@there", slug="tiny", unchanged_since=NOON - idle, mine=mine)
    return answer(stale_monitor, lease_seen, Heartbeat(), Cadence(cadence))


def heart(idle, cadence=EVERY, **result):
    beat = Heartbeat(**{"held": True, "at": NOON - idle, "own": False, **result})
    return answer(stale_monitor, {LeaseSeen: Nothing()}, beat, Cadence(cadence))


def test_nobody_else_watches():
    assert answer(stale_monitor).outcome is Outcome.NOT_APPLICABLE


@pytest.mark.parametrize(("cadence", "limit"), LIMITS)
def test_another_machines_lease_that_does_not_move(cadence, limit):
    assert lease(limit, cadence).outcome is Outcome.PASS
    verdict = lease(limit + SECOND, cadence)

    assert (verdict.outcome, verdict.subject) == (Outcome.FAIL, "eve@there")


@pytest.mark.parametrize(("cadence", "limit"), LIMITS)
def test_a_process_that_holds_the_lock_and_does_nothing(cadence, limit):
    assert heart(limit, cadence).outcome is Outcome.PASS
    verdict = heart(limit + SECOND, cadence)

    assert (verdict.outcome, verdict.subject) == (Outcome.FAIL, "this machine")


def test_an_age_that_only_the_clock_tells_is_said_to_be_one():
    lease_seen = LeaseSeen(owner="eve@there", slug="tiny", unchanged_since=NOON - EVERY, mine=False)
    steady, set_ = (
        answer(stale_monitor, replace(lease_seen, by_wall_clock=each), Heartbeat(), Cadence(EVERY))
        for each in (False, True)
    )
    assert not mentions(steady.message, "uptime")
    assert mentions(set_.message, "clock", "uptime")


def test_our_own_signs_are_not_judged():
    assert lease(timedelta(days=1), mine=True).outcome is Outcome.NOT_APPLICABLE
    assert heart(timedelta(days=1), own=True).outcome is Outcome.NOT_APPLICABLE
    assert heart(timedelta(days=1), held=False).outcome is Outcome.NOT_APPLICABLE


def test_a_lease_that_could_not_be_read_is_unknown():
    assert answer(stale_monitor, {LeaseSeen: Unavailable("403")}).outcome is Outcome.UNKNOWN


def test_it_is_about_the_monitor():
    assert (stale_monitor.response, stale_monitor.topic) == (Response.ESCALATE, Topic.MONITOR)
