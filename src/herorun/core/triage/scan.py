"""One pass over a log, in blocks of any size: each byte is read once, and the memory is bounded.

The size of the blocks changes nothing: `scan` on two halves finds what `scan` on the whole finds. A
line longer than `MAX_LINE` is read in overlapping pieces.
"""

from bisect import bisect_left
from dataclasses import replace

from herorun.core.lazy_dataclass import dataclass
from herorun.core.triage.line_parser import Ignoring, LineParser, awaits_ignored, match_line
from herorun.core.triage.match import Match, match_torn_traceback
from herorun.core.triage.prefilter import line_end
from herorun.core.triage.progress import (
    END_BYTES,
    NOT_YET,
    ProgressWatch,
    progress_match,
    signs_of_training,
    step_lines,
)
from herorun.core.triage.signatures import SignatureSet
from herorun.core.triage.tracebacks import Open

MAX_LINE = 16_384
OVERLAP = 1_024


@dataclass(frozen=True, kw_only=True)
class Scan:
    """How far a log has been read. Begin with `Scan()`; `offset` is the byte to read next."""

    offset: int = 0
    lines: int = 0  # complete ones
    last_line: int = 0  # the number of the last line that was not blank
    carry: bytes = b""  # of the line that is not complete
    inside: bool = False  # the carry continues a long line
    open: tuple[Open, ...] = ()
    ended: tuple[tuple[str, int], ...] = ()  # stream -> the line of its last exception
    # the same, once the log says that another came meanwhile
    handled: tuple[tuple[str, int], ...] = ()
    ignoring: tuple[tuple[str, Ignoring], ...] = ()  # of each stream
    # of each stream, the last line on which a log handler's call stack may begin
    logging_errors: tuple[tuple[str, int], ...] = ()
    watch: ProgressWatch = NOT_YET
    end: bytes = b""  # the newest bytes


def scan(signature_set: SignatureSet, state: Scan, data: bytes) -> tuple[Scan, list[Match]]:
    """The state after these bytes, and what the lines that they complete say."""
    body, newline, carry = _lines_of(state.carry, data.replace(b"\0", b""))
    tracebacks = {traceback.stream: traceback for traceback in state.open}
    now = LineParser(
        signature_set=signature_set,
        open=tracebacks,
        ended=dict(state.ended),
        handled=dict(state.handled),
        ignoring=dict(state.ignoring),
        logging_errors=dict(state.logging_errors),
        watch=state.watch,
    )
    lines, last_line, inside = state.lines, state.last_line, state.inside
    if newline:
        lines = _walk(now, body, lines, inside)
        length = len(body.rstrip())
        last_line = lines - body.count(b"\n", length) if length else last_line
        inside = False
    while len(carry) > MAX_LINE:
        match_line(now, carry[:MAX_LINE], lines + 1, inside)
        carry, inside = carry[MAX_LINE - OVERLAP :], True
    after = Scan(
        offset=state.offset + len(data),
        lines=lines,
        last_line=last_line,
        carry=carry,
        inside=inside,
        open=tuple(now.open.values()),
        ended=tuple(now.ended.items()),
        handled=tuple(now.handled.items()),
        ignoring=tuple(now.ignoring.items()),
        logging_errors=tuple(now.logging_errors.items()),
        watch=now.watch,
        end=(state.end + data[-END_BYTES:])[-END_BYTES:],
    )
    return after, now.matches


def _lines_of(carry: bytes, data: bytes) -> tuple[bytes, bool, bytes]:
    """The complete lines, whether there are any, and what follows them; copies each byte once."""
    end = data.rfind(b"\n")
    if end < 0:
        return b"", False, carry + data
    return b"".join((carry, memoryview(data)[:end])), True, data[end + 1 :]


def skip(state: Scan, size: int, newlines: int = 0) -> Scan:
    """Continue so many bytes further down, within a line perhaps."""
    lines = state.lines + newlines
    last_line = lines if newlines else state.last_line
    return Scan(
        offset=state.offset + size, lines=lines, last_line=last_line, inside=True, watch=state.watch
    )


def finish(signature_set: SignatureSet, state: Scan) -> tuple[Scan, list[Match]]:
    """The end of the log: what its last line says, newline or not, which tracebacks were never
    ended, and whether it still trains.
    """
    after, matches = scan(signature_set, state, b"\n") if state.carry else (state, [])
    remaining = [
        match_torn_traceback(
            o.line, o.user, f"{o.last or 'a traceback'} (the exception is missing)"
        )
        for o in after.open
        if not o.ignored
    ]
    signs = signs_of_training(state.end, state.lines + 1)
    return replace(after, offset=state.offset), [*matches, *remaining, *signs]


def _walk(now: LineParser, body: bytes, lines: int, inside: bool) -> int:
    """Look at the lines that may matter: those that hold a stem, those that may hold a step while
    steps are watched, and all of them while a traceback is open."""
    at, marks = 0, _LineStarts(now.signature_set, body)
    while at <= len(body):
        reads_all = bool(now.open) or awaits_ignored(now, lines)
        start = at if reads_all else marks.next_step(at) if now.watch.on else marks.next(at)
        if start < 0:
            break
        lines += _newlines(body[at:start]) + 1
        end = line_end(body, start)
        torn_off = inside and start == 0
        if reads_all or not now.watch.on or marks.opens(start, end):
            _pieces(now, body[start:end], lines, torn_off)
        if now.watch.on and not torn_off and end - start <= MAX_LINE:
            _watch_progress(now, body[start:end], lines)
        at = end + 1
    return lines + (_newlines(body[at:]) + 1 if at <= len(body) else 0)


def _newlines(text: bytes) -> int:
    """To remove them takes half as long as to count them."""
    return len(text) - len(text.replace(b"\n", b""))


class _LineStarts:
    """Where the lines of a block begin that are worth matching."""

    def __init__(self, signature_set: SignatureSet, body: bytes) -> None:
        self._body = body
        self._gate = signature_set.gate
        self._stems, self._stem = signature_set.prefilter.starts(body), 0
        self._steps: list[int] | None = None
        self._step = 0

    def next(self, at: int) -> int:
        """The first line from there on that a row may fit; -1 where there is none."""
        body, opens = self._body, self._gate.opens
        self._stem = bisect_left(self._stems, at, self._stem)
        while self._stem < len(self._stems):
            start = self._stems[self._stem]
            if opens(body[start : line_end(body, start)]):
                return start
            self._stem += 1
        return -1

    def next_step(self, at: int) -> int:
        """The first line from there on that holds a stem or may hold a step; -1 where there is
        none.
        """
        if self._steps is None:
            self._steps = step_lines(self._body)
        self._stem = bisect_left(self._stems, at, self._stem)
        self._step = bisect_left(self._steps, at, self._step)
        stem = self._stems[self._stem : self._stem + 1]
        return min(stem + self._steps[self._step : self._step + 1], default=-1)

    def opens(self, start: int, end: int) -> bool:
        """Whether a row may fit the line that begins there."""
        self._stem = bisect_left(self._stems, start, self._stem)
        has_stem = self._stems[self._stem : self._stem + 1] == [start]
        return has_stem and self._gate.opens(self._body[start:end])


def _watch_progress(now: LineParser, line: bytes, number: int) -> None:
    now.watch = now.watch.after(line)
    if now.watch.is_enough:
        now.watch = NOT_YET
        now.matches.append(progress_match(number))


def _pieces(now: LineParser, line: bytes, number: int, inside: bool) -> None:
    while len(line) > MAX_LINE:
        match_line(now, line[:MAX_LINE], number, inside)
        line, inside = line[MAX_LINE - OVERLAP :], True
    match_line(now, line, number, inside)
