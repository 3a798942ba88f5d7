"""How a port can misbehave while the process continues: no answer, an answer lost, given twice, or
too late.

An answer that is lost and one that never came look the same to whoever asked: a time-out.
"""

import contextlib
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from errno import ETIMEDOUT
from typing import Any

import pytest

from herorun.core.errors import CouldNotLook
from herorun.core.recovery import backoff
from herorun.notifiers.channel import AppriseChannel
from herorun.notifiers.local import LocalIssue
from herorun.notifiers.terminal import Terminal
from herorun.operations.launch import start_instance
from herorun.operations.seal import tag
from herorun.record import Record, fetch, remote
from herorun.schedulers.local import Local
from herorun.stores.local import LocalStore
from herorun.system.git import Repository
from herorun.trackers.jsonl import JsonLines


class Trouble(StrEnum):
    FAILS = "fails once"
    DOWN = "fails always"
    LOST = "is done, and the answer is lost"
    TWICE = "is done twice, and the second answer is given"
    LATE = "is done later, after its deadline"


ACTS: tuple[tuple[Any, str], ...] = (
    *((Local, name) for name in ("submit", "stop")),
    *((LocalIssue, name) for name in ("open", "post", "edit")),
    *((LocalStore, name) for name in ("create", "swap")),
    (Terminal, "post"),
    (AppriseChannel, "post"),
    (remote, "push"),
    (tag, "push"),
)
READS: tuple[tuple[Any, str], ...] = (
    *((Local, name) for name in ("find", "live_jobs", "tail", "read_log")),
    (LocalIssue, "find"),
    *((LocalStore, name) for name in ("entries", "names", "read", "end", "modified", "generation")),
    (JsonLines, "read"),
    (remote, "fetch"),
    (fetch, "fetch"),
    (Repository, "remote_tips"),
)
OURS: tuple[
    tuple[Any, str], ...
] = (  # on this machine: they fail or go through, and nothing comes twice or late
    (Record, "append"),
    (tag, "annotated_tag"),
)
GIT = frozenset({"remote.push", "remote.fetch", "fetch.fetch", "seal_tag.push"}) | {
    "Repository.remote_tips",
    "Record.append",
    "seal_tag.annotated_tag",
}


def label(owner: Any, name: str) -> str:
    return f"{getattr(owner, '__name__', owner).rpartition('.')[2]}.{name}"


TROUBLES: dict[str, tuple[Trouble, ...]] = {
    **{label(*each): tuple(Trouble) for each in ACTS},
    **{label(*each): (Trouble.FAILS, Trouble.DOWN) for each in READS},
    **{label(*each): (Trouble.FAILS, Trouble.DOWN, Trouble.LOST) for each in OURS},
}


def impatient(patch: pytest.MonkeyPatch) -> None:
    """What failed is due again at once, and nobody waits for a scheduler that does not answer."""
    patch.setattr(backoff, "back_off", lambda *_: timedelta())
    patch.setattr(start_instance, "SETTLING", 0.2)


def no_answer(name: str) -> Exception:
    """As the adapters say it."""
    return (
        CouldNotLook(f"{name}: no answer.")
        if name in GIT
        else TimeoutError(ETIMEDOUT, "no answer", name)
    )


@dataclass
class Outage:
    """Troubles the `at`-th call of one name, or all from there on. `seen` counts the calls by
    name.
    """

    name: str = ""
    at: int = 0
    trouble: Trouble = Trouble.FAILS
    call_counts: Counter[str] = field(default_factory=Counter)
    late: list[Callable[[], Any]] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _busy: threading.local = field(default_factory=threading.local)

    @property
    def has_struck(self) -> bool:
        return self.call_counts[self.name] >= self.at

    def wrap(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **options: Any) -> Any:
            if getattr(self._busy, "inside", False):  # a port that calls itself is one call
                return real(*args, **options)
            with self._lock:
                self.call_counts[name] += 1
                hit = self.name == name and self._hits(self.call_counts[name])
            if name == "Local.find":
                self.deliver()  # within the scheduler's settle time
            self._busy.inside = True
            try:
                return (
                    self._fail_call(name, lambda: real(*args, **options))
                    if hit
                    else real(*args, **options)
                )
            finally:
                self._busy.inside = False

        return call

    def _hits(self, count: int) -> bool:
        return count >= self.at if self.trouble is Trouble.DOWN else count == self.at

    def _fail_call(self, name: str, real: Callable[[], Any]) -> Any:
        match self.trouble:
            case Trouble.TWICE:
                real()
                return real()
            case Trouble.LOST:
                real()
            case Trouble.LATE:
                self.late.append(real)
        raise no_answer(name)

    def deliver(self) -> None:
        """What is late arrives; nobody hears the answer."""
        while self.late:
            with contextlib.suppress(Exception):
                self.late.pop()()

    def install(self, patch: pytest.MonkeyPatch) -> None:
        for owner, name in (*ACTS, *READS, *OURS):
            patch.setattr(owner, name, self.wrap(label(owner, name), getattr(owner, name)))
