from builders import NOON, answer
from herorun.checks.health.undelivered_escalation import undelivered_escalation
from herorun.core.check import Response, Severity, Topic
from herorun.core.evidence import Unavailable, Undelivered
from herorun.core.finding import Outcome
from wording import mentions

ONE = ("tiny-1 is not relaunched", NOON, "ALERTS did not accept it: it answered 500")
TWO = ("crashed [tiny-1] (critical)", NOON, "MAIL is not set, or is empty")


def test_what_was_told_passes():
    assert answer(undelivered_escalation).outcome is Outcome.PASS


def test_it_says_what_since_when_and_why():
    verdict = answer(undelivered_escalation, Undelivered((ONE,)))
    assert verdict.outcome is Outcome.FAIL
    assert mentions(verdict.message, "tiny-1", "2026-01-01", "12:00", "ALERTS", "answered", "500")


def test_several_are_one_incident_with_all_in_the_details():
    verdict = answer(undelivered_escalation, Undelivered((ONE, TWO)))
    assert (verdict.subject, len(verdict.details)) == ("", 2)
    assert verdict.message.endswith("; and 1 more")


def test_an_unread_record_is_unknown():
    unread_evidence = {Undelivered: Unavailable("damaged")}
    assert answer(undelivered_escalation, unread_evidence).outcome is Outcome.UNKNOWN


def test_it_escalates_about_the_monitor_and_holds_no_relaunch_back():
    assert (undelivered_escalation.response, undelivered_escalation.severity) == (
        Response.ESCALATE,
        Severity.CRITICAL,
    )
    assert undelivered_escalation.topic is Topic.MONITOR
    assert not undelivered_escalation.vetoes_relaunch
