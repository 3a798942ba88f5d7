"""Reading the record as it lies in this clone."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from herorun.core.contract.notify import is_logbook_path
from herorun.core.errors import HerorunError
from herorun.core.event import Sealed
from herorun.core.journal import (
    START,
    UNKNOWN,
    BrokenJournal,
    JournalLine,
    Memory,
    fold,
    read_lines,
)
from herorun.core.record.logbook import join_pages, page_number, page_path, pages_of
from herorun.record.maintenance import MemorySnapshot, forget, hold, memory_file, recent_snapshot
from herorun.record.model import Content, FoldedMemory, places
from herorun.system.git import Repository

HOME = ".agents/logbooks"
SUBMODULE = "160000"
# bytes of one file of a record: its journal's hold 128 KB, its largest is a manifest
MAX_BYTES = 64 << 20


class RecordReader:
    """One run's record in one repository: what reads it."""

    def __init__(
        self,
        repository: Repository,
        slug: str,
        branch: str,
        remote: str | None,
        template: Callable[[], str],
        logbook: str = "",
    ) -> None:
        self.repository = repository
        self.slug = slug
        self.branch = branch
        self.remote = remote
        self.ref = f"refs/herorun/record/{slug}"
        self.pushed_ref = f"refs/herorun/pushed/{slug}"
        self.journal_path = f"{HOME}/{slug}.journal"
        self.files_path = f"{HOME}/{slug}.files"
        self._template = template
        self._own_logbook = logbook
        self._memory_file = memory_file(repository, slug)
        self._content = Content()
        self._is_pinned = False
        self._matching_seals: list[Sealed] = []  # seals whose tag was seen to say the same
        # instances that nothing proves to be launches of ours
        self.rejected_launches: frozenset[str] = frozenset()
        # why it is unknown whether another clone has added to the record; empty if it is not
        self.remote_unread = ""
        # why what the remote has now must not be taken over: damaged, rewritten or another's
        self.remote_fault = ""
        self.is_unlisted = False  # the last listing of the remote had no such branch

    @property
    def logbook_path(self) -> str:
        """The logbook's first page, as the record was begun; before that, as the contract chooses.

        A journal that cannot be read is reported by its reader: a damaged record is still
        verified.
        """
        try:
            content = self._read()
        except HerorunError:
            content = Content()
        return self._logbook_of(content)

    def _logbook_of(self, content: Content) -> str:
        init_event = content.memory.initialised
        path = init_event.logbook if init_event else self._own_logbook
        return path if is_logbook_path(path) else f"{HOME}/{self.slug}.md"

    @contextmanager
    def pin(self) -> Iterator[None]:
        """Within it the record is as this object last read it: all that is shown of a run is of one
        moment, even if another process appends. Append nothing within it.
        """
        before, self._is_pinned = self._is_pinned, True
        try:
            yield
        finally:
            self._is_pinned = before

    @property
    def tip(self) -> str | None:
        """The commit that holds the record; None before it is begun.

        Asked at every step: where the ref lies in a file, git is not started for it.
        """
        if self._is_pinned and self._content.tip:
            return self._content.tip
        return self.repository.ref_object(self.ref) or self.repository.resolve(self.ref)

    @property
    def pushed_tip(self) -> str | None:
        """The newest record commit that this clone knows to be on the remote."""
        return self.repository.resolve(self.pushed_ref)

    @property
    def unpushed_lines(self) -> int:
        """Lines of the record that this clone does not know to be on the remote; 0 where the
        record has none.
        """
        tip, pushed_tip = self.tip, self.pushed_tip
        if self.remote is None or tip is None or tip == pushed_tip:
            return 0
        remote_count = self._load(pushed_tip, self._segments(pushed_tip)).count if pushed_tip else 0
        return max(0, self._read().count - remote_count)

    @property
    def anchor(self) -> str | None:
        """The newest commit that may be named outside: one that no push can rebase onto somebody
        else's.
        """
        return self.pushed_tip if self.remote else self.tip

    @property
    def address(self) -> str:
        """The remote's URL; empty where there is none."""
        return self.repository.remotes().get(self.remote or "", "")

    def memory(self) -> Memory:
        """The journal's present state, without what does not count."""
        return self._proven_only(self._read().memory)

    def memory_as_written(self) -> Memory:
        """With every line that was pushed there."""
        return self._read().memory

    def folded_memory(self) -> FoldedMemory:
        """The same as `memory`, with the place in the journal that it was folded up to."""
        content = self._read()
        return FoldedMemory(self._proven_only(content.memory), content.count, content.last_id)

    def _proven_only(self, memory: Memory) -> Memory:
        return memory.proven_only(
            self.rejected_launches, tuple(seal for seal, _ in self._unproven(memory))
        )

    def unproven_seals(self) -> tuple[tuple[Sealed, str], ...]:
        """The seals that the journal records and no tag states, each with the reason."""
        return self._unproven(self._read().memory)

    def _unproven(self, memory: Memory) -> tuple[tuple[Sealed, str], ...]:
        own_seals = [
            seal
            for seal in (*memory.milestones, memory.sealed)
            if seal and seal not in self._matching_seals
        ]
        if not own_seals:
            return ()
        from herorun.record.seals import seal_problem

        problems = [(seal, seal_problem(self.repository, self.slug, seal)) for seal in own_seals]
        self._matching_seals += [seal for seal, problem in problems if not problem]
        return tuple((seal, problem) for seal, problem in problems if problem)

    def lines(self) -> Sequence[JournalLine]:
        return tuple(self._read_all().lines)

    def newest_first(self) -> Iterator[JournalLine]:
        """The lines from the newest back. A file is read when the one after it is used up, so that
        the newest lines cost the same however long the journal is.
        """
        content = self._read()
        for row in reversed(self._segments(content.tip) if content.tip else []):
            yield from reversed(read_lines(places(self._contents([row])), UNKNOWN))

    def logbook(self) -> str:
        """All its pages as one text."""
        content = self._read()
        tip, paths = content.tip, self._pages(content)
        texts = self.repository.read(tip, paths, MAX_BYTES) if tip else {}
        return join_pages([(texts[path] or b"").decode("utf-8", "replace") for path in paths])

    def newest_page(self) -> str:
        """The path of the logbook's page that entries go to."""
        return page_path(self.logbook_path, self._page(self._read())[0])

    def _pages(self, content: Content) -> list[str]:
        first = self._logbook_of(content)
        if content.tip is None:
            return []
        folder = first.rpartition("/")[0]
        names = (
            self.repository.names(content.tip, folder)
            if folder
            else _at_the_top(self.repository, content.tip)
        )
        return pages_of(first, names)

    def _page(self, content: Content) -> tuple[int, str]:
        """Read when it is asked for: most ticks write no entry."""
        if content.page is None:
            first = self._logbook_of(content)
            path = (self._pages(content) or [first])[-1]
            texts = self.repository.read(content.tip, [path], MAX_BYTES) if content.tip else {}
            text = (texts.get(path) or b"").decode("utf-8", "replace")
            content.page = page_number(first, path) or 1, text
        return content.page

    def _read(self) -> Content:
        tip = self.tip
        if tip != self._content.tip:
            snapshot = recent_snapshot(self._memory_file) if tip else None
            objects = self._segments(tip) if tip else []
            if tip and not objects:
                raise HerorunError(self._damage(tip, BrokenJournal("it has no journal")))
            self._content = self._load(tip, objects, snapshot) if tip else Content()
            hold(self._memory_file, self._content, objects)
        return self._content

    def _read_all(self) -> Content:
        """Every line, read and checked. Nobody keeps them: a journal grows, and who watches a run
        lives as long as it.
        """
        content = self._checked_content()
        if content.remembered is None or content.tip is None:
            return content
        return self._load(content.tip, self._segments(content.tip))

    def _checked_content(self) -> Content:
        """The content as read here; the stored state covers all the lines before."""
        content = self._read()
        if content.remembered is not None and content.tip is not None and not content.checked:
            if self._reduce_journal(content.tip) != content.memory:
                forget(self._memory_file)
                self._content = self._load(content.tip, self._segments(content.tip))
                raise HerorunError(
                    f"The cache {self._memory_file} of the record of {self.slug} did not match the "
                    "journal and was deleted; nothing else was done. Try again."
                )
            content.checked = True
        return content

    def _reduce_journal(self, tip: str) -> Memory:
        """The state of the whole journal, read file by file: one of them is in memory at a time."""
        memory, last = Memory(), START
        for row in self._segments(tip):
            lines = self._lines(tip, self._contents([row]), 0, last)
            memory = fold((line.event for line in lines), memory)
            last = lines[-1].hash if lines else last
        return memory

    def _lines(
        self, tip: str, segments: Mapping[str, bytes], known_bytes: int, last: str
    ) -> list[JournalLine]:
        try:
            return read_lines(places(segments, known_bytes), last)
        except BrokenJournal as error:
            raise HerorunError(self._damage(tip, error)) from None

    def _damage(self, tip: str, error: BrokenJournal) -> str:
        """Where; what no longer works, if it is the record of this clone; and what shows more."""
        effect = (
            f"Until it is repaired, no command monitors, launches or stops {self.slug}; its job is "
            "left alone. "
            if tip == self.tip
            else ""
        )
        return (
            f"{self.slug} has a damaged record (commit {tip[:9]}, {error}). {effect}"
            f"`herorun verify {self.slug}` names the commit that damaged it, and what undoes it."
        )

    def _load(
        self,
        tip: str,
        objects: Sequence[tuple[str, str]],
        snapshot: MemorySnapshot | None = None,
    ) -> Content:
        """`objects` are the journal's files of that commit, as `_segments` tells them."""
        amount = snapshot.remembered if snapshot else None
        amount = amount if amount and amount.is_of(objects) else None
        new_objects = objects[amount.older :] if amount else objects
        segments = self._contents(new_objects)
        if amount and not amount.is_prefix_of(segments[f"{self.journal_path}/{new_objects[0][0]}"]):
            return self._load(tip, objects)
        lines = self._lines(
            tip, segments, amount.size if amount else 0, amount.hash if amount else START
        )
        memory = fold((line.event for line in lines), amount.memory if amount else None)
        content = Content(
            tip=tip, lines=lines, segments=segments, page=None, memory=memory, remembered=amount
        )
        if amount and snapshot:
            content.saved, content.checked = snapshot.saved, snapshot.checked
        return content

    def _segments(self, tip: str) -> list[tuple[str, str]]:
        """The journal's files by name and object, in their order; a submodule is none."""
        rows = self.repository.entries(tip, self.journal_path)
        return sorted((path, oid) for mode, oid, path in rows if mode != SUBMODULE)

    def _contents(self, rows: Sequence[tuple[str, str]]) -> dict[str, bytes]:
        """Path -> content, asked for by object: git looks for a path by reading the folder from
        its beginning, for each of the 100,000 files that somebody may have put there.
        """
        contents = self.repository.blobs([oid for _, oid in rows], MAX_BYTES)
        return {f"{self.journal_path}/{name}": contents[oid] for name, oid in rows}


def _at_the_top(repository: Repository, commit: str) -> list[str]:
    """The files that lie in no folder."""
    return [path for _, _, path in repository.entries(commit) if "/" not in path]
