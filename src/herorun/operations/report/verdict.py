"""A report's verdict as a colour and a sentence, and why it has no estimate of the end."""

from herorun.core.goodput.instances import STALLS
from herorun.core.notify.notifications import describe_progress
from herorun.schemas.status import Status

ALL_READ = ("fresh", "not-needed")  # states of the monitor in which no evidence is missing
LEVELS = {
    "starting": "unknown",
    "healthy": "good",
    "finished": "good",
    "degraded": "warn",
    "down": "bad",
    "unknown": "unknown",
}


def no_estimate(status: Status) -> str:
    """Why there is no estimate; "" while the run is productive."""
    firing = {alert.check for alert in status.alerts if alert.state == "firing"}
    if status.stage in ("not initialised", "initialised"):
        return "none: nothing was launched yet"
    if status.run in ("down", "finished"):
        return f"none: the run is {status.run}"
    if stall_names := sorted(STALLS & firing):
        return f"none: no steps are made, {stall_names[0]} fires"
    if status.run == "starting":
        return "unknown: the run is starting"
    if status.run == "unknown":
        return "unknown: the state of the run could not be read"
    return ""


def level_of(status: Status) -> str:
    """`good`, `warn`, `bad` or `unknown`, for the colour."""
    firing = {alert.severity for alert in status.alerts if alert.state == "firing"}
    level = LEVELS[status.run]
    if level == "bad" or "critical" in firing:
        return "bad"
    if status.monitor not in ALL_READ or (status.missing_evidence and level == "good"):
        return "unknown"
    is_open = "warn" in firing or any(
        alert.state == "ended-unresolved" and alert.severity != "info" for alert in status.alerts
    )
    return "warn" if level == "good" and is_open else level


def verdict_text(slug: str, status: Status, progress: str, is_blind: bool = False) -> str:
    """One sentence: the state, the firing alerts, and the missing evidence; `is_blind`: the report
    could not read the rows.
    """
    steps_text = describe_progress(progress)
    at = f"{progress} steps" if steps_text == progress else f"an {steps_text}"
    if status.seal_tag:
        return f"{slug} is sealed as {status.seal_tag}, at {at}."
    if status.stage != "launched":
        return f"{slug} is {status.stage} and was not launched yet."
    ranks = {"critical": 0, "warn": 1, "info": 2}
    firing = sorted(
        (alert for alert in status.alerts if alert.state == "firing"),
        key=lambda alert: (ranks[alert.severity], alert.check),
    )
    names = list(dict.fromkeys(alert.check for alert in firing))
    alerts_text = (
        f"{_some(names)} fire{'s' if len(names) == 1 else ''}" if names else "no alert fires"
    )
    pending = [alert.check for alert in status.alerts if alert.state == "pending"]
    if pending:
        alerts_text += f"; pending: {_some(list(dict.fromkeys(pending)))}"
    others = [alert.check for alert in status.alerts if alert.state == "ended-unresolved"]
    if others:
        alerts_text += f"; ended unresolved: {_some(list(dict.fromkeys(others)))}"
    monitor_text = "" if status.monitor in ALL_READ else f"; the monitor is {status.monitor}"
    doubt = " by what could be read" if status.unread or is_blind else ""
    question_text = "; a decision is asked for" if status.questions else ""
    missing = "".join(f"; missing: {each.message}" for each in status.missing_evidence)
    metrics = list(dict.fromkeys(each.metric for each in status.unjudged))
    unjudged_text = f"; not judged: {_some(metrics)}" if metrics else ""
    return (
        f"{slug} is {status.run}{doubt} at {at}; "
        f"{alerts_text}{unjudged_text}{missing}{monitor_text}{question_text}."
    )


def _some(names: list[str]) -> str:
    return f"{', '.join(names[:3])}{f' and {len(names) - 3} more' if len(names) > 3 else ''}"
