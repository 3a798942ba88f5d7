"""Classifies one line, given the lines before it: assembles tracebacks, and matches everything
else.
"""

from dataclasses import field, replace

from herorun.core.lazy_dataclass import dataclass
from herorun.core.triage.classes import LineRole
from herorun.core.triage.lines import LogLine, readable
from herorun.core.triage.match import Match, of_exception, of_line
from herorun.core.triage.progress import ProgressWatch
from herorun.core.triage.signatures import Catalogue
from herorun.core.triage.tracebacks import (
    LoggedException,
    Open,
    bare,
    chained,
    dedented,
    frame_of,
    handles,
    indent_of,
    patient,
    raised_by,
    starts_traceback,
    with_frame,
)

STREAMS = 64  # tracebacks that are open at once; a log of more ranks loses the oldest


@dataclass
class LineParser:
    """What is open while lines are read, and what they said."""

    catalogue: Catalogue
    open: dict[str, Open]
    ended: dict[str, int]
    handled: dict[str, int]
    watch: ProgressWatch
    matches: list[Match] = field(default_factory=list)


def match_line(now: LineParser, raw: bytes, number: int, inside: bool) -> None:
    before = len(now.matches)
    for line in readable(raw):
        if inside:
            now.matches += of_line(now.catalogue, line, number)
        else:
            _read_line(now, line, number)
    if any(match.role is LineRole.ROOT for match in now.matches[before:]):
        now.watch = ProgressWatch(on=True)


def _read_line(now: LineParser, line: LogLine, number: int) -> None:
    traceback = now.open.get(line.stream)
    if traceback and traceback.indent:
        line = replace(line, content=dedented(line.content, traceback.indent))
    frame = frame_of(line.content)
    if starts_traceback(line.content):
        _open_traceback(now, line, number)
    elif frame:
        open_traceback = traceback or _open_traceback(now, line, number)
        now.open[line.stream] = with_frame(open_traceback, frame)
    elif traceback:
        _read_inside_traceback(now, traceback, line, number)
    else:
        _outside(now, line, number)


def _open_traceback(now: LineParser, line: LogLine, number: int) -> Open:
    stream = line.stream
    outer = now.open.pop(stream, None)
    while len(now.open) >= STREAMS:
        now.open.pop(next(iter(now.open)))
    indent = indent_of(line.content) + (outer.indent if outer else 0)
    earlier = now.handled.pop(stream, 0)
    now.open[stream] = traceback = Open(stream, number, earlier=earlier, indent=indent)
    return traceback


def _read_inside_traceback(now: LineParser, traceback: Open, line: LogLine, number: int) -> None:
    """The source under a frame, the exception at the end, or a line of another process."""
    is_indented = line.content[:1] in " \t|~^"
    exception = None if is_indented else raised_by(traceback, line.content)
    patient_match = None if exception else patient(traceback)
    del now.open[line.stream]
    if patient_match:
        now.open[line.stream] = patient_match
    if exception:
        _raised(now, line, number, exception)
    elif not is_indented:
        _outside(now, line, number)


def _outside(now: LineParser, line: LogLine, number: int) -> None:
    if handles(line.content):
        _remember_stream(now.handled, line.stream, now.ended.get(line.stream, 0))
    elif not chained(line.content):
        exception = bare(line.content)
        if exception:
            _raised(now, line, number, exception)
        else:
            now.matches += of_line(now.catalogue, line, number)


def _raised(now: LineParser, line: LogLine, number: int, exception: LoggedException) -> None:
    _remember_stream(now.ended, line.stream, number)
    now.matches += of_exception(now.catalogue, line, number, exception)


def _remember_stream(streams: dict[str, int], stream: str, number: int) -> None:
    streams.pop(stream, None)
    streams[stream] = number
    if len(streams) > STREAMS:
        del streams[next(iter(streams))]
