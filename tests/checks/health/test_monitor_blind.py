from datetime import timedelta

from builders import answer
from herorun.checks.health.monitor_blind import monitor_blind
from herorun.core.check import Hold, Topic
from herorun.core.evidence import Gaps, Unavailable
from herorun.core.finding import Outcome
from wording import mentions


def test_nothing_missed_passes():
    assert answer(monitor_blind).outcome is Outcome.PASS


def test_a_gap_fails_and_is_named():
    verdict = answer(monitor_blind, Gaps(("Job: time-out", "Metrics: 503"), 9))

    assert verdict.outcome is Outcome.FAIL
    assert mentions(verdict.message, "2 of 9", "job", "time-out", "metrics", "503")
    assert verdict.details == ("Job: time-out", "Metrics: 503")


def test_an_engine_that_does_not_count_is_unknown():
    assert answer(monitor_blind, {Gaps: Unavailable("nobody counted")}).outcome is Outcome.UNKNOWN


def test_it_is_about_the_monitor_and_holds_for_half_an_hour():
    assert monitor_blind.topic is Topic.MONITOR
    assert monitor_blind.hold == Hold(timedelta(minutes=30))
    assert not monitor_blind.vetoes_relaunch
