"""Where a process can end: before or after any journal append, any call of a port, any push and any
tag.
"""

import contextlib
import os
import signal
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from herorun.notifiers.channel import AppriseChannel
from herorun.notifiers.github import GitHubIssue
from herorun.notifiers.local import LocalIssue
from herorun.notifiers.terminal import Terminal
from herorun.operations.seal import tag
from herorun.record import Record, remote
from herorun.schedulers.local import Local
from herorun.stores.local import LocalStore

READS = frozenset({"find", "live_jobs"})  # after these all is as it was before the next call
POINTS: tuple[tuple[Any, str], ...] = (
    (Record, "append"),
    *((Local, name) for name in ("submit", "find", "live_jobs", "stop")),
    *((LocalIssue, name) for name in ("open", "post", "edit", "find")),
    *((GitHubIssue, name) for name in ("open", "post", "edit", "find")),
    *((LocalStore, name) for name in ("create", "swap", "delete", "delete_folder")),
    (Terminal, "post"),
    (AppriseChannel, "post"),
    (remote, "push"),
    (tag, "push"),
    (tag, "annotated_tag"),
)


def is_read(name: str) -> bool:
    return name.rpartition(".")[2] in READS


class Dead(BaseException):
    """The process has ended: nothing may catch this."""


@dataclass
class Fault:
    """Ends the process at the `at`-th call, before or after it is made. `seen` names the calls in
    order.
    """

    at: int
    after: bool
    die: Callable[[], None]
    calls_seen: list[str] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def has_struck(self) -> bool:
        return len(self.calls_seen) >= self.at

    def wrap(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **options: Any) -> Any:
            with self._lock:
                counts = not (self.after and is_read(name))
                self.calls_seen += [name] if counts else []
                is_this_one = counts and len(self.calls_seen) == self.at
            if is_this_one and not self.after:
                self.die()
            try:
                return real(*args, **options)
            # also of a call that fails: a file that exists already, a push that is refused
            finally:
                if is_this_one:
                    self.die()

        return call

    def install(self, patch: pytest.MonkeyPatch) -> None:
        for owner, name in POINTS:
            label = f"{getattr(owner, '__name__', owner).rpartition('.')[2]}.{name}"
            patch.setattr(owner, name, self.wrap(label, getattr(owner, name)))


def kill_self() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def raise_dead() -> None:
    """End the process, as far as one can in a process that continues: also where a source is read
    in a thread.
    """
    if threading.current_thread() is threading.main_thread():
        raise Dead
    main = threading.main_thread().ident
    assert main is not None
    signal.pthread_kill(main, signal.SIGUSR1)
    raise OSError("the process has ended")  # the signal has reached the main thread by now


@contextlib.contextmanager
def deadly() -> Iterator[None]:
    """Lets a thread end the process: a signal brings it to the main thread, wherever that waits."""

    def dead(number: int, frame: object) -> None:
        raise Dead

    before = signal.signal(signal.SIGUSR1, dead)
    try:
        yield
    finally:
        signal.signal(signal.SIGUSR1, before)
