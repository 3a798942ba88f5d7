"""The durable record: journal and logbook on their own branch, written by git plumbing.

The truth is the commit at `refs/herorun/record/<slug>`. Recording never touches the user's checkout, so it can
never dirty the tree that it records.
"""

import contextlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path

from herorun import __version__
from herorun.core.canonical import canonical, plain
from herorun.core.codec import read as decode
from herorun.core.errors import Blocked, CouldNotLook, HerorunError, WrongUse
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
from herorun.core.journal import START, UNKNOWN, BrokenJournal, Line, Memory, chain, fold, read_lines
from herorun.core.logbook import add_to_pages, page_number, page_path, pages_of, whole
from herorun.core.outside import read_json
from herorun.core.remembered import Remembered, from_bytes, remembered, to_bytes
from herorun.core.render import digest_of, new_logbook
from herorun.core.scrub import scrub_tree
from herorun.system.files import locked, write_whole
from herorun.system.git import Repository
from herorun.system.packs import Pack, pack, packs_of, rows_of
from herorun.system.plumbing import RefMoved, commit_files, fetch, move_ref, push

HOME = ".agents/logbooks"
REMEMBER = 64  # lines after which what they amount to is kept on this machine
PACK = 64  # lines after which their commits are packed
SEGMENT = 128 * 1024  # bytes after which a day goes on in another file: each line writes its own anew
# These stand for no act: they may be written on top of what is remembered, without all lines being read again.
QUIET = (Observed, Decided, CheckedIn, Leased, Noted)


@dataclass(frozen=True)
class Pushed:
    """How a push ended. `why` is empty when the remote has everything."""

    why: str = ""

    def __bool__(self) -> bool:
        return not self.why


@dataclass(frozen=True)
class Known:
    """The memory, and which lines it was folded from."""

    memory: Memory
    lines: int
    newest: str  # id of the last of them


@dataclass
class _Content:
    """The record at one commit, parsed: the lines after what was `remembered`, or all of them."""

    tip: str | None = None
    lines: list[Line] = field(default_factory=list)
    segments: dict[str, bytes] = field(default_factory=dict)
    page: tuple[int, str] | None = None  # the logbook's newest, by number; None: not read yet
    memory: Memory = field(default_factory=Memory)
    remembered: Remembered | None = None
    kept: int = 0  # how many of the lines are in what this machine remembers

    @property
    def last_hash(self) -> str:
        if self.lines:
            return self.lines[-1].hash
        return self.remembered.hash if self.remembered else START

    @property
    def last_id(self) -> str:
        if self.lines:
            return self.lines[-1].id
        return self.remembered.id if self.remembered else ""

    @property
    def count(self) -> int:
        """All lines, those that were remembered included."""
        return len(self.lines) + (self.remembered.lines if self.remembered else 0)


class Record:
    """One run's record in one repository."""

    def __init__(
        self, repository: Repository, slug: str, branch: str, remote: str | None, template: Callable[[], str]
    ) -> None:
        self.repository = repository
        self.slug = slug
        self.branch = branch
        self.remote = remote
        self.ref = f"refs/herorun/record/{slug}"
        self.pushed_ref = f"refs/herorun/pushed/{slug}"
        self.logbook_path = f"{HOME}/{slug}.md"
        self.journal_path = f"{HOME}/{slug}.journal"
        self.files_path = f"{HOME}/{slug}.files"
        self._template = template
        self._content = _Content()

    # --- reading -----------------------------------------------------------------------------

    @property
    def tip(self) -> str | None:
        """The commit that holds the record; None before it is begun.

        Asked at every step: where the ref has a file of its own, git is not started for it.
        """
        return self.repository.loose(self.ref) or self.repository.resolve(self.ref)

    @property
    def pushed(self) -> str | None:
        """The newest record commit that this clone knows to be on the remote."""
        return self.repository.resolve(self.pushed_ref)

    @property
    def anchor(self) -> str | None:
        """The newest commit that may be named outside: one that no push can put on top of somebody else's anew."""
        return self.pushed if self.remote else self.tip

    def memory(self) -> Memory:
        """What the journal amounts to, as it stands now."""
        return self._read().memory

    def known(self) -> Known:
        """The same, with the place in the journal that it was folded up to."""
        content = self._read()
        return Known(content.memory, content.count, content.last_id)

    def lines(self) -> Sequence[Line]:
        return tuple(self._whole().lines)

    def recent(self, since: datetime) -> Sequence[Line]:
        """The lines of the days from then on, however long the journal is; the newest file at least."""
        content = self._read()
        names = [name for name, _ in self._segments(content.tip)] if content.tip else []
        wanted = [name for name in names if name[:8] >= f"{since:%Y%m%d}"] or names[-1:]
        paths = [f"{self.journal_path}/{name}" for name in wanted]
        files = self.repository.read(str(content.tip), paths) if paths else {}
        return read_lines(_places({path: data or b"" for path, data in files.items()}), UNKNOWN)

    def logbook(self) -> str:
        """All its pages as one text."""
        tip = self._read().tip
        paths = self._pages(tip)
        found = self.repository.read(tip, paths) if tip else {}
        return whole([(found[path] or b"").decode("utf-8", "replace") for path in paths])

    def newest_page(self) -> str:
        """The path of the logbook's page that entries go to."""
        return page_path(self.logbook_path, self._page(self._read())[0])

    def _pages(self, tip: str | None) -> list[str]:
        return pages_of(self.logbook_path, self.repository.names(tip, HOME)) if tip else []

    def _page(self, content: _Content) -> tuple[int, str]:
        """Read when it is asked for: most ticks write no entry."""
        if content.page is None:
            path = (self._pages(content.tip) or [self.logbook_path])[-1]
            found = self.repository.read(content.tip, [path]) if content.tip else {}
            text = (found.get(path) or b"").decode("utf-8", "replace")
            content.page = page_number(self.logbook_path, path) or 1, text
        return content.page

    def _read(self) -> _Content:
        tip = self.tip
        if tip != self._content.tip:
            self._content = self._load(tip, self._remembered()) if tip else _Content()
        return self._content

    def _whole(self) -> _Content:
        """Every line, read and checked; what was remembered must be what they amount to."""
        content = self._read()
        if content.remembered is not None and content.tip is not None:
            whole = self._load(content.tip)
            whole.kept = len(whole.lines) - len(content.lines) + content.kept
            self._content = whole
            if whole.memory != content.memory:
                self._keep.unlink(missing_ok=True)
                raise HerorunError(
                    f"What {self._keep} held of the record of {self.slug} was not what its journal says: it was deleted, nothing was done. Try again."
                )
        return self._content

    def _load(self, tip: str, known: Remembered | None = None) -> _Content:
        objects = self._segments(tip)
        paths = [f"{self.journal_path}/{name}" for name, _ in objects]
        known = known if known and known.is_of(objects) else None
        wanted = paths[known.older :] if known else paths
        files = self.repository.read(tip, wanted)
        segments = {path: files[path] or b"" for path in wanted}
        if known and not known.begins(segments[wanted[0]]):
            return self._load(tip)
        try:
            lines = read_lines(_places(segments, known.size if known else 0), known.hash if known else START)
        except BrokenJournal as error:
            raise HerorunError(
                f"The record of {self.slug} is damaged: {error}. `herorun logbook verify {self.slug}` tells more; nothing was changed."
            ) from None
        memory = fold((line.event for line in lines), known.memory if known else None)
        return _Content(tip, lines, segments, None, memory, known)

    def _segments(self, tip: str) -> list[tuple[str, str]]:
        """The journal's files by name and object, in their order."""
        return sorted((path, oid) for _, oid, path in self.repository.entries(tip, self.journal_path))

    @property
    def _keep(self) -> Path:
        return self.repository.common / "herorun" / f"{self.slug}.memory.json"

    def _remembered(self) -> Remembered | None:
        try:
            return from_bytes(self._keep.read_bytes(), __version__)
        except OSError:
            return None

    def _remember(self) -> None:
        """Keep what all lines amount to, now and then: without it they are folded again, and nothing is lost but time."""
        content = self._content
        if content.tip is None or len(content.lines) - content.kept < REMEMBER or content.memory.newer:
            return
        objects = self._segments(content.tip)
        data = content.segments[f"{self.journal_path}/{objects[-1][0]}"]
        last = content.last_hash, content.last_id
        told = to_bytes(remembered(objects, data, last, content.count, content.memory), __version__)
        with contextlib.suppress(OSError):
            if told:
                write_whole(self._keep, told)
            content.kept = len(content.lines)

    # --- writing -----------------------------------------------------------------------------

    def append(self, *events: Event, files: Mapping[str, bytes] | None = None) -> str:
        """Add events in one durable commit, and return it. Secrets are masked before anything is hashed."""
        clean = [_scrubbed(event) for event in events]
        with locked(self._lock, what="another herorun that writes this record"):
            tip = self._append(clean, files or {})
            self._remember()
            return tip

    def must_understand(self) -> None:
        """`WrongUse` where a newer herorun has written lines: then this one only looks."""
        self._must_understand(self._read())

    def _must_understand(self, content: _Content) -> None:
        if content.memory.newer:
            version = max(line.event.version for line in content.lines if isinstance(line.event, Newer))
            raise WrongUse(
                f"The record of {self.slug} is newer than this herorun (journal version {version}), "
                "which therefore only looks. Upgrade herorun."
            )

    def _append(self, events: Sequence[Event], files: Mapping[str, bytes]) -> str:
        acts = not all(isinstance(event, QUIET) for event in events)
        for _ in range(5):
            try:
                content = self._whole() if acts else self._read()
                self._content = self._written(self.ref, content, events, files)
            except RefMoved:
                continue
            return str(self._content.tip)
        raise CouldNotLook(f"The record of {self.slug} kept moving while it was written to. Try again.")

    def _written(
        self, ref: str, content: _Content, events: Sequence[Event], files: Mapping[str, bytes]
    ) -> _Content:
        """Commit events on top of some content; `ref` must stand there, and moves."""
        self._must_understand(content)
        self.must_understand()
        new = chain(events, content.last_hash, digest_of)
        segments = dict(content.segments)
        changed: dict[str, bytes] = {f"{self.files_path}/{name}": data for name, data in files.items()}
        for line in new:
            path = self._segment(line.event.at, segments)
            segments[path] = segments.get(path, b"") + line.text.encode() + b"\n"
            changed[path] = segments[path]
        page = content.page
        if any(line.entry or isinstance(line.event, Initialised) for line in new):
            pages = self._with_entries(*self._page(content), new)
            changed |= {path: text.encode() for path, text in pages.items()}
            newest = pages_of(self.logbook_path, pages)[-1]
            page = page_number(self.logbook_path, newest) or 1, pages[newest]
        tip = commit_files(self.repository, ref, content.tip, changed, self._message(events), events[-1].at)
        memory = fold((line.event for line in new), content.memory)
        return _Content(tip, [*content.lines, *new], segments, page, memory, content.remembered, content.kept)

    def _with_entries(self, number: int, page: str, new: Sequence[Line]) -> dict[str, str]:
        """The pages that change, by path."""
        begun = next((line.event for line in new if isinstance(line.event, Initialised)), None)
        if begun and not page:
            page = new_logbook(self._template(), self.slug, begun.contract)
        return add_to_pages(self.logbook_path, number, page, new)

    def _segment(self, at: datetime, segments: Mapping[str, bytes]) -> str:
        """The day's file, or the next of that day; never an earlier one than the newest, also when the clock steps back."""
        today = f"{self.journal_path}/{at:%Y%m%d}.jsonl"
        newest = max(today, max(segments, default=today))
        return newest if len(segments.get(newest, b"")) < SEGMENT else _next(newest)

    def _message(self, events: Sequence[Event]) -> str:
        return f"{self.slug}: {_subject(events)}\n\n[skip ci]\n"

    @property
    def _lock(self) -> Path:
        return self.repository.common / "herorun" / f"{self.slug}.record.lock"

    def tidy(self) -> None:
        """Pack what was committed, now and then. It saves room and nothing else: where it fails, nothing is lost."""
        with contextlib.suppress(HerorunError, OSError):
            self._tidy(self._read())

    def _tidy(self, content: _Content) -> None:
        told = self.repository.common / "herorun" / f"{self.slug}.packs.json"
        if content.tip is None:
            return
        try:
            kept = read_json(told.read_bytes())
            lines, packs = int(kept["lines"]), packs_of(kept["packs"])
        except (OSError, ValueError, KeyError, TypeError):
            lines, packs = 0, []
        if 0 <= content.count - lines < PACK:
            return

        def keep(lines: int, packs: Sequence[Pack]) -> None:
            write_whole(told, canonical({"lines": lines, "packs": rows_of(packs)}).encode())

        with locked(told.with_suffix(".lock"), 0.0):
            for left in told.parent.glob(f".{told.name}.*.new"):  # by one that was killed
                left.unlink(missing_ok=True)
            keep(content.count, pack(self.repository, self.slug, content.tip, packs, partial(keep, lines)))

    # --- the remote ----------------------------------------------------------------------------

    def push(self) -> Pushed:
        """Bring the remote up to date. What cannot go through stays queued and goes out at the next chance."""
        pushed = Pushed("there is no remote") if self.remote is None else self._brought(self.remote)
        self.tidy()
        return pushed

    def _brought(self, remote: str) -> Pushed:
        with locked(self._lock, what="another herorun that writes this record"):
            try:
                return self._push(remote)
            except HerorunError as error:
                return Pushed(str(error))

    def _push(self, remote: str) -> Pushed:
        tip, pushed = self.tip, self.pushed
        if tip is None or tip == pushed:
            return Pushed()
        self._must_be_a_branch_of_its_own()
        target = f"refs/heads/{self.branch}"
        try:
            push(self.repository, remote, tip, target, pushed)
        except CouldNotLook:
            there = self.repository.remote_tips(remote, target).get(target)
            if there is None and pushed:
                raise Blocked(
                    f"{self.branch} is gone from {remote}, where it was pushed before: find out why, or push it again (`git push {remote} {self.ref}:{target}`)."
                ) from None
            if there is None or there == pushed:
                raise
            self._adopt(remote, target)
            tip = self.tip or tip
            if tip != there:
                push(self.repository, remote, tip, target, there)
            pushed = self.pushed
        move_ref(self.repository, self.pushed_ref, tip, pushed)
        return Pushed()

    def _adopt(self, remote: str, target: str) -> None:
        """Somebody else pushed first: put our unpublished events on top of theirs, each event once.

        Our ref moves in one step at the end, so that an interruption loses nothing.
        """
        fetched = f"refs/herorun/fetched/{self.slug}"
        fetch(self.repository, remote, {target: fetched})
        theirs, ours = self.repository.resolve(fetched), self.tip
        assert theirs is not None and ours is not None
        if self.repository.is_ancestor(theirs, ours):
            return
        if self.pushed and not self.repository.is_ancestor(self.pushed, theirs):
            raise Blocked(
                f"{self.branch} on {remote} was rewritten: it does not hold {self.pushed[:9]}, which was pushed. A person must look."
            )
        self._must_hold_this_run(theirs)
        there = self._load(theirs)
        tail = _missing(self._whole(), there)
        if tail:
            there = self._written(fetched, there, tail, self._files_beside(ours, theirs))
        move_ref(self.repository, self.ref, str(there.tip), ours)

    def _files_beside(self, ours: str, theirs: str) -> dict[str, bytes]:
        """What only our side has beside the journal: contracts, configs, seal statements, by digest."""
        mine, known = (
            {path for _, _, path in self.repository.entries(commit, self.files_path)}
            for commit in (ours, theirs)
        )
        found = self.repository.read(ours, [f"{self.files_path}/{name}" for name in sorted(mine - known)])
        return {path.removeprefix(f"{self.files_path}/"): data for path, data in found.items() if data}

    def fetch(self) -> None:
        """Take over a record that exists on the remote and not here, as in a fresh clone.

        `WrongUse` where the branch that is to hold it holds something else.
        """
        if self.remote is None or self.tip is not None:
            return
        self._must_be_a_branch_of_its_own()
        target, fetched = f"refs/heads/{self.branch}", f"refs/herorun/fetched/{self.slug}"
        if target not in self.repository.remote_tips(self.remote, target):
            return
        fetch(self.repository, self.remote, {target: fetched})
        theirs = str(self.repository.resolve(fetched))
        self._must_hold_this_run(theirs)
        move_ref(self.repository, self.pushed_ref, theirs, self.pushed)
        move_ref(self.repository, self.ref, theirs, None)

    def published(self) -> Memory:
        """What the remote has of the record at this moment, as anybody outside can read it; ours does not move.

        `CouldNotLook` where the remote does not answer. Without a remote, what is here.
        """
        if self.remote is None:
            return self.memory()
        return self._published(self.remote).memory

    def published_lines(self) -> Sequence[Line]:
        """Every line that the remote has at this moment; none without a remote."""
        return tuple(self._published(self.remote).lines) if self.remote else ()

    def _published(self, remote: str) -> _Content:
        target, fetched = f"refs/heads/{self.branch}", f"refs/herorun/fetched/{self.slug}"
        if target not in self.repository.remote_tips(remote, target):
            return _Content()
        fetch(self.repository, remote, {target: fetched})
        theirs = str(self.repository.resolve(fetched))
        self._must_hold_this_run(theirs)
        content = self._load(theirs)
        with contextlib.suppress(HerorunError, OSError):
            self._tidy(content)
        return content

    def _must_be_a_branch_of_its_own(self) -> None:
        if self.branch in ("main", "master"):
            raise WrongUse(self._not_its_own("is where code lies"))

    def _must_hold_this_run(self, theirs: str) -> None:
        """What the branch on the remote has must be this run's record: code is never written on top of."""
        if not self.repository.entries(theirs, self.journal_path):
            raise WrongUse(self._not_its_own(f"holds something else on {self.remote}"))

    def _not_its_own(self, why: str) -> str:
        return (
            f"[logbook] branch = {self.branch!r} {why}: the record needs a branch of its own. "
            f"Name a new one, or remove the key for herorun/{self.slug}."
        )


def _next(segment: str) -> str:
    """`20260101.jsonl`, `20260101_002.jsonl`, `20260101_003.jsonl`: in this order by name too. The 999th holds the rest."""
    day, _, number = segment.removesuffix(".jsonl").rpartition("/")[2].partition("_")
    folder = segment.rpartition("/")[0]
    return f"{folder}/{day}_{min(999, int(number or 1) + 1):03}.jsonl"


def _places(segments: Mapping[str, bytes], known: int = 0) -> Iterable[tuple[str, str]]:
    """Every line after the first `known` bytes, by its place."""
    for path in sorted(segments):
        lines = segments[path][known:].splitlines()
        before = segments[path].count(b"\n", 0, known)
        for number, raw in enumerate(lines, start=before + 1):
            yield f"{path}:{number}", raw.decode("utf-8", "replace")
        known = 0


def _missing(ours: _Content, theirs: _Content) -> list[Event]:
    """Our events that they do not have. A run begins once: of two beginnings, the one that was pushed stands."""
    known = {line.id for line in theirs.lines}
    begun = theirs.memory.initialised is not None
    return [
        line.event
        for line in ours.lines
        if line.id not in known and not (begun and isinstance(line.event, Initialised))
    ]


def _scrubbed(event: Event) -> Event:
    # Through canonical JSON, so that what is rendered now is what will be rendered from the journal.
    return decode(type(event), json.loads(canonical(scrub_tree(plain(event)))))


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
