"""Two writers in one history: their rows alternate, each continuing where it stopped.

A restart goes back once and then catches up; of two trainers under one name each row, or each batch
of rows, jumps to where the other one is. If both are at the same steps, each step is reported
twice, with different losses.
"""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import field

from herorun.core.detectors.excursion import ExcursionWatch
from herorun.core.detectors.reorder import WAITING
from herorun.core.evidence import Excursion
from herorun.core.lazy_dataclass import dataclass

SWITCHES = 6  # turns, one after another, from which on there are two
# times the steps between two rows of one writer: what is less may be one writer that skips a row
APART = 3.0
LONGEST = 200  # rows that a turn may have
# steps told twice, one soon after another; the first rows behind a restart repeat once
DOUBLES = 10
NEAR = 8  # rows without one, by which that is over
RECENT = 16  # steps

RULES = (SWITCHES, APART, LONGEST, DOUBLES, NEAR, RECENT)


@dataclass(slots=True)
class WriterTurns:
    """Where the one that wrote last is, and where the other one was left."""

    last: int | None = None
    other: int | None = None
    stride: int = 1  # steps between the newest two rows of one writer
    rows: int = 0  # of this turn
    switches: int = 0
    mixed: ExcursionWatch = field(default_factory=ExcursionWatch)
    recent: list[int] = field(default_factory=list)  # the newest steps, in order ...
    recent_losses: list[float] = field(default_factory=list)  # ... and their losses
    again: bool = False  # whether the last row told a step again
    since: int = 0  # rows since one did
    doubles: int = 0
    doubled: ExcursionWatch = field(default_factory=ExcursionWatch)

    def excursions(self) -> list[Excursion]:
        return [
            *self.mixed.excursions("mixed", "rows"),
            *self.doubled.excursions("doubled", "rows"),
        ]


def arrive(state: WriterTurns, step: int, loss: float) -> None:
    """One row with a loss, as it comes."""
    _doubled(state, step, loss)
    last, other = state.last, state.other
    state.last = step
    if last is None or step == last:
        return
    state.rows += 1
    if state.rows > LONGEST:
        _end_mixed(state)
        other = None
    if other is None and step > last:
        state.stride = step - last
    elif other is not None and _other_goes_on(state, step, last, other):
        state.stride = step - other
        state.other, state.rows, state.switches = last, 0, state.switches + 1
        if state.switches >= SWITCHES:
            state.mixed.extend(step, 0.0, float(last), 0.0)
    elif step < last - WAITING:
        _end_mixed(state)
        state.other = last
    elif step > last:
        state.stride = step - last
        # it has caught up with what was there before
        if other is not None and last < other <= step:
            _end_mixed(state)


def is_single(state: WriterTurns, step: int) -> bool:
    """Whether nothing of the rows before, nor this next step, speaks for a second writer."""
    if state.other is not None or state.doubles or state.again or state.last is None:
        return False
    if state.mixed.streak is not None or state.doubled.streak is not None:
        return False
    return step > max(state.last, *state.recent[-1:])


def arrive_all(state: WriterTurns, steps: Sequence[int], losses: Sequence[float]) -> None:
    """`arrive` for rows beyond the newest, of a single writer, each with another step."""
    assert state.last is not None
    count = len(steps)
    state.stride = steps[-1] - (steps[-2] if count > 1 else state.last)
    state.last = steps[-1]
    state.since += count
    state.switches = 0 if state.rows + count > LONGEST else state.switches
    state.rows = (state.rows + count) % (LONGEST + 1)
    state.recent = [*state.recent, *steps][-RECENT:]
    state.recent_losses = [*state.recent_losses, *losses][-RECENT:]


def _other_goes_on(state: WriterTurns, step: int, last: int, other: int) -> bool:
    """Whether the step follows the other one's newest, and not the one that came last."""
    jump = step - last
    if not (jump < -WAITING or jump > max(WAITING, APART * state.stride)):
        return False
    return step > other and step - other < abs(jump) / APART


def _end_mixed(state: WriterTurns) -> None:
    state.other, state.rows, state.switches = None, 0, 0
    state.mixed.end("mixed", "rows")


def _doubled(state: WriterTurns, step: int, loss: float) -> None:
    first_loss = _first_loss(state, step, loss)
    again = first_loss != loss and first_loss - first_loss == loss - loss == 0.0
    if again and not state.again:
        state.doubles += 1
        if state.doubles >= DOUBLES:
            state.doubled.extend(step, 0.0, first_loss, 0.0)
    state.again, state.since = again, 0 if again else state.since + 1
    if state.since > NEAR and (state.doubles or state.doubled.streak is not None):
        state.doubles = 0
        state.doubled.end("doubled", "rows")


def _first_loss(state: WriterTurns, step: int, loss: float) -> float:
    """The loss that was told first of this step."""
    steps, losses = state.recent, state.recent_losses
    place = len(steps)
    if steps and step <= steps[-1]:
        # a restart, or the other of two that are far apart; the newest step is among the recent
        # ones, so that a later one lies beyond the lowest
        if (state.last is None or step < state.last) and step < steps[0]:
            del steps[:], losses[:]
        place = bisect_left(steps, step)
        if place < len(steps) and steps[place] == step:
            return losses[place]
    steps.insert(place, step)
    losses.insert(place, loss)
    if len(steps) > RECENT:
        del steps[0], losses[0]
    return loss
