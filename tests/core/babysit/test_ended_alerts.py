"""How an alert ends where nothing shows that its condition is gone."""

from dataclasses import replace

from builders import NOON
from herorun.core.babysit.alert import Alert, AlertState
from herorun.core.babysit.ended_alerts import ANSWERED_BY_A_LAUNCH, as_ended, left_behind
from herorun.core.check import Gate, Topic
from herorun.discover import checks
from wording import mentions

HEALTH = {check.name: check for check in checks(Gate.HEALTH)}


def an_alert(check: str, message: str = "so") -> Alert:
    return Alert(
        check=check,
        subject="x",
        since=NOON,
        seen=NOON,
        state=AlertState.FIRING,
        message=message,
        instance="tiny-1",
    )


def test_a_launch_leaves_behind_what_it_neither_answers_nor_carries_on() -> None:
    names = {
        alert.check for alert in left_behind(map(an_alert, [*HEALTH, "no-such-check"]), HEALTH)
    }

    monitor = {name for name, check in HEALTH.items() if check.topic is Topic.MONITOR}
    assert names == set(HEALTH) - monitor - ANSWERED_BY_A_LAUNCH
    assert {"loss-spike", "stalled-steps"} <= names and set(HEALTH) >= ANSWERED_BY_A_LAUNCH


def test_what_continued_then_continues_no_more() -> None:
    going_on, over = an_alert("x", "12 steps, still in progress"), an_alert("x", "12 steps")

    assert mentions(as_ended(going_on).message, "12 steps", "still", "tiny-1 ended")
    assert as_ended(over) == replace(over, state=AlertState.ENDED)


def test_what_was_not_judged_any_more_keeps_what_it_said_of_that() -> None:
    alert = replace(an_alert("x", "still is so; not judged since"), not_judged="why")
    assert as_ended(alert) == replace(alert, state=AlertState.ENDED)
