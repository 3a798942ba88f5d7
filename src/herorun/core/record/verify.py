"""Whether the record is append-only: the content of each of its commits in, faults out. Pure.

Append-only holds per section: journal segments only grow at their end, entries in Launched
Instances and in the Event Log only grow, the Run Contract stays and only dated amendments are added
below it, and a page of the logbook that another follows never changes. The journal's hash chain is
checked, and every entry of the logbook is compared with its journal line, over all pages.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from itertools import chain, pairwise

from herorun.core.event import Newer
from herorun.core.finding import count
from herorun.core.journal import BrokenJournal, JournalLine, read_lines
from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_regex import lazy_regex
from herorun.core.record.logbook import page_heading, page_path, parts, reopen_page
from herorun.core.record.logbook_entries import CONTRACT, EVENTS, INSTANCES
from herorun.core.record.render import MARK, entry_digest

CLOCKS = timedelta(hours=1)  # by which the clocks of two machines may differ without a word
_ENTRY = lazy_regex(r"^### ", re.MULTILINE)


@dataclass(frozen=True)
class RecordSnapshot:
    """The record at one commit."""

    commit: str
    parents: tuple[str, ...]
    segments: Mapping[str, bytes]
    pages: Mapping[str, bytes]  # of the logbook, by path, the first of them first


@dataclass(frozen=True)
class Sections:
    """A page's parts, entries apart. `stray` is what stands in a section before its first entry."""

    head: str
    amendments: tuple[str, ...]  # of the Run Contract
    instances: tuple[str, ...]
    events: tuple[str, ...]
    stray: str


@dataclass(frozen=True)
class HistoryVerdict:
    """What a walk through the history found.

    `newer` counts the lines that only a newer herorun understands; `dated` says which lines are
    older than the one before, which proves nothing: another clone's queued events are, and those
    after a clock was set back.
    """

    faults: tuple[str, ...]
    commits: int
    entries: int
    newer: int
    dated: str = ""


def judge_history(history: Iterable[RecordSnapshot]) -> HistoryVerdict:
    """Walk it once, oldest first, holding two commits at a time: a long history is larger than the
    memory.
    """
    faults: list[str] = []
    last, commits = None, 0
    for snapshot in history:
        if last is not None:
            faults += [*_between(last, snapshot), *_parents(snapshot)]
        last, commits = snapshot, commits + 1
    if last is None:
        return HistoryVerdict((), 0, 0, 0)
    entries = sum(data.count(b"\n") for data in last.segments.values())
    try:
        lines = _read_journal(last)
    except BrokenJournal as error:
        return HistoryVerdict((*faults, f"journal: {error}"), commits, entries, 0)
    faults += [
        *_twice(lines),
        *_list_unlinked_pages(last.pages),
        *_disagreements(lines, last.pages),
    ]
    newer = sum(isinstance(line.event, Newer) for line in lines)
    return HistoryVerdict(tuple(faults), commits, entries, newer, _describe_backdated_lines(lines))


def _describe_backdated_lines(lines: Sequence[JournalLine]) -> str:
    """The lines that are dated over an hour before the one that they follow; empty for none."""
    timed_lines = [line for line in lines if not isinstance(line.event, Newer)]
    back = {after.id: before.event.at - after.event.at for before, after in pairwise(timed_lines)}
    back = {name: by for name, by in back.items() if by > CLOCKS}
    if not back:
        return ""
    most = max(back, key=lambda name: back[name])
    return (
        f"{count(len(back), 'event')} dated before the one that came first, the most by "
        f"{back[most]} (event {most}): "
        "queued by another clone, written while a clock was wrong, or back-dated"
    )


def _parents(snapshot: RecordSnapshot) -> list[str]:
    if len(snapshot.parents) == 1:
        return []
    return [
        (
            f"{_short_commit(snapshot)}: has {count(len(snapshot.parents), 'parent')}, but the "
            "record is one line of commits"
        )
    ]


def _between(before: RecordSnapshot, after: RecordSnapshot) -> list[str]:
    faults = []
    for path, old in before.segments.items():
        new = after.segments.get(path)
        if new is old:
            continue
        if new is None:
            faults.append(f"{_short_commit(after)}: {path} was removed")
        elif not new.startswith(old):
            faults.append(f"{_short_commit(after)}: {path}: earlier lines were changed or removed")
    return [
        *faults,
        *(
            f"{_short_commit(after)}: {fault}"
            for fault in _pages_between(before.pages, after.pages)
        ),
    ]


def _pages_between(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> Iterator[str]:
    """Pages that were removed, or changed otherwise than by entries at the end of the newest one's
    sections.
    """
    if before and not after:
        yield "the logbook was removed"
        return
    for path, old in before.items():
        new = after.get(path)
        if new is None:
            yield f"{path} was removed"
        elif new is not old and new != old:
            newest = path == [*before][-1]
            yield from (
                _list_page_changes(path, old, new)
                if newest
                else [f"{path} was changed after it was closed"]
            )


def _list_page_changes(path: str, before: bytes, after: bytes) -> Iterator[str]:
    old, new = sections(_decode_page(before)), sections(_decode_page(after))
    if old.head != new.head:
        yield (
            f"the {'Run Contract section' if CONTRACT in old.head else f'head of {path}'} was "
            "changed"
        )
    if old.stray != new.stray:
        yield "text without an entry was put into the logbook"
    for name, old_entries, new_entries in (
        (CONTRACT, old.amendments, new.amendments),
        (INSTANCES, old.instances, new.instances),
        (EVENTS, old.events, new.events),
    ):
        if new_entries[: len(old_entries)] != old_entries:
            yield f"an entry under {name.removeprefix('## ')} was changed, moved or removed"


def sections(page: str) -> Sections:
    """A page's three parts, entries apart."""
    top, instances, events = parts(page)
    head, mark, amendments = top.partition("\n### ") if CONTRACT in top else (top, "", "")
    stray = "".join(_ENTRY.split(part, maxsplit=1)[0] for part in (instances, events))
    amendment_entries = _entries(f"{mark}{amendments}".lstrip("\n"))
    return Sections(
        head.strip(), amendment_entries, _entries(instances), _entries(events), stray.strip()
    )


def _entries(text: str) -> tuple[str, ...]:
    marks = [*(match.start() for match in _ENTRY.finditer(text)), len(text)]
    return tuple(text[start:end].strip() for start, end in pairwise(marks))


def _decode_page(page: bytes) -> str:
    return page.decode("utf-8", "replace")


def _list_unlinked_pages(pages: Mapping[str, bytes]) -> Iterator[str]:
    """Pages that do not name the one that comes next, or the one before."""
    paths = list(pages)
    if not paths:
        return
    first = paths[0]
    for number, path in enumerate(paths, start=1):
        expected_path, text = page_path(first, number), _decode_page(pages[path])
        if path != expected_path:
            yield f"logbook: its page {expected_path} is missing"
            return
        if number > 1 and parts(text)[0] != parts(page_heading(first, number))[0]:
            yield f"logbook: {path} does not begin as its page {number} does"
        next_page, after = reopen_page(text)[1], page_path(first, number + 1)
        if number == len(paths) and next_page:
            yield f"logbook: {path} says that it continues in {next_page}, which does not exist"
        elif number < len(paths) and next_page != after.rpartition("/")[2]:
            yield f"logbook: {path} does not end with the link to {after}"


def _read_journal(snapshot: RecordSnapshot) -> list[JournalLine]:
    return read_lines(
        (f"{path}:{number}", raw.decode("utf-8", "replace"))
        for path in sorted(snapshot.segments)
        for number, raw in enumerate(snapshot.segments[path].splitlines(), start=1)
    )


def _twice(lines: Sequence[JournalLine]) -> list[str]:
    ids: set[str] = set()
    faults = []
    for line in lines:
        if line.id in ids:
            faults.append(f"journal: event {line.id} appears twice")
        ids.add(line.id)
    return faults


def _disagreements(lines: Sequence[JournalLine], pages: Mapping[str, bytes]) -> list[str]:
    """Logbook entries without a journal line, with another text, in another order, or missing."""
    split = [sections(_decode_page(page)) for page in pages.values()]
    entry_ids: set[str] = set()
    faults = (
        ["logbook: there is text that belongs to no entry"]
        if any(part.stray for part in split)
        else []
    )
    for entries in (
        [part.amendments for part in split],
        [part.instances for part in split],
        [part.events for part in split],
    ):
        faults += _false(lines, chain.from_iterable(entries), entry_ids)
    journal_ids = {line.id for line in lines if line.entry}
    return sorted(
        [
            *faults,
            *(f"logbook: the entry of event {name} is missing" for name in journal_ids - entry_ids),
        ]
    )


def _false(
    lines: Sequence[JournalLine], entries: Iterable[str], entry_ids: set[str]
) -> Iterator[str]:
    """What is wrong with the entries of one section; the ids of those that have a journal line are
    added to `entry_ids`.
    """
    by_id = {line.id: (number, line) for number, line in enumerate(lines) if line.entry}
    # whose entries we cannot tell from forged ones
    newer = any(isinstance(line.event, Newer) for line in lines)
    last = -1
    for text in entries:
        title = text.partition("\n")[0].removeprefix("### ")
        match = MARK.search(text)
        if match is None or match["id"] not in by_id:
            if not newer:
                why = (
                    "names an event that the journal does not have"
                    if match
                    else "has no journal line"
                )
                yield f"logbook: the entry '{title}' {why}"
            continue
        number, line = by_id[match["id"]]
        entry_ids.add(line.id)
        if (line.hash, line.entry) != (match["hash"], entry_digest(MARK.sub("", text))):
            yield f"logbook: the entry '{title}' differs from its journal line"
        if number <= last:
            yield f"logbook: the entry '{title}' stands in another place than its journal line"
        last = number


def _short_commit(snapshot: RecordSnapshot) -> str:
    return f"commit {snapshot.commit[:9]}"
