"""A deadline for calls without one, such as reads from a hanging mount."""

import os
from collections.abc import Callable
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, TypeVar

from herorun.core.durations import format_span
from herorun.core.errors import CouldNotLook

T = TypeVar("T")


def within(seconds: float, call: Callable[[], T], failure: str = "There was no answer") -> T:
    """What the call returns or raises; `CouldNotLook` with `failure` when the time is over. The
    call itself is abandoned.
    """
    answers: SimpleQueue[tuple[bool, Any]] = SimpleQueue()

    def ask() -> None:
        try:
            answer: tuple[bool, Any] = True, call()
        except Exception as error:
            answer = False, error
        answers.put(answer)

    _caller().calls.put(ask)
    try:
        well, answer = answers.get(timeout=seconds)
    except Empty:
        raise CouldNotLook(f"{failure} within {format_span(seconds)}.") from None
    if not well:
        raise answer
    result: T = answer
    return result


class _Caller(Thread):
    """Makes one call after another: each run of a fleet makes some in each tick, and to start a
    thread costs more than most of them.
    """

    def __init__(self) -> None:
        # A daemon: a call that hangs must not keep the process from its end.
        super().__init__(name="caller", daemon=True)
        self.calls: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self.start()

    def run(self) -> None:
        while True:
            self.calls.get()()
            _idle.append(self)  # only now: one whose call hangs makes no other


def _caller() -> _Caller:
    try:
        return _idle.pop()
    except IndexError:
        return _Caller()


_idle: list[_Caller] = []
os.register_at_fork(after_in_child=_idle.clear)  # no thread lives on in a forked process
