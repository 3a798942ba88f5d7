"""Divides each instance's time into stretches, row by row."""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from herorun.core.goodput.instances import InstanceTimeline, JournalFacts
from herorun.core.goodput.states import SECOND, StateSpan, Timeline, WallTimeState
from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_statistics import median

# A gap between two rows of up to so many times the usual one is training, slow as it may be: rows
# come unevenly, and a slow machine still makes steps. What is longer needs an explanation, or is
# unknown.
SLOW = 3.0
ENOUGH = 3  # gaps, for a pace of an instance's own


class Beat(NamedTuple):
    """One row. `eval_seconds` and `save_seconds` are what it says that those took; 0 where it says
    nothing.
    """

    at: int  # microseconds
    step: int  # completed updates
    eval_seconds: float = 0.0
    save_seconds: float = 0.0
    evaluated: bool = False  # it holds what only an evaluation gives


@dataclass
class Clock:
    """The steps' usual time and how far the run has been."""

    pace: float | None  # microseconds a step; None where no two rows tell
    high: int = 0  # the most completed updates of any instance


def timeline(facts: JournalFacts, beats: Sequence[Beat]) -> list[StateSpan]:
    """The whole of the time from the first launch to the last thing that is known, in stretches."""
    if not facts.lives:
        return []
    by_life = rows_of_lives(facts.lives, beats)
    line = Timeline(facts.lives[0].intended)
    clock = Clock(_pace(gap for rows in by_life for gap in pairwise(rows)))
    for life, rows, after in zip(facts.lives, by_life, [*facts.lives[1:], None], strict=True):
        _live(line, life, rows, clock, facts)
        ended_at, is_end_seen = life.ended_at, bool(life.seen_ended)
        until = after.intended if after else _last_known(facts, beats, life)
        if ended_at is not None:
            line.upto(min(ended_at, until), _tail(line.now, ended_at, rows, facts))
        else:
            line.upto(until, _tail(line.now, until, rows, facts))
        line.accelerators = None
        line.upto(until, WallTimeState.DOWN if is_end_seen else WallTimeState.UNKNOWN)
    return line.stretches


def _last_known(facts: JournalFacts, beats: Sequence[Beat], last: InstanceTimeline) -> int:
    """The end of a run that succeeded; of another, the newest journal line or row."""
    if last.has_succeeded and last.ended_at is not None:
        return last.ended_at
    return max(facts.until, beats[-1].at if beats else 0)


def rows_of_lives(lives: Sequence[InstanceTimeline], beats: Sequence[Beat]) -> list[list[Beat]]:
    """Each row belongs to the instance that was wanted last before it."""
    rows: list[list[Beat]] = [[] for _ in lives]
    number = -1
    for beat in beats:
        while number + 1 < len(lives) and lives[number + 1].intended <= beat.at:
            number += 1
        if number >= 0:
            rows[number].append(beat)
    return rows


def _pace(gaps: Iterable[tuple[Beat, Beat]]) -> float | None:
    steps = [(b.at - a.at) / (b.step - a.step) for a, b in gaps if b.step > a.step]
    return median(steps) if steps else None


def _live(
    line: Timeline, life: InstanceTimeline, rows: list[Beat], clock: Clock, facts: JournalFacts
) -> None:
    line.accelerators = None
    line.upto(life.job_started or line.now, WallTimeState.QUEUED)
    line.accelerators = life.accelerators
    own = _pace(pairwise(rows)) if len(rows) > ENOUGH else None
    pace = own or clock.pace
    if life.checked_in is not None:
        line.upto(
            life.checked_in, WallTimeState.INIT if life.job_started else WallTimeState.UNKNOWN
        )
    if rows:
        _first_steps(line, life, rows[0], clock, pace)
    for before, row in pairwise(rows):
        _between(line, before, row, clock, pace, facts)
        clock.high = max(clock.high, row.step)


def _first_steps(
    line: Timeline, life: InstanceTimeline, first: Beat, clock: Clock, pace: float | None
) -> None:
    """Up to the first row, whose own steps are training already, if the pace tells how long they
    took.
    """
    before = _before_first_step(life)
    start = life.start_step
    if pace is None or start is None or first.step <= start:
        line.upto(first.at, before)
    else:
        line.upto(first.at - round(pace * (first.step - start)), before)
        _train(line, first.at, Beat(0, start), first, clock.high)
    clock.high = max(clock.high, first.step)


def _before_first_step(life: InstanceTimeline) -> WallTimeState:
    """Only check-in tells where the start-up ends and loading begins; from scratch nothing is
    loaded.
    """
    if life.checked_in is not None:
        return WallTimeState.RESTORE if life.from_checkpoint else WallTimeState.INIT
    return (
        WallTimeState.INIT
        if life.job_started and not life.from_checkpoint
        else WallTimeState.UNKNOWN
    )


def _between(
    line: Timeline, before: Beat, row: Beat, clock: Clock, pace: float | None, facts: JournalFacts
) -> None:
    steps = row.step - before.step
    if steps <= 0 or pace is None:  # a restart within the instance, or two rows of one step
        line.upto(
            row.at, WallTimeState.EVAL if row.evaluated and not steps else WallTimeState.UNKNOWN
        )
        return
    gap, usual = row.at - before.at, pace * steps
    evaluation = min(round(row.eval_seconds * SECOND), gap)
    saving = min(round(row.save_seconds * SECOND), gap - evaluation)
    remaining = gap - evaluation - saving
    training = remaining if remaining <= SLOW * usual else round(usual)
    _train(line, before.at + training, before, row, clock.high)
    line.upto(before.at + training + evaluation, WallTimeState.EVAL)
    line.upto(before.at + training + evaluation + saving, WallTimeState.CHECKPOINT)
    line.upto(row.at, _classify_unexplained_time(before.at, row, evaluation, facts))


def _train(line: Timeline, until: int, before: Beat, row: Beat, high: int) -> None:
    """Steps up to the highest one so far are done again; those above it are new."""
    again = max(min(row.step, high) - before.step, 0)
    share = round((until - line.now) * again / (row.step - before.step))
    line.upto(line.now + share, WallTimeState.CATCH_UP)
    line.upto(until, WallTimeState.PRODUCTIVE)


def _classify_unexplained_time(
    since: int, row: Beat, evaluation: int, facts: JournalFacts
) -> WallTimeState:
    if _overlaps_stall(facts, since, row.at):
        return WallTimeState.STALLED
    return WallTimeState.EVAL if row.evaluated and not evaluation else WallTimeState.UNKNOWN


def _tail(since: int, until: int, rows: list[Beat], facts: JournalFacts) -> WallTimeState:
    return (
        WallTimeState.STALLED
        if rows and _overlaps_stall(facts, since, until)
        else WallTimeState.UNKNOWN
    )


def _overlaps_stall(facts: JournalFacts, since: int, until: int) -> bool:
    return any(start < until and end > since for start, end in facts.stalls)
