"""Fetches what other clones pushed of the record, unless it must not be taken over."""

import contextlib
from collections.abc import Mapping, Sequence

from herorun.core.errors import Blocked, CouldNotLook, HerorunError, WrongUse, describe_error
from herorun.core.journal import JournalLine, Memory
from herorun.core.redaction.scrub import scrub
from herorun.record import maintenance
from herorun.record.model import Content, missing
from herorun.record.writer import WRITER, RecordWriter
from herorun.system.files import hold_lock
from herorun.system.git import Repository
from herorun.system.git.plumbing import fetch, move_refs
from herorun.system.git.remote_refs import AskRemote, recent_tips

# seconds for the remote to say whether there is more: who has a record waits no longer for more
FOLLOWING = 20.0


class RemoteFault(Blocked):
    """What the remote has of the record must not be taken over: a person must check it."""


def fetch_together(repository: Repository, remote: str, slugs: Sequence[str]) -> None:
    """Fetch in one call what the remote has of several records and this clone has not, for the
    `Record.fetch` of each, which fetches what is missing: a branch with a name of its own.
    """
    if len(slugs) < 2 or remote not in repository.remotes():
        return
    with contextlib.suppress(HerorunError):
        tips, _ = recent_tips(repository, remote, FOLLOWING)
        kinds = ("record", "pushed", "fetched")
        refs = repository.refs(*(f"refs/herorun/{kind}/" for kind in kinds))
        new_refs = {}
        for slug in slugs:
            theirs = tips.get(f"refs/heads/herorun/{slug}")
            tip, pushed_tip, last_fetch = (
                refs.get(f"refs/herorun/{kind}/{slug}") for kind in kinds
            )
            if theirs not in (None, tip, pushed_tip, last_fetch):
                new_refs[f"refs/heads/herorun/{slug}"] = f"refs/herorun/fetched/{slug}"
        if len(new_refs) > 1:
            fetch(repository, remote, new_refs, loose=True)


class FetchedRecord(RecordWriter):
    """One run's record, and its state on the remote."""

    @property
    def _target(self) -> str:
        """The branch on the remote."""
        return f"refs/heads/{self.branch}"

    @property
    def _fetched_ref(self) -> str:
        return f"refs/herorun/fetched/{self.slug}"

    def fetch(self, ask: AskRemote | None = None, follow: bool = True) -> None:
        """Take over the part of the record that the remote has and this clone lacks: all of it, as
        in a fresh clone, or, to `follow`, what another clone added.

        `WrongUse` where the branch that is to hold it holds something else. Without `ask` the
        remote is asked for this branch alone. A record that is here stands where the remote cannot
        be read, or holds what must not be taken over; `remote_unread` and `remote_fault` say why.
        """
        if self.remote is None:
            return
        ask = ask or self._ask_for_branch
        if self.tip is None:
            self._fetch_first(self.remote, ask)
            return
        if not follow:
            return
        try:
            self._fast_forward(self.remote, ask)
            self.remote_unread = self.remote_fault = ""
        except (HerorunError, OSError) as error:
            self.remote_unread = scrub(describe_error(error)).rstrip(".")
            self.remote_fault = self.remote_unread if isinstance(error, RemoteFault) else ""

    def _ask_for_branch(self, remote: str, timeout: float | None) -> Mapping[str, str]:
        return self.repository.remote_tips(remote, self._target, timeout=timeout)

    def ask_recently(self, remote: str, timeout: float | None) -> Mapping[str, str]:
        """Heed a listing that another run of this process had seconds ago."""
        return recent_tips(self.repository, remote, timeout)[0]

    def _fetch_first(self, remote: str, ask: AskRemote) -> None:
        self._must_be_a_branch_of_its_own()
        target, fetched_ref = self._target, self._fetched_ref
        if target not in (tips := ask(remote, None)):
            return
        if self.repository.resolve(fetched_ref) != tips[target]:
            fetch(self.repository, remote, {target: fetched_ref})
        theirs = str(self.repository.resolve(fetched_ref))
        self._must_hold_this_run(theirs)
        moves = [(self.pushed_ref, theirs, self.pushed_tip), (self.ref, theirs, None)]
        move_refs(self.repository, moves)

    def _fast_forward(self, remote: str, ask: AskRemote) -> None:
        """Nothing is taken over while lines of this clone wait: their push puts them on top of
        what is read here.
        """
        target, fetched_ref = self._target, self._fetched_ref
        tip, pushed_tip = self.tip, self.pushed_tip
        theirs = ask(remote, FOLLOWING).get(target)
        self.is_unlisted = theirs is None
        if tip is None or pushed_tip is None or theirs is None or theirs in (tip, pushed_tip):
            return
        is_here = self.repository.resolve(fetched_ref) == theirs  # see `fetch_together`
        if (is_here or self.repository.has(theirs)) and self.repository.is_ancestor(theirs, tip):
            self._must_have_kept(pushed_tip, remote)
            return
        if not is_here:
            fetch(self.repository, remote, {target: fetched_ref})
        with hold_lock(self._lock, what=WRITER):
            if (self.tip, self.pushed_tip) != (tip, pushed_tip):
                return
            content = self._sound_content(theirs, remote)
            if tip != pushed_tip:
                return
            if missing(self._read_all(), content):
                raise RemoteFault(
                    f"{self.branch} on {remote} lacks lines that were pushed. `herorun verify "
                    f"{self.slug}` shows the differences."
                )
            move_refs(
                self.repository, [(self.ref, theirs, tip), (self.pushed_ref, theirs, pushed_tip)]
            )

    def _must_have_kept(self, pushed_tip: str, remote: str) -> None:
        """`RemoteFault` if the branch was reset to an older commit. A listing may be from before
        our last push, so the remote is asked again.
        """
        theirs = self.repository.remote_tips(remote, self._target, timeout=FOLLOWING).get(
            self._target
        )
        if theirs is None or theirs == pushed_tip or not self.repository.has(theirs):
            return
        if self.repository.is_ancestor(theirs, pushed_tip):
            raise RemoteFault(
                f"{self.branch} on {remote} was reset to {theirs[:9]}: it lacks lines that "
                f"were pushed. `herorun verify {self.slug}` shows the differences."
            )

    def _sound_content(self, theirs: str, remote: str) -> Content:
        """What the remote's commit holds; `RemoteFault` if it is damaged or not a continuation."""
        try:
            self._must_continue_ours(theirs, remote)
            return self._load(theirs, self._segments(theirs))
        except CouldNotLook:
            raise
        except HerorunError as error:
            raise RemoteFault(str(error)) from None

    def _gone_from(self, remote: str) -> str:
        return (
            f"{self.branch} is gone from {remote}, where it was pushed before: `herorun verify "
            f"{self.slug}` says what to do"
        )

    def branch_loss(self) -> str:
        """That the remote has lost the branch; empty where it has it, or was not read. A listing
        that lacks it may be older than our push, so the remote is asked again.
        """
        if self.remote is None or not self.is_unlisted or not self.pushed_tip:
            return ""
        tips = self.repository.remote_tips(self.remote, self._target, timeout=FOLLOWING)
        return "" if self._target in tips else self._gone_from(self.remote)

    def remote_memory(self) -> Memory:
        """What the remote has of the record at this moment, as anybody outside can read it; ours
        does not move.

        `CouldNotLook` where the remote does not answer. Without a remote, what is here.
        """
        if self.remote is None:
            return self.memory()
        return self._remote_content(self.remote).memory

    def published_lines(self) -> Sequence[JournalLine]:
        """Every line that the remote has at this moment; none without a remote."""
        return tuple(self._remote_content(self.remote).lines) if self.remote else ()

    def _remote_content(self, remote: str) -> Content:
        target, fetched_ref = self._target, self._fetched_ref
        if target not in self.repository.remote_tips(remote, target):
            return Content()
        fetch(self.repository, remote, {target: fetched_ref})
        content = self._loaded_at(str(self.repository.resolve(fetched_ref)))
        with contextlib.suppress(HerorunError, OSError):
            maintenance.pack_new(self.repository, self.slug, content)
        return content

    def memory_at(self, theirs: str) -> Memory:
        """The journal's state on the remote's branch at a commit that is in this clone."""
        return self._loaded_at(theirs).memory

    def _loaded_at(self, theirs: str) -> Content:
        self._must_hold_this_run(theirs)
        return self._load(theirs, self._segments(theirs))

    def _must_be_a_branch_of_its_own(self) -> None:
        if self.branch in ("main", "master"):
            raise WrongUse(self._not_its_own("holds code"))

    def _must_hold_this_run(self, theirs: str) -> None:
        """What the branch on the remote has must be this run's record: code is never written on top
        of.
        """
        if not self.repository.entries(theirs, self.journal_path):
            raise WrongUse(self._not_its_own(f"holds something else on {self.remote}"))

    def _not_its_own(self, why: str) -> str:
        return (
            f"[logbook] branch = {self.branch!r} {why}: the record needs a branch of its own. "
            f"Name a new one, or remove the key for herorun/{self.slug}."
        )

    def _must_continue_ours(self, theirs: str, remote: str) -> None:
        if self.pushed_tip and not self.repository.is_ancestor(self.pushed_tip, theirs):
            raise Blocked(
                f"{self.branch} on {remote} was rewritten: it does not contain "
                f"{self.pushed_tip[:9]}, which was pushed. "
                f"`herorun verify {self.slug}` shows the differences."
            )
        self._must_hold_this_run(theirs)
