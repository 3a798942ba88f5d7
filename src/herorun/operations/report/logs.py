"""The log of an instance of any scheduler, even while it grows, made safe for a terminal."""

import re
import time
from collections.abc import Callable, Iterator
from dataclasses import field

from herorun.core.errors import Blocked, CouldNotLook, WrongUse, describe_error
from herorun.core.evidence import Instance
from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_regex import lazy_regex
from herorun.core.ports import Found, LogPart, Scheduler, Unknown
from herorun.core.redaction.scrub import scrub
from herorun.runs import Run

PART = 1 << 20  # bytes of one read
MAX_LINE = 1 << 20  # bytes: a line that is longer is shown in pieces
TAIL = 20_000  # lines, if the scheduler cannot read from an offset
IDLE = 10.0  # seconds without new bytes until the scheduler is queried whether the job has ended
MAX_INTERVAL = 30.0  # seconds between two reads
# Control sequences (ECMA-48) and window titles (xterm): they would recolour or retitle a terminal.
_ESCAPES = lazy_regex(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?")


@dataclass
class LogText:
    """Returns complete lines of what was read; a partial line waits for its end."""

    partial: bytes = field(default=b"")

    def add(self, data: bytes) -> str:
        """Each state of a progress bar ends with a carriage return, only the last one with a
        newline; so a carriage return at the end may be part of a line end.
        """
        text = self.partial + data
        end = 1 + max(text.rfind(b"\n"), text.rfind(b"\r", 0, -1))
        self.partial = text[end:]
        if len(self.partial) > MAX_LINE:
            return harmless(text[:end]) + self.end()
        return harmless(text[:end])

    def end(self) -> str:
        remaining, self.partial = self.partial, b""
        return f"{harmless(remaining)}\n" if remaining else ""


def harmless(data: bytes) -> str:
    r"""The text without secrets and control characters; each state of a progress bar is a line.

    >>> harmless(b"\x1b[31mred\x1b[0m\r\n 10%\r 20%\a\n")
    'red\n 10%\n 20%\ufffd\n'
    """
    text = _ESCAPES.sub("", data.decode("utf-8", "replace")).replace("\r\n", "\n")
    text = scrub(text.replace("\r", "\n"))
    return "".join(c if c.isprintable() or c in "\n\t" else "\ufffd" for c in text)


def instance_of(run: Run, name: str | None) -> Instance:
    """The newest instance, or the one with this name or number."""
    instances = run.record.memory().instances
    if not instances:
        raise Blocked(f"{run.slug} has no log yet: it was not launched.")
    if name is None:
        return instances[-1]
    for instance in instances:
        if name in (instance.name, str(instance.number)):
            return instance
    names = ", ".join(instance.name for instance in instances)
    raise WrongUse(f"{run.slug} has no instance {name!r}: there are {names}.")


def read_log(scheduler: Scheduler, instance: Instance, lines: int | None) -> Iterator[str]:
    """The log's present content, at most the newest `lines`; `Blocked` if there is none, or none
    any more.
    """
    text = LogText()
    try:
        for part in _LogReader(scheduler, instance, lines).new():
            yield text.add(part.data)
    except FileNotFoundError:
        raise Blocked(f"{_describe_missing(scheduler, instance)}.") from None
    yield text.end()


def follow_log(
    scheduler: Scheduler, instance: Instance, lines: int | None, show: Callable[[str], None]
) -> Iterator[str]:
    """The log's content, then new parts, until the job has ended; `show` gets errors.

    A failed read is repeated, so a lost connection does not end it.
    """
    reader, text = _LogReader(scheduler, instance, lines), LogText()
    ask_at, is_waiting = time.monotonic(), False
    while True:
        began = time.monotonic()
        for part in reader.attempt(show):
            if part.restarted:
                show(f"the log of {instance.name} was replaced: it is read from its start")
                yield text.end()
            yield text.add(part.data)
            if part.data and reader.passes:
                ask_at = time.monotonic() + IDLE
        if reader.empty and not is_waiting:
            is_waiting = True
            show(f"the log of {instance.name} is empty so far; new lines follow here")
        if time.monotonic() >= ask_at and (state := _end_of(scheduler, instance)):
            yield from (text.add(part.data) for part in reader.attempt(show))
            yield text.end()
            show(f"{instance.name} has ended ({state})")
            return
        time.sleep(min(MAX_INTERVAL, max(1.0, 5 * (time.monotonic() - began))))


def _describe_missing(scheduler: Scheduler, instance: Instance) -> str:
    """Why there is no log: a back end that has forgotten the job has none of it any more."""
    try:
        search = scheduler.find(instance.name, instance.since)
    except (CouldNotLook, OSError):
        search = None
    if isinstance(search, Unknown) and search.forgotten:
        return f"the log of {instance.name} is lost: {scrub(search.why)}"
    return f"{instance.name} has no log yet"


def _end_of(scheduler: Scheduler, instance: Instance) -> str:
    """The state in which the job ended; "" while it is live or unknown."""
    try:
        search = scheduler.find(instance.name, instance.since)
    except (CouldNotLook, OSError):
        return ""
    return search.job.state.value if isinstance(search, Found) and search.job.state.is_final else ""


class _LogReader:
    """Reads each byte of a log once: by offset, or, if the scheduler has no offsets, by its newest
    lines.
    """

    def __init__(self, scheduler: Scheduler, instance: Instance, lines: int | None) -> None:
        self._scheduler, self._instance, self._lines = scheduler, instance, lines
        self._ask: Callable[..., LogPart] | None = getattr(scheduler, "read_log", None)
        self._offset, self._mark, self._newest = 0, "", ""
        self._has_read = False
        self._trouble, self._is_missing = "", False
        self.passes = 0  # successful reads

    @property
    def empty(self) -> bool:
        """Whether the log was read and was empty."""
        return bool(self.passes) and not self._offset and not self._newest

    def attempt(self, show: Callable[[str], None]) -> Iterator[LogPart]:
        """The new parts; a failure is reported once, not raised."""
        try:
            yield from self.new()
            if self._trouble and not self._is_missing:
                show(f"the log of {self._instance.name} can be read again")
            self._trouble, self.passes = "", self.passes + 1
        except (CouldNotLook, OSError) as error:
            was_missing, self._is_missing = self._is_missing, isinstance(error, FileNotFoundError)
            if self._trouble and was_missing and self._is_missing:
                return  # it was shown
            message = (
                _describe_missing(self._scheduler, self._instance)
                if self._is_missing
                else describe_error(error)
            )
            if message != self._trouble:
                show(message)
            self._trouble = message

    def new(self) -> Iterator[LogPart]:
        if self._ask is None:
            yield self._new_lines()
            return
        if not self._has_read:
            self._offset, self._has_read = self._first(self._ask), True
        while True:
            part = self._ask(self._instance.name, self._offset, PART, self._mark)
            self._offset, self._mark = part.offset, part.mark
            if part.data or part.restarted:
                yield part
            if part.offset >= part.size or not part.data:
                return

    def _first(self, ask: Callable[..., LogPart]) -> int:
        """The offset of the first of the newest lines."""
        if self._lines is None:
            return 0
        size, reach = ask(self._instance.name, 0, 0, "").size, PART
        while True:
            start = max(0, size - reach)
            data = ask(self._instance.name, start, size - start, "").data
            ends = [match.end() for match in re.finditer(rb"\n", data[:-1])]
            if self._lines == 0:
                return size
            if len(ends) >= self._lines:
                return start + ends[-self._lines]
            if start == 0 or reach >= 64 * PART:
                return start
            reach *= 4

    def _new_lines(self) -> LogPart:
        """The lines after those that were read before, by the scheduler's newest lines."""
        newest = self._scheduler.tail(
            self._instance.name, TAIL if self._has_read or not self._lines else self._lines
        )
        before, self._newest, first = self._newest, newest, not self._has_read
        self._has_read = True
        if first and self._lines == 0:
            added_text, is_restart = "", False
        elif newest.startswith(before):
            added_text, is_restart = newest[len(before) :], False
        else:
            _, overlap, added_text = newest.rpartition(before[-1000:])
            added_text, is_restart = (added_text, False) if overlap else (newest, True)
        data = added_text.encode("utf-8", "surrogateescape")
        return LogPart(data, len(data), len(data), "", restarted=is_restart and not first)
