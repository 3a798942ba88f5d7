"""Classifies one line, given the lines before it: assembles tracebacks, and matches everything
else.
"""

from dataclasses import field, replace
from typing import TypeVar

from herorun.core.lazy_dataclass import dataclass
from herorun.core.triage.classes import FailureClass, LineRole, RootStrength
from herorun.core.triage.lines import LogLine, readable
from herorun.core.triage.match import (
    COMPLEX,
    SAVE_FAILED,
    SMALL,
    Match,
    failed_save,
    of_exception,
    of_line,
)
from herorun.core.triage.progress import ProgressWatch
from herorun.core.triage.signatures import SignatureSet
from herorun.core.triage.tracebacks import (
    INDENTS,
    LoggedException,
    Open,
    announces_ignored,
    bare,
    begins_call_stack,
    begins_logging_error,
    dedent_line,
    falls_back,
    frame_of,
    handles,
    indent_of,
    is_chain_marker,
    patient,
    raised_by,
    starts_traceback,
    with_frame,
)

T = TypeVar("T")
# Of a stream: the last line on which one of so many tracebacks that are ignored may begin.
Ignoring = tuple[int, int]
APART = 40  # lines of others between two lines of one rank
_OF_THE_DEVICE = ("device-assert", "illegal-access")  # bugs that leave no usable device
_DUE_TO = "due to:"  # between an announcement of torch.compile and its traceback
STREAMS = 64  # tracebacks that are open at once; a log of more ranks loses the oldest


@dataclass(kw_only=True)
class LineParser:
    """What is open while lines are read, and the result so far."""

    signature_set: SignatureSet
    open: dict[str, Open]
    ended: dict[str, int]
    handled: dict[str, int]
    ignoring: dict[str, Ignoring]
    logging_errors: dict[str, int]
    watch: ProgressWatch
    matches: list[Match] = field(default_factory=list)


def match_line(now: LineParser, raw: bytes, number: int, inside: bool) -> None:
    before = len(now.matches)
    for line in readable(raw):
        if inside:
            now.matches += of_line(now.signature_set, line, number)
        else:
            _read_line(now, line, number)
    if any(m.role is LineRole.ROOT or m.signature == SAVE_FAILED for m in now.matches[before:]):
        now.watch = ProgressWatch(on=True)


def _read_line(now: LineParser, line: LogLine, number: int) -> None:
    traceback = now.open.get(line.stream)
    if traceback and traceback.indent:
        line = replace(line, content=dedent_line(line.content, traceback.indent))
    frame = frame_of(line.content)
    if starts_traceback(line.content):
        _open_traceback(now, line, number)
    elif frame:
        open_traceback = traceback or _open_traceback(now, line, number)
        now.open[line.stream] = with_frame(open_traceback, frame)
        if open_traceback.ignored:
            _wait_longer(now, line.stream, number)
    elif traceback and traceback.ignored:
        _read_inside_ignored(now, traceback, line, number)
    elif traceback:
        _read_inside_traceback(now, traceback, line, number)
    else:
        _outside(now, line, number)


def _open_traceback(now: LineParser, line: LogLine, number: int) -> Open:
    stream = line.stream
    ignored_count = _begins_ignored(now, stream, number)
    outer = _pop_outer(now, stream, ignored_count)
    indent = indent_of(line.content) + (outer.indent if outer else 0)
    # two heads in a row: of two ranks without labels, which say the same
    earlier = outer.earlier if outer and outer.last is None else 0
    earlier = 0 if ignored_count else now.handled.pop(stream, earlier)
    ignored_count += outer.ignored if ignored_count and outer else 0
    traceback = Open(
        stream=stream, line=number, earlier=earlier, indent=indent, ignored=ignored_count
    )
    now.open[stream] = traceback
    return traceback


def _open_call_stack(now: LineParser, line: LogLine, number: int) -> None:
    """Any line but a frame ends it, and is judged: it must hide no exception."""
    stream = line.stream
    del now.logging_errors[stream]
    outer = _pop_outer(now, stream, 1)
    indent = outer.indent if outer else 0
    now.open[stream] = Open(stream=stream, line=number, indent=indent, ignored=1, call_stack=True)


def _pop_outer(now: LineParser, stream: str, ignored_count: int) -> Open | None:
    """The traceback that is open in the stream, which waits behind one that is ignored."""
    outer = now.open.pop(stream, None)
    while len(now.open) >= STREAMS:
        now.open.pop(next(iter(now.open)))
    if ignored_count and outer and not outer.ignored:
        now.open[_behind(stream)] = replace(outer, stream=_behind(stream))
    return outer


def _begins_ignored(now: LineParser, stream: str, number: int) -> int:
    """1 where the head that is read there was announced as that of an ignored traceback, otherwise
    0.
    """
    due, count = now.ignoring.pop(stream, (0, 0))
    if not count or number > due:
        return 0
    if count > 1:
        _remember_stream(now.ignoring, stream, (number + 1, count - 1))
    return 1


def _announce(now: LineParser, stream: str, number: int, after: int) -> None:
    """So many lines later at most the head comes; the lines of a labelled stream come in order, but
    not one after the other.
    """
    due, count = now.ignoring.get(stream, (0, 0))
    count = count if number <= due else 0
    _remember_stream(now.ignoring, stream, (number + (APART if stream else after), count + 1))


def _wait_longer(now: LineParser, stream: str, number: int) -> None:
    """A line of one ignored traceback does not come between another and its announcement."""
    due, count = now.ignoring.get(stream, (0, 0))
    if count and number <= due:
        _remember_stream(now.ignoring, stream, (max(due, number + 1), count))


def _behind(stream: str) -> str:
    """Where a traceback waits while another thread prints one that is ignored."""
    return f"{stream}\n"


def _resume(now: LineParser, stream: str) -> None:
    """The traceback that was open before the ignored one is open again."""
    del now.open[stream]
    outer = now.open.pop(_behind(stream), None)
    if outer:
        now.open[stream] = replace(outer, stream=stream)


def _read_inside_ignored(now: LineParser, traceback: Open, line: LogLine, number: int) -> None:
    """The source under a frame, or the exception at the end. Any other line ends it, and is judged:
    where the end is cut off, it must not hide what follows.
    """
    exception = raised_by(traceback, line.content)
    is_announced = announces_ignored(line.content) and not traceback.call_stack
    if line.content[:1] in INDENTS or is_announced:
        remaining = patient(traceback)
        _wait_longer(now, line.stream, number)
    elif exception:
        # behind a colon, the exception that was its cause comes next
        ends = not exception.message.rstrip().endswith(":")
        remaining = replace(traceback, ignored=traceback.ignored - ends)
    else:
        remaining = None
    if remaining and remaining.ignored:
        now.open[line.stream] = remaining
    else:
        _resume(now, line.stream)
    if exception:
        _handle_exception(now, line, number, exception)
    elif announces_ignored(line.content):
        _outside(now, line, number)
    elif not remaining:
        _read_line(now, line, number)


def _read_inside_traceback(now: LineParser, traceback: Open, line: LogLine, number: int) -> None:
    """The source under a frame, the exception at the end, or a line of another process."""
    is_indented = line.content[:1] in INDENTS
    exception = None if is_indented else raised_by(traceback, line.content)
    patient_match = None if exception else patient(traceback)
    del now.open[line.stream]
    if patient_match:
        now.open[line.stream] = patient_match
    if exception:
        _handle_exception(now, line, number, exception)
    elif not is_indented:
        _outside(now, line, number)


def _outside(now: LineParser, line: LogLine, number: int) -> None:
    content, stream = line.content, line.stream
    if announces_ignored(content):
        _announce(now, stream, number, 1)
    if begins_logging_error(content):
        _remember_stream(now.logging_errors, stream, number + APART)
    if begins_call_stack(content) and number <= now.logging_errors.get(stream, 0):
        _open_call_stack(now, line, number)
    elif is_chain_marker(content) and number <= now.ignoring.get(stream, (0, 0))[0]:
        _announce(now, stream, number, 2)
    elif handles(content):
        _remember_stream(now.handled, stream, now.ended.get(stream, 0))
    elif is_chain_marker(content):
        _remember_stream(now.handled, stream, -now.ended.get(stream, 0))
    else:
        exception = bare(content)
        if exception:
            is_ignored = bool(_begins_ignored(now, stream, number)) or falls_back(stream)
            cause = now.handled.pop(stream) if now.handled.get(stream, 0) < 0 else 0
            # an announcement stands for the head of its traceback
            exception = replace(exception, ignored=is_ignored, earlier=cause, traced=is_ignored)
            _handle_exception(now, line, number, exception)
        else:
            if content.strip() not in ("", _DUE_TO) and not announces_ignored(content):
                now.ignoring.pop(stream, None)  # its traceback would come at once
            now.matches += of_line(now.signature_set, line, number)


def awaits_ignored(now: LineParser, number: int) -> bool:
    """Whether the head of an ignored traceback may still come, so that each line counts."""
    return any(count and due > number for due, count in now.ignoring.values())


def _handle_exception(
    now: LineParser, line: LogLine, number: int, exception: LoggedException
) -> None:
    matches = of_exception(now.signature_set, line, number, exception)
    if exception.ignored:
        true_matches = [match for match in matches if _stays_true(match, exception)]
        if exception.saves and not true_matches:
            true_matches = [failed_save(now.signature_set, line, number, exception)]
        now.matches += true_matches
        # another may have been raised while this one was handled
        _remember_stream(now.ignoring, line.stream, (number + 2, 0))
    else:
        _remember_stream(now.ended, line.stream, number)
        now.matches += matches


def _stays_true(match: Match, exception: LoggedException) -> bool:
    """A full disk, a dead device or a lost peer is no less true because the exception itself ended
    nothing; only a bug in the code that was ignored is none of the program's. What a log handler
    loses is its own file.
    """
    if match.role is not LineRole.ROOT or match.signature in (SMALL, COMPLEX):
        return False
    if exception.logs and match.failure is FailureClass.STORAGE:
        return False
    return match.strength is not RootStrength.BUG or match.signature in _OF_THE_DEVICE


def _remember_stream(streams: dict[str, T], stream: str, value: T) -> None:
    streams.pop(stream, None)
    streams[stream] = value
    if len(streams) > STREAMS:
        del streams[next(iter(streams))]
