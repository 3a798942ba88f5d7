"""A deadline for calls without one, such as reads from a hanging mount."""

from collections.abc import Callable
from queue import Empty, Queue
from threading import Thread
from typing import Any, TypeVar

from herorun.core.durations import format_span
from herorun.core.errors import CouldNotLook

T = TypeVar("T")


def within(seconds: float, call: Callable[[], T]) -> T:
    """What the call returns or raises; `CouldNotLook` when the time is over. The call itself is
    abandoned.
    """
    answers: Queue[tuple[bool, Any]] = Queue()

    def ask() -> None:
        try:
            answers.put((True, call()))
        except Exception as error:
            answers.put((False, error))

    Thread(target=ask, daemon=True).start()
    try:
        well, answer = answers.get(timeout=seconds)
    except Empty:
        raise CouldNotLook(f"There was no answer within {format_span(seconds)}.") from None
    if not well:
        raise answer
    result: T = answer
    return result
