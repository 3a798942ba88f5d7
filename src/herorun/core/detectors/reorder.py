"""Sorts rows by their steps, and finds where one attempt ends and the next begins.

Up to eight rows may be out of order: they wait until no earlier row can follow. A step that goes
back further, that is reported again with another loss, or that a new execution wrote begins an
attempt; so does one that lies far before a run's first rows. A row that comes twice counts once; a
step that is spread over several rows is put together.
"""

import math
from itertools import pairwise
from typing import Protocol

from herorun.core.detectors.names import Names
from herorun.core.ports import Row

WAITING = 8
OLDER = 8  # executions that are stored, so that a late row of one is no new attempt
APART = 5.0  # times the widest distance of waiting rows: a row further back is not late

RULES = (WAITING, OLDER, APART)


class RowOrder(Protocol):
    """The state of the earlier rows."""

    waiting: list[Row]  # by step
    attempt: str  # the newest execution
    older: list[str]  # executions before it
    has_begun: bool  # whether a row of the newest attempt was judged
    step: int  # of the last one that was
    late: int


def take(
    state: RowOrder, row: Row, names: Names, is_relaunch: bool = False
) -> tuple[list[Row], bool]:
    """Insert a row. Returns the rows to judge now, in order, and whether an attempt begins after
    them.

    `is_relaunch`: the record says that another instance wrote it than the rows before.
    """
    waiting = state.waiting
    if is_relaunch and (waiting or state.has_begun):
        return _start_attempt(state, row)
    if row.attempt and row.attempt != state.attempt:
        if row.attempt in state.older:
            state.late += 1
            return [], False
        return _start_attempt(state, row)
    if state.has_begun and row.step + 1 - names.first_step <= state.step:
        return _start_attempt(state, row)
    if waiting and row.step <= waiting[-1].step:
        return _among(state, row, names)
    waiting.append(row)
    return [waiting.pop(0)] if len(waiting) > WAITING else [], False


def _ready(waiting: list[Row]) -> list[Row]:
    return [waiting.pop(0)] if len(waiting) > WAITING else []


def _among(state: RowOrder, row: Row, names: Names) -> tuple[list[Row], bool]:
    """Insert a step among the waiting ones, or before all of them."""
    waiting = state.waiting
    place = next(i for i, other in enumerate(waiting) if other.step >= row.step)
    earlier, newest = waiting[place], waiting[-1]
    later = row.at is not None and newest.at is not None and row.at > newest.at
    if earlier.step != row.step:
        # a late row is older than the one that came before it, and near to it
        if later or (place == 0 and not state.has_begun and _is_far_before(waiting, row)):
            return _start_attempt(state, row)
        waiting.insert(place, row)
        return _ready(waiting), False
    if earlier is not newest and _again(earlier, row, names, later):
        return _start_attempt(state, row)
    state.late += not _merge_row(waiting, place, row, names)
    return [], False


def _is_far_before(waiting: list[Row], row: Row) -> bool:
    """Whether the row is far before all waiting ones, among a run's first rows, of which none was
    judged yet.
    """
    steps = [other.step for other in waiting]
    widest = max((after - before for before, after in pairwise(steps)), default=math.inf)
    return steps[0] - row.step > APART * widest


def _merge_row(waiting: list[Row], place: int, row: Row, names: Names) -> bool:
    """Merge a row into a waiting row of the same step; existing values stay. Returns whether it
    added a value.
    """
    earlier = waiting[place]
    has_loss = names.loss_of(earlier.values) is not None  # one loss for each step, under any name
    new = {
        k: v
        for k, v in row.values.items()
        if k not in earlier.values and not (has_loss and k in names.loss)
    }
    if new:
        waiting[place] = Row(earlier.step, {**earlier.values, **new}, earlier.at, earlier.attempt)
    return bool(new)


def _again(earlier: Row, row: Row, names: Names, later: bool) -> bool:
    """Whether the step was trained again: its loss differs, or it is reported after later steps."""
    old, new = names.loss_of(earlier.values), names.loss_of(row.values)
    if old is None or new is None:
        return False
    return later or (old != new and not (math.isnan(old) and math.isnan(new)))


def _start_attempt(state: RowOrder, row: Row) -> tuple[list[Row], bool]:
    """Begin an attempt; the waiting rows are judged first."""
    ready, state.waiting = state.waiting, [row]
    first = not ready and not state.has_begun
    if row.attempt:
        state.older = [*state.older, state.attempt][-OLDER:] if state.attempt else state.older
        state.attempt = row.attempt
    return ready, not first
