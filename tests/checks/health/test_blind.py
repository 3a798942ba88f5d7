from datetime import timedelta

from builders import answer
from herorun.checks.health.blind import blind
from herorun.core.check import Hold, Topic
from herorun.core.evidence import Gaps, Unavailable
from herorun.core.finding import Outcome


def test_nothing_missed_passes():
    assert answer(blind).outcome is Outcome.PASS


def test_a_gap_fails_and_is_named():
    verdict = answer(blind, Gaps(("Job: time-out", "Metrics: 503"), 9))

    assert verdict.outcome is Outcome.FAIL
    assert verdict.message == "cannot read 2 of 9: Job: time-out, Metrics: 503"
    assert verdict.details == ("Job: time-out", "Metrics: 503")


def test_an_engine_that_does_not_count_is_unknown():
    assert answer(blind, {Gaps: Unavailable("nobody counted")}).outcome is Outcome.UNKNOWN


def test_it_is_about_the_monitor_and_holds_for_half_an_hour():
    assert blind.topic is Topic.MONITOR
    assert blind.hold == Hold(timedelta(minutes=30))
    assert not blind.vetoes_relaunch
