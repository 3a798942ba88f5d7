"""Writing the record in this clone: every event one durable commit, by compare-and-swap."""

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from herorun.core.errors import CouldNotLook, HerorunError, NewerRecord
from herorun.core.event import (
    CheckedIn,
    Decided,
    Done,
    Event,
    Initialised,
    Launched,
    Launching,
    Leased,
    Newer,
    Noted,
    Observed,
    Sealed,
)
from herorun.core.journal import JournalLine, chain, fold, scrub_event
from herorun.core.record.logbook import add_to_pages, page_number, pages_of
from herorun.core.record.render import digest_of, new_logbook
from herorun.record import maintenance
from herorun.record.model import Content, segment_at
from herorun.record.reader import RecordReader
from herorun.system.files import hold_lock
from herorun.system.git.leftovers import sweep
from herorun.system.git.plumbing import RefMoved, commit_files

# These stand for no act: they may be written on top of what is remembered, without all lines being
# read again.
QUIET = (Observed, Decided, CheckedIn, Leased, Noted)
WRITER = "another herorun that writes this record"


class RecordWriter(RecordReader):
    """One run's record in one repository: what this clone alone writes."""

    def append(self, *events: Event, files: Mapping[str, bytes] | None = None) -> str:
        """Add events in one durable commit, and return it. Secrets are masked before anything is
        hashed.
        """
        clean = [scrub_event(event) for event in events]
        with hold_lock(self._lock, what=WRITER):
            tip = self._append(clean, files or {})
            self._remember()
            maintenance.hold(self._memory_file, self._content, self._segments(tip))
            return tip

    def _remember(self) -> None:
        content = self._content
        if content.tip is not None and maintenance.due(content):
            segments = self._segments(content.tip)
            newest = content.segments[f"{self.journal_path}/{segments[-1][0]}"]
            self._content = maintenance.remember(self._memory_file, content, segments, newest)

    def must_understand(self) -> None:
        """`NewerRecord` if a newer herorun has written lines: this one must not write then."""
        self._must_understand(self._read())

    def _must_understand(self, content: Content) -> None:
        if content.memory.newer:
            version = max(
                line.event.version for line in content.lines if isinstance(line.event, Newer)
            )
            raise NewerRecord(
                f"The record of {self.slug} is newer than this herorun (journal version "
                f"{version}), "
                "which therefore only reads it. Upgrade herorun."
            )

    def _append(self, events: Sequence[Event], files: Mapping[str, bytes]) -> str:
        acts = not all(isinstance(event, QUIET) for event in events)
        for _ in range(5):
            try:
                content = self._checked_content() if acts else self._read()
                self._content = self._commit_events(self.ref, content, events, files)
            except RefMoved:
                continue
            return str(self._content.tip)
        raise CouldNotLook(
            f"The record of {self.slug} could not be written, because other processes changed it "
            "each time. Try again."
        )

    def _commit_events(
        self, ref: str, content: Content, events: Sequence[Event], files: Mapping[str, bytes]
    ) -> Content:
        """Commit events on top of some content; `ref` must stand there, and moves."""
        self._must_understand(content)
        self.must_understand()
        new = chain(events, content.last_hash, digest_of)
        segments = dict(content.segments)
        changed_files: dict[str, bytes] = {
            f"{self.files_path}/{name}": data for name, data in files.items()
        }
        for line in new:
            path = segment_at(self.journal_path, line.event.at, segments)
            segments[path] = segments.get(path, b"") + line.text.encode() + b"\n"
            changed_files[path] = segments[path]
        page = content.page
        if any(line.entry or isinstance(line.event, Initialised) for line in new):
            first = self._logbook_of(content)
            pages = self._with_entries(first, *self._page(content), new)
            changed_files |= {path: text.encode() for path, text in pages.items()}
            newest = pages_of(first, pages)[-1]
            page = page_number(first, newest) or 1, pages[newest]
        tip = commit_files(
            self.repository, ref, content.tip, changed_files, self._message(events), events[-1].at
        )
        memory = fold((line.event for line in new), content.memory)
        lines = [*content.lines, *new]
        return replace(content, tip=tip, lines=lines, segments=segments, page=page, memory=memory)

    def _with_entries(
        self, first: str, number: int, page: str, new: Sequence[JournalLine]
    ) -> dict[str, str]:
        """The pages that change, by path."""
        init_event = next((line.event for line in new if isinstance(line.event, Initialised)), None)
        if init_event and not page:
            page = new_logbook(self._template(), self.slug, init_event.contract)
        return add_to_pages(first, number, page, new)

    def _message(self, events: Sequence[Event]) -> str:
        return f"{self.slug}: {_subject(events)}\n\n[skip ci]\n"

    @property
    def _lock(self) -> Path:
        return self.repository.common / "herorun" / f"{self.slug}.record.lock"

    def pack_refs(self) -> None:
        """Pack what was committed, now and then. It saves room and nothing else: where it fails,
        nothing is lost.
        """
        sweep(self.repository.common)
        with contextlib.suppress(HerorunError, OSError):
            maintenance.pack_new(self.repository, self.slug, self._read())


def _subject(events: Sequence[Event]) -> str:
    """The seed's commit messages; the weightiest event names the commit."""
    kinds = {type(event) for event in events}
    if Initialised in kinds:
        return "start hero-run logbook"
    if Sealed in kinds:
        return "log final seal"
    launches = [e for e in events if isinstance(e, (Launching, Launched))]
    if launches:
        return "log relaunch" if any(e.relaunch_of for e in launches) else "log launch"
    if Noted in kinds:
        return "log note"
    if any(isinstance(e, Done) and e.title for e in events):
        return "log event"
    return "log check"
