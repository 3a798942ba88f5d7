"""Facts about a run that a tick and a status show in the same words."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from herorun.core.babysit.alert import AlertState
from herorun.core.finding import count
from herorun.output import clean


def describe_health(document: Mapping[str, Any]) -> str:
    """A run that has finished with open alerts is not only good news."""
    open_alerts = [each for each in document["alerts"] if each["state"] != AlertState.RESOLVED]
    has_open = document["run"] == "finished" and open_alerts
    return f"finished with {count(len(open_alerts), 'open alert')}" if has_open else document["run"]


def format_steps(progress: str) -> str:
    """The progress of a document, which is `~unknown/200` where no step was read.

    >>> format_steps("~120/200"), format_steps("~unknown/200"), format_steps("~unknown/unknown")
    ('step ~120/200', 'step unknown, final step 200', 'step unknown')

    A row of the final step is exact.

    >>> format_steps("~200/200")
    'step 200/200'
    """
    step, _, last = progress.partition("/")
    if step == f"~{last}" and last.isdecimal():
        return f"step {last}/{last}"
    if step != "~unknown":
        return f"step {progress}"
    return "step unknown" if last in ("", "unknown") else f"step unknown, final step {last}"


def describe_missing(missing: Mapping[str, Any]) -> str:
    until = f"; due by {cut_fraction(missing['until'])}" if missing["until"] else ""
    return f"{clean(missing['message'])}{until}"


ENDED_UNRESOLVED = "the job or its evidence ended before this check saw the problem go away"


def ended_notes(document: Mapping[str, Any], ack: str) -> list[str]:
    """What the state means, once, and what closes it."""
    states = [alert["state"] for alert in document["alerts"]]
    if AlertState.ENDED not in states:
        return []
    blocks = "" if " --job" in ack else "it blocks a seal until "
    closes = "" if blocks else " closes it, and starts nothing"
    return [f"{AlertState.ENDED}: {ENDED_UNRESOLVED}; {blocks}`{ack}`{closes}"]


def describe_alert(alert: Mapping[str, Any], gaps: Sequence[str], line: str) -> str:
    """Its message and next action. What a blind monitor could not read stands in another `line`."""
    if alert["check"] == "monitor-blind" and gaps:
        return f"{clean(alert['message'].partition(': ')[0])}: see {line}"
    # of the time before the end, but in the present tense
    head = "last reported: " if alert["state"] == AlertState.ENDED else ""
    return f"{head}{clean(alert['message'])}{next_action(alert)}"


def find_missing(document: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The missing evidence, without that whose reason the unread sources state already."""
    reasons = [reason for gap in document["unread"] if (reason := gap.partition(": ")[2])]
    return [
        missing
        for missing in document["missing_evidence"]
        if missing["until"] or not missing["message"].endswith(tuple(reasons))
    ]


def next_action(alert: Mapping[str, Any]) -> str:
    """What is over needs none."""
    needs_none = alert["state"] == AlertState.RESOLVED or not alert["fix"]
    return "" if needs_none else f"; next: {clean(alert['fix'])}"


def describe_unjudged(metric: Mapping[str, Any], is_finished: bool) -> str:
    """A run that is over gets no further row, so it is never judged."""
    row = None if is_finished else metric["until_row"]
    until = "" if row is None else f", at least until row {row} of the run"
    return (
        f"{', '.join(metric['checks'])} on {clean(metric['metric'])}{until}: "
        f"{clean(metric['reason'])}{'; look at the curve yourself' if is_finished else ''}"
    )


def cut_fraction(moment: str) -> str:
    """Nobody reads a millionth of a second."""
    return re.sub(r"\.\d+(?=Z$)", "", moment)


def describe_other_job(job: Mapping[str, str]) -> str:
    kind = "job of an earlier attempt" if job["kind"] == "old attempt" else f"{job['kind']} job"
    return (
        f"{clean(job['name'])}, job {clean(job['job'])}, {job['state']}: not monitored, because "
        f"the contract lists it as a {kind}"
    )


def last_command(document: Mapping[str, Any]) -> str:
    """The next command, without the one that takes the run over first."""
    first, _, second = str(document["next"]).partition(" && ")
    return second if first.startswith("herorun handoff ") else str(document["next"])
