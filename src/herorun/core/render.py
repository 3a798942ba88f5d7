"""Events as the logbook's Markdown, in the seed's shape. Pure: text in, text out.

Each entry carries a hidden id and the hash of its journal line, so that the two can be compared for
ever.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime

from herorun.core.action_key import parse_key
from herorun.core.canonical_json import digest
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
from herorun.core.identity.intent import is_wandb
from herorun.core.journal import JournalLine
from herorun.core.plan import Plan
from herorun.core.redaction.scrub import scrub_argv

CONTRACT = "## Run Contract"
INSTANCES = "## Launched Instances"
EVENTS = "## Event Log"
MARK = re.compile(r"<!-- herorun event=(?P<id>[0-9a-f]{16}) hash=(?P<hash>sha256:[0-9a-f]{64}) -->")

# The seed's template, line by line; what follows it in an entry are the seed's further record
# fields.
CONTRACT_LINES = (
    "DRI",
    "Goal",
    "Stop/escalation criteria",
    "Issue",
    "W&B",
    "Output root",
    "Final step",
)
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


_LINK = re.compile(r"\](?=[(\[])")  # what makes a link or an image of the words before it


_TAG = re.compile(r"<(?=[A-Za-z/!?])")
# `#12`, `owner/name#12`, `GH-12`
_NUMBERED = re.compile(r"(?<!&)#(?=\d)|\bGH-(?=\d)", re.IGNORECASE)
_BLOCK = re.compile(r"^( {0,3})(?=#{1,6}\s|`{3}|~{3}|={3}|-{3}|>|\||\[[^\]\n]*\]:)", re.MULTILINE)


def headline(at: datetime, title: str) -> str:
    """`### 2026-11-21 00:02 UTC - tiny-1`"""
    return f"### {at.astimezone(UTC):%Y-%m-%d %H:%M} UTC - {one_line(title)}"


def one_line(text: str, most: int = 2000) -> str:
    """Text from outside as one harmless line of Markdown: no line breaks, control characters or
    HTML.
    """
    flat = " ".join("".join(c if c.isprintable() or c.isspace() else "�" for c in text).split())
    flat = flat.replace("<", "&lt;").replace(">", "&gt;")
    flat = _LINK.sub("]\u200b", flat)
    return flat if len(flat) <= most else flat[: most - 1] + "…"


def unmentioned(text: str) -> str:
    """Text from outside for an issue: nobody is paged, and no other issue is linked, by what stands
    in a log line.
    """
    return _NUMBERED.sub("\\g<0>\u200b", re.sub(r"@(?=[\w-])", "@\u200b", text))


def worded(text: str) -> str:
    """The same without links, images, HTML and blocks: what a check says may quote a log, a file or
    a name.
    """
    return _BLOCK.sub("\\1\u200b", _TAG.sub("&lt;", _LINK.sub("]\u200b", unmentioned(text))))


_HANDLE = re.compile(r"@[A-Za-z0-9][A-Za-z0-9-]{0,38}(?:/[A-Za-z0-9_.-]{1,100})?(?![\w/-])")


def quoted(text: str) -> str:
    """What a person or a job wrote, as one line of a post: it pages nobody, links to nothing and
    ends nothing.
    """
    return worded(one_line(text))


def addressed(dri: str) -> str:
    """The DRI in a post, who is to be paged by the handle that the name begins with, and nobody
    else by the rest.
    """
    handle = _HANDLE.match(dri)
    return handle[0] + quoted(dri[handle.end() :]) if handle else quoted(dri)


def mentioning(dri: str, text: str) -> str:
    """A whole post that pages nobody but the DRI: its body may come from a record that others can
    push. An address such as user@machine pages nobody, and stays.

    >>> mentioning("@ana", "@ana, ask @bob at bob@box") == "@ana, ask @\u200bbob at bob@box"
    True
    """
    handle = _HANDLE.match(dri)
    ours = handle[0].lower() if handle else ""

    def checked(found: re.Match[str]) -> str:
        return found[0] if found[0].lower() == ours else f"@\u200b{found[0][1:]}"

    return re.sub(r"(?<![\w])@[\w-]+(?:/[\w.-]+)?", checked, text)


def code(text: str) -> str:
    """An inline code span that its content cannot close."""
    flat = " ".join("".join(c if c.isprintable() or c.isspace() else "�" for c in text).split())
    longest = max((len(run) for run in re.findall(r"`+", flat)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if flat.startswith("`") or flat.endswith("`") else ""
    return f"{fence}{pad}{flat}{pad}{fence}"


def bullets(lines: Mapping[str, str], order: tuple[str, ...] = ()) -> str:
    """`- Name: value`, the ordered names first (also where they are empty), then the rest as they
    come.
    """
    names = [*order, *(name for name in lines if name not in order)]
    return "\n".join(f"- {one_line(name)}: {lines.get(name, '')}".rstrip() for name in names)


def for_tracker(order: tuple[str, ...], lines: Mapping[str, str]) -> tuple[str, ...]:
    """The seed's names, with `Tracker` in the place of `W&B` where the run reports to something
    else.

    >>> for_tracker(("DRI", "W&B"), {"Tracker": "jsonl tiny"})
    ('DRI', 'Tracker')
    """
    return tuple(
        other if (other := name.replace("W&B", "Tracker")) in lines else name for name in order
    )


def new_logbook(template: str, title: str, contract: Mapping[str, str]) -> str:
    """The logbook before its first entry. The template holds `$title` and `$contract`."""
    return template.replace("$title", one_line(title)).replace(
        "$contract", bullets(contract, for_tracker(CONTRACT_LINES, contract))
    )


def add_lines(logbook: str, lines: Iterable[JournalLine]) -> str:
    """The logbook with the entry of each journal line at the end of its section; a line may have
    none.
    """
    return add_entries(logbook, entries_of(lines))


def entries_of(lines: Iterable[JournalLine]) -> Iterator[tuple[str, str]]:
    """The section and the text, hidden mark and all, of each line that has an entry."""
    for line in lines:
        if entry := entry_of(line.event):
            section, text = entry
            yield section, f"{text}\n<!-- herorun event={line.id} hash={line.hash} -->"


def add_entries(logbook: str, entries: Iterable[tuple[str, str]]) -> str:
    """The logbook with each text at the end of its section."""
    told: dict[str, list[str]] = {CONTRACT: [], INSTANCES: [], EVENTS: []}
    for section, text in entries:
        # What amends the contract stands below it, on the page that has it.
        told[section if section != CONTRACT or CONTRACT in logbook else EVENTS].append(text)
    if told[CONTRACT]:
        head, mark, tail = logbook.partition(f"\n{INSTANCES}")
        logbook = "\n\n".join([head.rstrip(), *told[CONTRACT]]) + f"\n{mark}{tail}"
    if told[EVENTS]:
        logbook = "\n\n".join([logbook.rstrip(), *told[EVENTS]]) + "\n"
    if told[INSTANCES]:
        head, mark, tail = logbook.partition(f"\n{EVENTS}")
        logbook = "\n\n".join([head.rstrip(), *told[INSTANCES]]) + f"\n{mark}{tail}"
    return logbook


def entry_digest(text: str) -> str:
    """What a journal line keeps of its entry's text, without the hidden mark."""
    return digest(text.strip())


def digest_of(event: Event) -> str:
    """The digest of an event's entry; empty for an event that has none."""
    entry = entry_of(event)
    return entry_digest(entry[1]) if entry else ""


def entry_of(event: Event) -> tuple[str, str] | None:
    """Which section an event belongs to, and its entry; None for what only the machine needs."""
    match event:
        case Launched():
            return (
                INSTANCES,
                (
                    f"{headline(event.at, event.instance)}\n\n"
                    f"{bullets(event.entry, _instance_names(event.entry))}"
                ),
            )
        case Amended():
            lines = {name: one_line(text) for name, text in event.lines.items()}
            return (
                CONTRACT,
                f"{headline(event.at, f'amended by {event.instance}')}\n\n{bullets(lines)}",
            )
        case Launching():
            return _event(event.at, f"{event.instance} requested", _launching_lines(event))
        case CheckedIn():
            return _event(event.at, f"{event.instance} checked in", _check_in_lines(event))
        case Decided() if event.summary:
            return _event(event.at, "all quiet", _quiet_lines(event))
        case Done() if event.title:
            return _event(event.at, event.title, {k: one_line(v) for k, v in event.lines.items()})
        case Failed():
            return _event(event.at, "action failed", _failure_lines(event))
        case Noted():
            lines = {k: one_line(v) for k, v in event.lines.items()}
            if event.caveat:
                lines["Caveat"] = one_line(event.caveat)
            return _event(event.at, event.title, lines | {"By": one_line(event.by)})
        case Ordered():
            return _event(event.at, f"{event.word} by {event.by}", _order_lines(event))
        case HandedOff():
            facts = {k: one_line(v) for k, v in event.facts.items()}
            return _event(event.at, f"handed off to {event.to}", facts)
        case Sealed():
            told = {k: one_line(v) for k, v in event.lines.items()}
            title = headline(event.at, f"sealed as {event.tag}")
            return (
                EVENTS,
                f"{title}\n\n{bullets(told, EVENT_LINES + for_tracker(SEAL_FURTHER, told))}",
            )
        case _:
            return None


def _instance_names(entry: Mapping[str, str]) -> tuple[str, ...]:
    return for_tracker(INSTANCE_LINES + INSTANCE_FURTHER, entry)


def _launching_lines(event: Launching) -> dict[str, str]:
    lines = {
        "Status": f"{turn_of(event)} of {event.instance} requested",
        "Evidence": f"plan {code(event.plan_digest)}",
        "Decision": one_line(event.why),
        "Next": f"{'look at it once more' if event.adopts else 'submit'}, then confirm one live job",  # noqa: E501  # one entry of a table, or one recorded value
    }
    if event.overlooked:
        overlooked = "; ".join(event.overlooked)
        name, before = ("Policy", f"{event.policy}. ") if event.policy else ("Warnings", "")
        lines[name] = one_line(before + overlooked)
    return lines | {name: one_line(told) for name, told in event.facts.items()}


def _check_in_lines(event: CheckedIn) -> dict[str, str]:
    said = "; ".join(f"{item} {outcome}: {message}" for item, outcome, message in event.items)
    return {
        "Status": f"{event.instance} checked in: {event.outcome}",
        "Evidence": one_line(said),
        "Decision": "it may train" if event.outcome == "pass" else "it refused to train",
        "Next": "watch",
    }


def _quiet_lines(event: Decided) -> dict[str, str]:
    return {
        "Status": event.run,
        "Evidence": f"{one_line(event.summary)} (monitor {event.monitor})",
        "Decision": "none needed",
        "Next": "watch",
    }


def _failure_lines(event: Failed) -> dict[str, str]:
    return {
        "Status": f"{code(event.key)} failed (attempt {event.attempt})",
        "Evidence": one_line(event.why),
        "Decision": "not done",
        "Next": "tried again or asked, as the contract allows",
    }


def turn_of(launching: Launching) -> str:
    """What starting an instance is called."""
    if launching.given_up is not None:
        return "rollback"
    if launching.adopts is not None:
        return "adoption"
    return "relaunch" if launching.relaunch_of else "launch"


_ORDERS = {
    Word.ACK: ("acknowledged", "not said again while it stays the same incident", "watch"),
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
    Word.PAUSE: ("paused", "neither relaunch nor stop", "watch, tell and ask as before"),
    Word.RESUME: ("resumed", "act again as the contract says", "watch"),
    Word.STOP: ("a stop is ordered", "stop", "confirm the end"),
    Word.RELAUNCH: ("a relaunch is ordered", "relaunch", "submit through the launch gate"),
    Word.ROLLBACK: ("a rollback is ordered", "go back", "submit through the launch gate"),
}


_FOR_JUDGE = {
    Word.APPROVE: ("a changed herorun is approved", "it may act", "as the contract says"),
    Word.DENY: ("a changed herorun is denied", "it only observes", "watch; a person acts"),
}


def _order_lines(event: Ordered) -> dict[str, str]:
    words = _FOR_JUDGE if any(parse_key(key).judged_version for key in event.about) else _ORDERS
    status, decision, after = words[event.word]
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


def tracker_name(kind: str) -> str:
    """What the logbook and the issue call the run's tracker."""
    return "W&B" if is_wandb(kind) else "Tracker"


def command_line(argv: tuple[str, ...]) -> str:
    """A command as a person would type it, secrets masked."""
    import shlex

    return shlex.join(scrub_argv(argv))


def instance_lines(
    plan: Plan, dri: str, babysitter: str, job: str, dirty: str = "no", policy: str = ""
) -> dict[str, str]:
    """The logbook's record of one launched instance."""
    start, tracker, hardware = plan.start.value, plan.tracker.value, plan.hardware.value
    bundle = plan.container.value or plan.bundle.value or f"exported tree {plan.code_tree.value}"
    started = f"{start.path} (step {start.step}, {start.kind})" if start else "none"
    return {
        "Command": code(command_line(plan.command_line)),
        "Git SHA": plan.commit.value,
        "Dirty tree": dirty,
        "Source bundle/container": one_line(bundle),
        "Hardware/topology": one_line(
            ", ".join(f"{k} {v}" for k, v in hardware.items()) or "not stated"
        ),
        "`initialize_from`": one_line(f"{started}; {plan.start.source}"),
        "Final step": one_line(str(plan.final_step)),
        "Checkpoint policy": one_line(str(plan.retention)),
        "Babysitter/check cadence": one_line(babysitter),
        "DRI": one_line(dri),
        f"{tracker_name(tracker.kind)} run id/display name": one_line(
            f"{tracker.id} / {tracker.name} ({tracker.kind}, resume {tracker.resume})"
        ),
        "Output root": one_line(plan.output_root.value),
        "Scheduler job": one_line(job),
        "Plan": plan.digest,
        **({"Policy": one_line(policy)} if policy else {}),
    }
