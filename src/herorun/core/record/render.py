"""Events as the logbook's Markdown, in the seed's shape. Pure: text in, text out.

Each entry carries a hidden id and the hash of its journal line, so that the two can always be
compared.
"""

from collections.abc import Iterable, Iterator, Mapping

from herorun.core.canonical_json import digest
from herorun.core.event import Event
from herorun.core.journal import JournalLine
from herorun.core.lazy_regex import lazy_regex
from herorun.core.markdown import bullets, code, one_line
from herorun.core.plan import Plan
from herorun.core.record.logbook_entries import CONTRACT, EVENTS, INSTANCES, entry_of, for_tracker
from herorun.core.redaction.scrub import scrub_argv

MARK = lazy_regex(r"<!-- herorun event=(?P<id>[0-9a-f]{16}) hash=(?P<hash>sha256:[0-9a-f]{64}) -->")

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


def new_logbook(template: str, title: str, contract: Mapping[str, str]) -> str:
    """The logbook before its first entry. The template holds `$title` and `$contract`."""
    return template.replace("$title", one_line(title)).replace(
        "$contract", bullets(contract, for_tracker(CONTRACT_LINES, contract))
    )


def entries_of(lines: Iterable[JournalLine]) -> Iterator[tuple[str, str]]:
    """The section and the text, hidden mark and all, of each line that has an entry."""
    for line in lines:
        if entry := entry_of(line.event):
            section, text = entry
            yield section, f"{text}\n<!-- herorun event={line.id} hash={line.hash} -->"


def add_entries(logbook: str, entries: Iterable[tuple[str, str]]) -> str:
    """The logbook with each text at the end of its section."""
    by_section: dict[str, list[str]] = {CONTRACT: [], INSTANCES: [], EVENTS: []}
    for section, text in entries:
        # What amends the contract stands below it, on the page that has it.
        by_section[section if section != CONTRACT or CONTRACT in logbook else EVENTS].append(text)
    if by_section[CONTRACT]:
        head, mark, tail = logbook.partition(f"\n{INSTANCES}")
        logbook = "\n\n".join([head.rstrip(), *by_section[CONTRACT]]) + f"\n{mark}{tail}"
    if by_section[EVENTS]:
        logbook = "\n\n".join([logbook.rstrip(), *by_section[EVENTS]]) + "\n"
    if by_section[INSTANCES]:
        head, mark, tail = logbook.partition(f"\n{EVENTS}")
        logbook = "\n\n".join([head.rstrip(), *by_section[INSTANCES]]) + f"\n{mark}{tail}"
    return logbook


def entry_digest(text: str) -> str:
    """What a journal line keeps of its entry's text, without the hidden mark."""
    return digest(text.strip())


def digest_of(event: Event) -> str:
    """The digest of an event's entry; empty for an event that has none."""
    entry = entry_of(event)
    return entry_digest(entry[1]) if entry else ""


def command_line(argv: tuple[str, ...]) -> str:
    """A command as a person would type it, secrets masked."""
    import shlex

    return shlex.join(scrub_argv(argv))


def instance_lines(
    plan: Plan,
    dri: str,
    babysitter: str,
    job: str,
    dirty: str = "no",
    policy: str = "",
    *,
    tracker_label: str,
) -> dict[str, str]:
    """The logbook's record of one launched instance."""
    start, tracker, hardware = plan.start.value, plan.tracker.value, plan.hardware.value
    bundle = plan.container.value or plan.bundle.value or f"exported tree {plan.code_tree.value}"
    start_text = f"{start.path} (step {start.step}, {start.kind})" if start else "none"
    return {
        "Command": code(command_line(plan.command_line)),
        "Git SHA": plan.commit.value,
        "Dirty tree": dirty,
        "Source bundle/container": one_line(bundle),
        "Hardware/topology": one_line(
            ", ".join(f"{k} {v}" for k, v in hardware.items()) or "not stated"
        ),
        "`initialize_from`": one_line(f"{start_text}; {plan.start.source}"),
        "Final step": one_line(str(plan.final_step)),
        "Checkpoint policy": one_line(str(plan.retention)),
        "Babysitter/check cadence": one_line(babysitter),
        "DRI": one_line(dri),
        f"{tracker_label} run id/display name": one_line(
            f"{tracker.id} / {tracker.name} ({tracker.kind}, resume {tracker.resume})"
        ),
        "Output root": one_line(plan.output_root.value),
        "Scheduler job": one_line(job),
        "Plan": plan.digest,
        **({"Policy": one_line(policy)} if policy else {}),
    }
