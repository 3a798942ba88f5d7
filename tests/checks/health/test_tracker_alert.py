from datetime import timedelta

import pytest

from builders import MINUTE, NOON, a_history, an_instance, answer, answers
from herorun.checks.health.tracker_alert import MAX_TITLES, Limits, tracker_alert
from herorun.core.check import Response
from herorun.core.evidence import TrackerAlert, TrackerAlerts, Unavailable
from herorun.core.finding import Outcome
from wording import mentions


def raise_alert(title="loss is up", age=MINUTE, level="warn", text="", step=99, number=1):
    at = None if age is None else NOON - age
    return TrackerAlert(
        number=number, attempt="3f2a", title=title, text=text, level=level, step=step, at=at
    )


def ask(*alerts, **result):
    return answer(tracker_alert, TrackerAlerts(alerts), **result)


def test_none_passes():
    assert ask().outcome is Outcome.PASS


def test_one_is_reported_with_its_level_step_and_text():
    verdict = ask(raise_alert(level="error", text="above 4"))

    assert (verdict.outcome, verdict.subject) == (Outcome.FAIL, "loss is up")
    assert mentions(verdict.message, "raised", "99", "4")
    assert "at step" not in ask(raise_alert(step=None)).message


@pytest.mark.parametrize("level", ["info", "INFO"])
def test_a_word_for_information_is_none(level):
    assert ask(raise_alert(level=level)).outcome is Outcome.PASS


def test_one_title_is_one_finding_by_its_newest():
    verdict = ask(raise_alert(step=1), raise_alert(step=2), raise_alert(step=3))

    assert mentions(verdict.message, "warn", "3", "3")
    many = TrackerAlerts(tuple(raise_alert(f"title {n}") for n in range(MAX_TITLES + 5)))
    assert len(answers(tracker_alert, many)) == MAX_TITLES


def test_one_of_an_earlier_instance_or_of_yesterday_is_over():
    long = a_history(instances=(an_instance(started=NOON - timedelta(days=9), intended=None),))

    assert ask(raise_alert(age=61 * MINUTE)).outcome is Outcome.FAIL
    assert ask(raise_alert(age=62 * MINUTE)).outcome is Outcome.PASS
    day, more = timedelta(days=1), timedelta(days=1, seconds=1)
    assert (
        answer(tracker_alert, long, TrackerAlerts((raise_alert(age=day),))).outcome is Outcome.FAIL
    )
    assert (
        answer(tracker_alert, long, TrackerAlerts((raise_alert(age=more),))).outcome is Outcome.PASS
    )
    assert ask(raise_alert(age=5 * MINUTE), limits=Limits(4 * MINUTE)).outcome is Outcome.PASS


def test_one_without_a_time_cannot_be_placed():
    assert ask(raise_alert(age=None)).outcome is Outcome.PASS


def test_what_could_not_be_read_is_unknown():
    assert answer(tracker_alert, {TrackerAlerts: Unavailable("locked")}).outcome is Outcome.UNKNOWN


def test_it_is_reported_and_nothing_is_done():
    assert tracker_alert.response is Response.WARN and not tracker_alert.vetoes_relaunch
