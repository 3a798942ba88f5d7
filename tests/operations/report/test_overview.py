"""The alerts of a glance: the worst first."""

from dataclasses import replace

from builders import NOON
from herorun.core.babysit.alert import Alert, AlertState
from herorun.operations.report.overview import _alerts

STALLED = Alert(
    check="stalled-steps",
    subject="",
    since=NOON,
    seen=NOON,
    state=AlertState.FIRING,
    message="no step",
)


def test_the_worst_alert_stands_first() -> None:
    pending = replace(STALLED, check="loss-spike", state=AlertState.PENDING)
    firing = replace(STALLED, check="zero-loss")
    warning = replace(STALLED, check="clock-skew")
    names = [alert.check for alert in _alerts([warning, pending, firing, STALLED])]
    assert names == ["stalled-steps", "zero-loss", "loss-spike", "clock-skew"]
