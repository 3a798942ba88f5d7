"""Is the record append-only? Pure: the content of each of its commits in, faults out.

Append-only holds per section: journal segments only grow at their end, entries in Launched Instances and in the
Event Log only grow, the Run Contract stays. The journal's hash chain is checked, and every entry of the logbook is
compared with its journal line.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from herorun.core.event import Newer
from herorun.core.journal import BrokenJournal, Line, read_lines
from herorun.core.render import EVENTS, INSTANCES, MARK, entry_digest

_ENTRY = re.compile(r"^### ", re.MULTILINE)


@dataclass(frozen=True)
class Snapshot:
    """The record at one commit."""

    commit: str
    parents: tuple[str, ...]
    segments: Mapping[str, bytes]
    logbook: str


@dataclass(frozen=True)
class Sections:
    contract: str
    instances: tuple[str, ...]
    events: tuple[str, ...]


@dataclass(frozen=True)
class Judged:
    """What a walk through the history found; `newer` counts the lines that only a newer herorun understands."""

    faults: tuple[str, ...]
    commits: int
    entries: int
    newer: int


def judge(history: Iterable[Snapshot]) -> Judged:
    """Walk it once, oldest first, holding two commits at a time: a long history is larger than the memory."""
    faults: list[str] = []
    last, commits = None, 0
    for snapshot in history:
        if last is not None:
            faults += [*_between(last, snapshot), *_parents(snapshot)]
        last, commits = snapshot, commits + 1
    if last is None:
        return Judged((), 0, 0, 0)
    entries = sum(data.count(b"\n") for data in last.segments.values())
    try:
        lines = _lines(last)
    except BrokenJournal as error:
        return Judged((*faults, f"journal: {error}"), commits, entries, 0)
    faults += [*_twice(lines), *_disagreements(lines, last.logbook)]
    return Judged(tuple(faults), commits, entries, sum(isinstance(line.event, Newer) for line in lines))


def faults_in(history: Iterable[Snapshot]) -> list[str]:
    """What does not fit, oldest first; empty for a record that only ever grew."""
    return list(judge(history).faults)


def _parents(snapshot: Snapshot) -> list[str]:
    if len(snapshot.parents) == 1:
        return []
    return [f"{_short(snapshot)}: has {len(snapshot.parents)} parents: the record is one line of commits"]


def _between(before: Snapshot, after: Snapshot) -> list[str]:
    faults = []
    for path, old in before.segments.items():
        new = after.segments.get(path)
        if new is old:
            continue
        if new is None:
            faults.append(f"{_short(after)}: {path} was removed")
        elif not new.startswith(old):
            faults.append(f"{_short(after)}: {path} was changed before its end")
    if before.logbook and not after.logbook:
        return [*faults, f"{_short(after)}: the logbook was removed"]
    if before.logbook == after.logbook:
        return faults
    old_sections, new_sections = sections(before.logbook), sections(after.logbook)
    if before.logbook and old_sections.contract != new_sections.contract:
        faults.append(f"{_short(after)}: the Run Contract section was changed")
    for name, old_entries, new_entries in (
        (INSTANCES, old_sections.instances, new_sections.instances),
        (EVENTS, old_sections.events, new_sections.events),
    ):
        if new_entries[: len(old_entries)] != old_entries:
            faults.append(
                f"{_short(after)}: an entry under {name.removeprefix('## ')} was changed, moved or removed"
            )
    return faults


def sections(logbook: str) -> Sections:
    """The logbook's three parts, entries apart."""
    head, _, rest = logbook.partition(f"\n{INSTANCES}")
    instances, _, events = rest.partition(f"\n{EVENTS}")
    return Sections(head.strip(), _entries(instances), _entries(events))


def _entries(text: str) -> tuple[str, ...]:
    marks = [*(found.start() for found in _ENTRY.finditer(text)), len(text)]
    return tuple(text[begin:end].strip() for begin, end in pairwise(marks))


def _lines(snapshot: Snapshot) -> list[Line]:
    return read_lines(
        (f"{path}:{number}", raw.decode("utf-8", "replace"))
        for path in sorted(snapshot.segments)
        for number, raw in enumerate(snapshot.segments[path].splitlines(), start=1)
    )


def _twice(lines: Sequence[Line]) -> list[str]:
    seen: set[str] = set()
    twice = [line.id for line in lines if line.id in seen or seen.add(line.id)]  # type: ignore[func-returns-value]  # add returns None on purpose
    return [f"journal: event {name} stands there twice" for name in twice]


def _disagreements(lines: Sequence[Line], logbook: str) -> list[str]:
    """Logbook entries without a journal line, with another text, or missing."""
    expected = {}
    newer = any(
        isinstance(line.event, Newer) for line in lines
    )  # whose entries we cannot tell from forged ones
    for line in lines:
        if line.entry:
            expected[line.id] = (line.hash, line.entry)
    faults, shown = [], set()
    parts = sections(logbook)
    for text in (*parts.instances, *parts.events):
        title = text.partition("\n")[0].removeprefix("### ")
        found = MARK.search(text)
        if newer and (found is None or found["id"] not in expected):
            continue
        if found is None:
            faults.append(f"logbook: the entry '{title}' has no journal line")
            continue
        shown.add(found["id"])
        if found["id"] not in expected:
            faults.append(f"logbook: the entry '{title}' names an event that the journal does not have")
        elif expected[found["id"]] != (found["hash"], entry_digest(MARK.sub("", text))):
            faults.append(f"logbook: the entry '{title}' differs from its journal line")
    for missing in expected.keys() - shown:
        faults.append(f"logbook: the entry of event {missing} is missing")
    return sorted(faults)


def _short(snapshot: Snapshot) -> str:
    return f"commit {snapshot.commit[:9]}"
