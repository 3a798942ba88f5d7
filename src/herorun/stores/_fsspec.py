"""One request to an fsspec store: runs on its event loop, with a deadline; failures become
messages.

A call that times out is cancelled, so that none of its retries can write after the reported
failure.
"""

from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from threading import Lock
from typing import Any, TypeVar

from herorun.core.durations import format_span
from herorun.core.errors import CouldNotLook, HerorunError, describe_error
from herorun.core.finding import count
from herorun.core.lazy_dataclass import dataclass
from herorun.core.redaction.scrub import scrub
from herorun.system.timeout import within

T = TypeVar("T")
DEADLINE = 20.0  # seconds for one call, with all its pages and retries
OPENING = 20.0  # seconds to load the client and find its credentials, once
GRACE = 1.0  # for an event loop that other code blocks


class WriteRefused(Exception):
    """The store's content differs from the precondition. `ours`: it may be the result of our own
    lost request.
    """

    def __init__(self, ours: bool) -> None:
        super().__init__("the precondition did not hold")
        self.ours = ours


class MalformedAnswer(Exception):
    """An answer of an invalid form."""


@dataclass
class Attempts:
    """The results of one call's requests so far."""

    count: int = 0
    problem: str = ""  # of the last one; empty if it went well

    def add_result(self, problem: str = "") -> None:
        self.count += 1
        self.problem = problem


NOW: ContextVar[Attempts] = ContextVar("attempts")


class Requests:
    """Requests to one file system, which is opened at the first of them."""

    def __init__(
        self,
        open_fs: Callable[[], Any],
        deadline: float,
        explain: Callable[[Exception], str] | None = None,
    ) -> None:
        self._open_fs, self._deadline, self._explain = open_fs, deadline, explain or describe_error
        self._lock, self._system = Lock(), None

    def ask(self, where: str, act: Callable[[Any], Awaitable[T]]) -> T:
        """The call's result; FileNotFoundError and `WriteRefused` pass, all other errors become an
        OSError about `where`.
        """
        import asyncio  # here, for callers that only list the stores

        attempts = Attempts()

        async def bounded(system: Any) -> T:
            NOW.set(attempts)
            return await asyncio.wait_for(_await_result(act(system)), self._deadline)

        try:
            system = self._file_system()
            future = asyncio.run_coroutine_threadsafe(bounded(system), system.loop)
            try:
                return future.result(self._deadline + GRACE)
            finally:
                future.cancel()
        except (HerorunError, WriteRefused):
            raise
        except FileNotFoundError:
            raise FileNotFoundError(f"{scrub(where)} is not there") from None
        except TimeoutError:
            raise self._late(where, attempts) from None
        except Exception as error:
            raise self._as_error(where, error, attempts) from None

    def _file_system(self) -> Any:
        with self._lock:
            if self._system is None:
                try:
                    self._system = within(OPENING, self._open_fs)
                except CouldNotLook:
                    raise OSError(f"its client was not ready within {OPENING:g}s") from None
            return self._system

    def _late(self, where: str, attempts: Attempts) -> OSError:
        if attempts.problem:
            tries = count(attempts.count, "try", "tries")
            return OSError(
                scrub(
                    f"{where}: {attempts.problem}, after {tries} within "
                    f"{format_span(self._deadline)}"
                )
            )
        return TimeoutError(scrub(f"{where}: no answer within {format_span(self._deadline)}"))

    def _as_error(self, where: str, error: Exception, attempts: Attempts) -> OSError:
        message = " ".join(self._explain(error).split())
        summary = ": ".join(dict.fromkeys(part for part in (attempts.problem, message) if part))
        return OSError(f"{scrub(where)}: {scrub(summary)[:300]}")


async def _await_result(act: Awaitable[T]) -> T:
    return await act
