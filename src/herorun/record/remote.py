"""Pushes the record to its remote: each event once.

Unpublished events are rebased onto what other clones pushed; nothing else on the remote is ever
overwritten.
"""

import time
from typing import Self

from herorun.core.errors import Blocked, CouldNotLook, HerorunError
from herorun.record.fetch import FetchedRecord
from herorun.record.model import Pushed, missing
from herorun.record.reader import MAX_BYTES
from herorun.record.writer import WRITER
from herorun.system.files import hold_lock
from herorun.system.git import Repository
from herorun.system.git.plumbing import fetch, move_ref, push

PATIENCE = 5.0  # seconds for which a push is retried against others who push the same branch
# seconds between two tries, partly random, so that two clones do not stay in step
FIRST_PAUSE, MAX_PAUSE = 0.1, 1.0


class ConcurrentPush(CouldNotLook):
    """Another clone pushed to the branch while we put ours on top of theirs."""


class Record(FetchedRecord):
    """One run's record in one repository, and on its remote where it has one."""

    @classmethod
    def discover(
        cls, repository: Repository, slug: str, branch: str = "", remote: str | None = None
    ) -> Self:
        """The record of a run whose contract is not at hand: it is read, and never begun."""
        return cls(repository, slug, branch or f"herorun/{slug}", remote, lambda: "")

    def push(self) -> Pushed:
        """Bring the remote up to date. What cannot go through stays queued and goes out at the next
        chance.
        """
        push_result = (
            Pushed("there is no remote") if self.remote is None else self._push_locked(self.remote)
        )
        self.pack_refs()
        return push_result

    def _push_locked(self, remote: str) -> Pushed:
        """Pushes of one record go one after another, by a lock of their own: who only writes waits
        for no network.
        """
        lock = self.repository.common / "herorun" / f"{self.slug}.push.lock"
        try:
            with hold_lock(lock, what="another herorun that pushes this record"):
                return self._push_with_retries(remote)
        except HerorunError as error:
            return Pushed(str(error))

    def _push_with_retries(self, remote: str) -> Pushed:
        until, pause = time.monotonic() + PATIENCE, FIRST_PAUSE
        while True:
            try:
                return self._push(remote)
            except ConcurrentPush:
                if time.monotonic() + pause > until:
                    raise
            from random import uniform

            time.sleep(uniform(pause / 2, pause))
            pause = min(2 * pause, MAX_PAUSE)

    def _push(self, remote: str) -> Pushed:
        tip, pushed_tip = self.tip, self.pushed_tip
        if tip is None:
            return Pushed()
        if tip == pushed_tip:
            return Pushed(self.branch_loss())
        self._must_be_a_branch_of_its_own()
        target = self._target
        try:
            push(self.repository, remote, tip, target, pushed_tip)
        except CouldNotLook:
            remote_tip = self.repository.remote_tips(remote, target).get(target)
            if remote_tip is None and pushed_tip:
                raise Blocked(f"{self._gone_from(remote)}.") from None
            if remote_tip is None or remote_tip == pushed_tip:
                raise
            self._fetch_and_rebase(remote)
            tip = self.tip or tip
            if tip != remote_tip:
                self._push_rebased(remote, tip, remote_tip)
            pushed_tip = self.pushed_tip
        move_ref(self.repository, self.pushed_ref, tip, pushed_tip)
        return Pushed()

    def _push_rebased(self, remote: str, tip: str, remote_tip: str) -> None:
        try:
            push(self.repository, remote, tip, self._target, remote_tip)
        except CouldNotLook as error:
            if self.repository.remote_tips(remote, self._target).get(self._target) == remote_tip:
                raise
            raise ConcurrentPush(str(error)) from None

    def _fetch_and_rebase(self, remote: str) -> None:
        """Another clone pushed first: put our unpublished events on top of theirs, each event once.

        Our ref moves in one step at the end, so that an interruption loses nothing.
        """
        fetch(self.repository, remote, {self._target: self._fetched_ref})
        with hold_lock(self._lock, what=WRITER):
            self._rebase_onto_fetched(remote)

    def _rebase_onto_fetched(self, remote: str) -> None:
        theirs, ours = self.repository.resolve(self._fetched_ref), self.tip
        assert theirs is not None and ours is not None
        if self.repository.is_ancestor(theirs, ours):
            return
        self._must_continue_ours(theirs, remote)
        target = self._load(theirs, self._segments(theirs))
        tail = missing(self._read_all(), target)
        if tail:
            files = self._unpublished_files(ours, theirs)
            target = self._commit_events(self._fetched_ref, target, tail, files)
        move_ref(self.repository, self.ref, str(target.tip), ours)

    def _unpublished_files(self, ours: str, theirs: str) -> dict[str, bytes]:
        """What only our side has besides the journal: contracts, configs, seal statements, by
        digest.
        """
        mine, known_files = (
            {path for _, _, path in self.repository.entries(commit, self.files_path)}
            for commit in (ours, theirs)
        )
        texts = self.repository.read(
            ours, [f"{self.files_path}/{name}" for name in sorted(mine - known_files)], MAX_BYTES
        )
        return {
            path.removeprefix(f"{self.files_path}/"): data for path, data in texts.items() if data
        }
