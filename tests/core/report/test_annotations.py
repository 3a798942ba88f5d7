"""What happened, at the steps at which a curve shows it."""

from dataclasses import replace
from datetime import timedelta

from builders import NOON
from herorun.core.babysit.alert import Alert, AlertState
from herorun.core.event import Decided, Launched, Launching
from herorun.core.report.annotations import (
    AlertIncident,
    AttemptStart,
    Kind,
    alerts,
    incidents,
    launches,
    restarts,
)

HOUR = timedelta(hours=1)


def a_launching(number: int, start: object = None, of: str = "") -> Launching:
    plan = {"start": {"value": start}}
    return Launching(
        at=NOON,
        instance=f"tiny-{number}",
        number=number,
        plan=plan,
        plan_digest="sha256:0",
        why="because",
        contract_file="runs/tiny.toml",
        relaunch_of=of,
    )


def a_launched(number: int, hours: int = 0) -> Launched:
    return Launched(
        at=NOON + hours * HOUR,
        instance=f"tiny-{number}",
        number=number,
        job="4711",
        plan_digest="sha256:0",
        output_root="/data",
        commit="a" * 40,
        entry={},
    )


def a_tick(hours: int, *alerts: Alert) -> Decided:
    return Decided(
        at=NOON + hours * HOUR, run="degraded", monitor="fresh", progress="~1/2", alerts=alerts
    )


def an_alert(state: AlertState = AlertState.FIRING, message: str = "high") -> Alert:
    return Alert(
        check="loss-spike",
        subject="",
        since=NOON,
        seen=NOON,
        state=state,
        message=message,
        first_step=641,
    )


def test_an_instance_stands_where_it_continued_from() -> None:
    marks = launches(
        [
            a_launching(1),
            a_launched(1),
            a_launching(2, {"step": 400, "path": "/x"}, "tiny-1"),
            a_launched(2, 1),
        ]
    )
    assert [(mark.step, mark.title) for mark in marks] == [
        (0, "tiny-1: launch"),
        (400, "tiny-2: relaunch"),
    ]


def test_a_start_that_nobody_knows_is_reported() -> None:
    (mark,) = launches([a_launching(1, {"path": "/x"}), a_launched(1)])
    assert mark.step == 0 and "not known" in mark.note


def test_what_was_never_submitted_is_no_mark() -> None:
    assert launches([a_launching(1)]) == []


def test_only_restarts_that_no_launch_explains_are_attempts() -> None:
    events = [a_launched(1), a_launched(2, 5)]
    starts = [
        AttemptStart(1, 0, NOON + HOUR),
        AttemptStart(2, 90, NOON + 2 * HOUR),
        AttemptStart(3, 80, NOON + 6 * HOUR),
    ]
    assert [(mark.kind, mark.step) for mark in restarts(starts, events)] == [(Kind.ATTEMPT, 90)]


def test_without_times_each_launch_explains_one_attempt() -> None:
    starts = [AttemptStart(1, 0, None), AttemptStart(2, 90, None), AttemptStart(3, 80, None)]
    assert [mark.title for mark in restarts(starts, [a_launched(1), a_launched(2)])] == [
        "attempt 3"
    ]


def test_an_alert_is_one_incident_until_it_resolves() -> None:
    fires, over = an_alert(), an_alert(AlertState.RESOLVED)
    assert incidents([a_tick(1, an_alert(AlertState.PENDING))]) == []
    assert incidents([a_tick(1, fires), a_tick(2, an_alert(message="higher"))]) == [
        AlertIncident(an_alert(message="higher"))
    ]
    (incident,) = incidents([a_tick(1, fires), a_tick(3, over)])
    assert incident.resolved == NOON + 3 * HOUR
    assert alerts([incident])[0].step == 641


def test_a_new_instance_closes_what_was_open() -> None:
    (incident,) = incidents([a_tick(1, an_alert()), a_launched(2, 4)])
    assert incident == AlertIncident(an_alert(), NOON + 4 * HOUR, True)


def test_an_alert_stands_where_it_happened_and_not_where_it_was_noticed() -> None:
    noticed_alert = replace(an_alert(), steps=(121, 614))
    (mark,) = alerts([AlertIncident(noticed_alert)])
    assert (mark.step, mark.last) == (121, 614)
    (mark,) = alerts([AlertIncident(replace(noticed_alert, steps=None))])
    assert (mark.step, mark.last) == (641, 641)
