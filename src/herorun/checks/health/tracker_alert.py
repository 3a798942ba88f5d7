"""The trainer raised an alert in its own tracker.

Why: the author of the training code states what should never happen, but an alert on a panel does
not notify the DRI.
Fix: compare it with the rows of that step; the DRI decides. herorun takes no action on the job.
Source: trackio's alerts of level warn and error; one of level info is no finding. Nothing ends such
an alert, so each is reported for a day.
"""

from datetime import timedelta
from typing import ClassVar

from herorun.core.check import Gate, Response, Topic, check
from herorun.core.evidence import History, Now, TrackerAlert, TrackerAlerts
from herorun.core.finding import Verdict, count, failed, not_applicable, passed
from herorun.core.lazy_dataclass import dataclass

SILENT = "info"
MAX_TITLES = 10  # titles at once


@dataclass(frozen=True)
class Limits:
    """How long an alert is reported."""

    RENAMED: ClassVar = {"recent": "max_age"}

    max_age: timedelta = timedelta(days=1)


@check(Gate.HEALTH, Response.WARN, topic=Topic.JOB)
def tracker_alert(
    alerts: TrackerAlerts, history: History, now: Now, limits: Limits
) -> list[Verdict]:
    """One verdict for each title that the current instance raised, by its newest alert."""
    current = history.current
    if current is None:
        return [not_applicable("no instance was launched yet")]
    since = max(current.since, now.at - limits.max_age)
    loud = [each for each in alerts.alerts if each.level.lower() != SILENT]
    mine = [each for each in loud if each.at and each.at >= since]
    by_title: dict[str, list[TrackerAlert]] = {}
    for each in mine:
        by_title.setdefault(each.title, []).append(each)
    verdicts = [_report_alert(same_alerts) for same_alerts in list(by_title.values())[-MAX_TITLES:]]
    return verdicts or [passed("the trainer raised no alert")]


def _report_alert(same_alerts: list[TrackerAlert]) -> Verdict:
    newest = same_alerts[-1]
    at = f" at step {newest.step}" if newest.step is not None else ""
    text = f": {newest.text}" if newest.text else ""
    times = f" ({count(len(same_alerts), 'time')})" if len(same_alerts) > 1 else ""
    message = f"the trainer raised an alert ({newest.level}), {newest.title!r}{at}{times}{text}"
    return failed(message, subject=newest.title)
