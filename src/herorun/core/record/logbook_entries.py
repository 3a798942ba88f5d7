"""An event of the journal as an entry of the logbook."""

from collections.abc import Mapping
from datetime import UTC, datetime

from herorun.core.babysit.action_key import parse_key
from herorun.core.event import (
    Amended,
    CheckedIn,
    Decided,
    Done,
    Event,
    Failed,
    HandedOff,
    Launched,
    Launching,
    Noted,
    Ordered,
    Sealed,
    Word,
)
from herorun.core.markdown import bullets, code, one_line

CONTRACT = "## Run Contract"
INSTANCES = "## Launched Instances"
EVENTS = "## Event Log"
INSTANCE_LINES = (
    "Command",
    "Git SHA",
    "Dirty tree",
    "Source bundle/container",
    "Hardware/topology",
    "`initialize_from`",
    "Final step",
    "Checkpoint policy",
    "Babysitter/check cadence",
)
INSTANCE_FURTHER = ("DRI", "W&B run id/display name", "Output root", "Scheduler job", "Plan")
SEAL_FURTHER = ("W&B", "Output root", "Launch command", "Caveats")
EVENT_LINES = ("Status", "Evidence", "Decision", "Next")


def headline(at: datetime, title: str) -> str:
    """`### 2026-11-21 00:02 UTC - tiny-1`"""
    return f"### {at.astimezone(UTC):%Y-%m-%d %H:%M} UTC - {one_line(title)}"


def for_tracker(order: tuple[str, ...], lines: Mapping[str, str]) -> tuple[str, ...]:
    """The seed's names, with `Tracker` in the place of `W&B` where the run reports to something
    else.

    >>> for_tracker(("DRI", "W&B"), {"Tracker": "jsonl tiny"})
    ('DRI', 'Tracker')
    """
    return tuple(
        other if (other := name.replace("W&B", "Tracker")) in lines else name for name in order
    )


def entry_of(event: Event) -> tuple[str, str] | None:
    """Which section an event belongs to, and its entry; None for what only the machine needs."""
    match event:
        case Launched():
            lines = bullets(event.entry, _instance_names(event.entry))
            return INSTANCES, f"{headline(event.at, event.instance)}\n\n{lines}"
        case Amended():
            title = headline(event.at, f"amended by {event.instance}")
            return CONTRACT, f"{title}\n\n{bullets(_one_line_each(event.lines))}"
        case Launching():
            return _event(event.at, f"{event.instance} requested", _launching_lines(event))
        case CheckedIn():
            return _event(event.at, f"{event.instance} checked in", _check_in_lines(event))
        case Decided() if event.summary:
            return _event(event.at, "nothing to report", _quiet_lines(event))
        case Done() if event.title:
            return _event(event.at, event.title, _one_line_each(event.lines))
        case Failed():
            return _event(event.at, "action failed", _failure_lines(event))
        case Noted():
            caveat = {"Caveat": event.caveat} if event.caveat else {}
            facts = _one_line_each({**event.lines, **caveat, "By": event.by})
            return _event(event.at, event.title, facts)
        case Ordered():
            return _event(event.at, f"{event.word} by {event.by}", _order_lines(event))
        case HandedOff():
            return _event(event.at, f"handed off to {event.to}", _one_line_each(event.facts))
        case Sealed():
            facts, title = _one_line_each(event.lines), headline(event.at, f"sealed as {event.tag}")
            lines = bullets(facts, EVENT_LINES + for_tracker(SEAL_FURTHER, facts))
            return EVENTS, f"{title}\n\n{lines}"
        case _:
            return None


def _one_line_each(lines: Mapping[str, str]) -> dict[str, str]:
    return {name: one_line(text) for name, text in lines.items()}


def _instance_names(entry: Mapping[str, str]) -> tuple[str, ...]:
    return for_tracker(INSTANCE_LINES + INSTANCE_FURTHER, entry)


def _launching_lines(event: Launching) -> dict[str, str]:
    lines = {
        "Status": f"{change_of(event)} of {event.instance} requested",
        "Evidence": f"plan {code(event.plan_digest)}",
        "Decision": one_line(event.why),
        "Next": f"{'check it again' if event.adopts else 'submit'}, then confirm one live job",
    }
    if event.overlooked:
        overlooked_text = "; ".join(event.overlooked)
        name, before = ("Policy", f"{event.policy}. ") if event.policy else ("Warnings", "")
        lines[name] = one_line(before + overlooked_text)
    return lines | {name: one_line(value) for name, value in event.facts.items()}


def _check_in_lines(event: CheckedIn) -> dict[str, str]:
    evidence = "; ".join(f"{item} {outcome}: {message}" for item, outcome, message in event.items)
    return {
        "Status": f"{event.instance} checked in: {event.outcome}",
        "Evidence": one_line(evidence),
        "Decision": "it may train" if event.outcome == "pass" else "it refused to train",
        "Next": "continue",
    }


def _quiet_lines(event: Decided) -> dict[str, str]:
    return {
        "Status": event.run,
        "Evidence": f"{one_line(event.summary)} (monitor {event.monitor})",
        "Decision": "none needed",
        "Next": "continue",
    }


def _failure_lines(event: Failed) -> dict[str, str]:
    return {
        "Status": f"{code(event.key)} failed (attempt {event.attempt})",
        "Evidence": one_line(event.why),
        "Decision": "not done",
        "Next": "retry or ask a person, as the contract allows",
    }


def change_of(launching: Launching) -> str:
    """What starting an instance is called."""
    if launching.given_up is not None:
        return "rollback"
    if launching.adopts is not None:
        return "adoption"
    return "relaunch" if launching.relaunch_of else "launch"


_ORDERS = {
    Word.ACK: ("acknowledged", "no reminders while it stays the same incident", "continue"),
    Word.APPROVE: (
        "a relaunch is approved",
        "relaunch",
        "at the next tick, through the launch gate",
    ),
    Word.DENY: (
        "a relaunch is denied",
        "no relaunch",
        "a person launches again, or seals what there is",
    ),
    Word.PAUSE: ("paused", "neither relaunch nor stop", "monitor, notify and ask as before"),
    Word.RESUME: ("resumed", "act again as the contract says", "monitor"),
    Word.STOP: ("a stop is ordered", "stop", "confirm the end"),
    Word.RELAUNCH: ("a relaunch is ordered", "relaunch", "submit through the launch gate"),
    Word.ROLLBACK: (
        "a rollback is ordered",
        "continue from an earlier checkpoint",
        "submit through the launch gate",
    ),
}


_FOR_JUDGE = {
    Word.APPROVE: (
        "a new version of herorun is approved",
        "it may act",
        "act as the contract says",
    ),
    Word.DENY: ("a new version of herorun is denied", "it only observes", "monitor; a person acts"),
}


def _order_lines(event: Ordered) -> dict[str, str]:
    texts = _FOR_JUDGE if any(parse_key(key).judged_version for key in event.about) else _ORDERS
    status, decision, after = texts[event.word]
    until = f" until {event.until.astimezone(UTC):%Y-%m-%d %H:%M} UTC" if event.until else ""
    return {
        "Status": status + until,
        "Evidence": one_line("; ".join(event.about) or "none was given"),
        "Decision": one_line(f"{decision}{f': {event.reason}' if event.reason else ''}"),
        "Next": after,
        "By": one_line(event.by),
    }


def _event(at: datetime, title: str, lines: Mapping[str, str]) -> tuple[str, str]:
    return EVENTS, f"{headline(at, title)}\n\n{bullets(lines, EVENT_LINES)}"
