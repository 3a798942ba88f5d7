"""Reads a job's growing log once: failures, tracker runs, save paths, and signs of a stall.

A reducer over the bytes, of constant size. The result does not depend on how the bytes are divided.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import field, replace
from datetime import datetime
from functools import cache

from herorun.core.evidence import Dropped
from herorun.core.health.stall_patterns import WORDS, signal_in
from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_regex import lazy_regex
from herorun.core.redaction.scrub import scrub
from herorun.core.triage import tracker_lines
from herorun.core.triage.classes import LineRole
from herorun.core.triage.match import Match
from herorun.core.triage.prefilter import LinePrefilter
from herorun.core.triage.scan import MAX_LINE, Scan, finish, scan, skip
from herorun.core.triage.signatures import SignatureSet
from herorun.core.triage.state import AttemptLog, see
from herorun.core.triage.verdict import TriageVerdict, judge_log, part_read

RECENT = 2_000  # lines: a sign of a wedge, or a path, further up is over
MAX_LINES = 5  # lines of a wedge, and paths
LOADS = 8  # lines that say what was loaded
RUNS = 20  # tracker runs; a log that names more is not one run's
_SAVE = lazy_regex(
    r"(?:sav(?:ing|ed) (?:\w+ )?checkpoint|PHASE: CHECKPOINT)\b.{0,120}?(?:\bto "
    r"|path=)['\"]?((?:[a-z0-9]+:/)?/[^\s'\"]+)",
    re.IGNORECASE,
)


@cache
def _prefilter() -> LinePrefilter:
    return LinePrefilter(
        (*WORDS, *tracker_lines.KEYWORDS, "saving ", "saved ", "phase: checkpoint")
    )


@dataclass(frozen=True)
class LogSignals:
    """What a log shows about a job that may still run."""

    runs: tuple[str, ...] = ()  # as `entity/project/id`, in order
    server: str = ""  # where the newest of them is shown, as `https://host`
    # the newest paths, each with the number of its newest line
    saves: tuple[tuple[int, str], ...] = ()
    wedges: tuple[tuple[int, str], ...] = ()  # the newest, each with the number of its line
    dropped: Dropped | None = None  # rows that the tracker's client says it dropped


@dataclass(frozen=True, kw_only=True)
class OwnLog:
    """What the log of one instance shows up to `offset`."""

    instance: str
    offset: int = 0  # bytes; where to continue
    mark: str = ""  # the scheduler's own, by which it knows the log again
    scan: Scan = field(default_factory=Scan)
    attempt_log: AttemptLog = field(default_factory=AttemptLog)
    signs: LogSignals = field(default_factory=LogSignals)
    changed_at: datetime | None = None
    skipped: int = 0  # bytes that the last query skipped
    # complaints, each with when it stood there at the latest
    complaint_times: tuple[tuple[str, datetime], ...] = ()
    passed: int = 0  # bytes that all queries skipped
    matched: tuple[
        tuple[str, int], ...
    ] = ()  # rows of which a line is due, with `judged_bytes` when one came
    step: int | None = None  # the newest step that the end of the log named in any read
    stepped_at: datetime | None = None  # when it was seen first
    loading: tuple[Match, ...] = ()  # the newest lines that say what was loaded, each once

    @property
    def judged_bytes(self) -> int:
        return self.offset - self.passed

    @property
    def wedges(self) -> tuple[str, ...]:
        """Those that are not over."""
        return self._recent(self.signs.wedges)

    @property
    def saves(self) -> tuple[str, ...]:
        """The paths that recent lines say it saves to."""
        return self._recent(self.signs.saves)

    @property
    def host_contention(self) -> Match | None:
        """A recent line about host contention."""
        crowded_match = self.attempt_log.crowded
        return (
            crowded_match
            if crowded_match and crowded_match.line > self.scan.lines - RECENT
            else None
        )

    def date_complaints(self, at: datetime, before: "OwnLog") -> "OwnLog":
        """Dates each complaint: since `before` had it, otherwise since `at`."""
        times = dict(before.complaint_times)
        return replace(
            self,
            complaint_times=tuple(
                (m.fingerprint, times.get(m.fingerprint, at)) for m in self.attempt_log.lately
            ),
        )

    def _recent(self, signs: tuple[tuple[int, str], ...]) -> tuple[str, ...]:
        return tuple(text for line, text in signs if line > self.scan.lines - RECENT)


def follow(signature_set: SignatureSet, log: OwnLog, data: bytes) -> OwnLog:
    """What is known after these bytes, too."""
    signs = log.signs
    for number, line in _telling(log.scan, data):
        signs = _read_sign(signs, number, line)
    state, matches = scan(signature_set, log.scan, data)
    positions = dict(log.matched)
    due = signature_set.due if matches else {}  # without a match the signatures need not be read
    for name in {match.signature for match in matches} & due.keys():
        positions[name] = log.judged_bytes + len(data)
    return replace(
        log,
        scan=state,
        attempt_log=see(log.attempt_log, matches),
        signs=signs,
        matched=tuple(sorted(positions.items())),
        loading=_loading(log.loading, matches),
    )


def _loading(recent: tuple[Match, ...], matches: Sequence[Match]) -> tuple[Match, ...]:
    """Every rank says it: of each line the newest."""
    for match in matches:
        if match.role is LineRole.LOADING:
            recent = (
                *(other for other in recent if other.fingerprint != match.fingerprint),
                match,
            )[-LOADS:]
    return recent


def skip_to(log: OwnLog, offset: int) -> OwnLog:
    """Continue further down, within a line perhaps; what was read before stays known."""
    skipped_bytes = offset - log.offset
    state = skip(log.scan, skipped_bytes)
    return replace(
        log,
        offset=offset,
        scan=state,
        skipped=log.skipped + skipped_bytes,
        passed=log.passed + skipped_bytes,
    )


def verdict_of_log(
    signature_set: SignatureSet, log: OwnLog, exit_code: int | None
) -> TriageVerdict:
    """Why it ended, if this is all that it will ever say."""
    state, matches = finish(signature_set, log.scan)
    verdict = judge_log(signature_set, see(log.attempt_log, matches), state.last_line, exit_code)
    return part_read(verdict, log.passed) if log.passed and exit_code != 0 else verdict


def _telling(before: Scan, data: bytes) -> Iterator[tuple[int, str]]:
    """The complete lines that may hold a sign, by number."""
    body, newline, _ = (before.carry + data).rpartition(b"\n")
    at, number = 0, before.lines + 1
    for start in _prefilter().starts(body) if newline else ():
        number, at = number + body.count(b"\n", at, start), start
        end = body.find(b"\n", start)
        yield (
            number,
            body[start : end if end >= 0 else len(body)][:MAX_LINE].decode("utf-8", "replace"),
        )


def _read_sign(signs: LogSignals, number: int, line: str) -> LogSignals:
    if signal_in(line):
        return replace(
            signs, wedges=(*signs.wedges, (number, scrub(line.strip())[:300]))[-MAX_LINES:]
        )
    if save := _SAVE.search(line):
        path = save[1].rstrip("/.,;)")
        others = (other for other in signs.saves if other[1] != path)
        return replace(signs, saves=(*others, (number, path))[-MAX_LINES:])
    if dropped_step := tracker_lines.dropped_step(line):
        return replace(signs, dropped=_one_more(signs.dropped, number, *dropped_step))
    if not (reported_run := tracker_lines.reported_run(line)):
        return signs
    run, server = reported_run
    runs = signs.runs if run in signs.runs else (*signs.runs, run)[-RUNS:]
    return replace(signs, runs=runs, server=server)


def _one_more(drop: Dropped | None, number: int, step: int, current: int) -> Dropped:
    """Counts a dropped step once, although many ranks and metrics drop it."""
    if drop is None:
        return Dropped(step, step, current, 1, number)
    return replace(
        drop, newest=step, current=current, steps=drop.steps + (step > drop.newest), line=number
    )
