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

SWITCHES = 6  # consecutive turns that show two writers
# times the distance of one writer's rows: less may be one writer that skips a row
APART = 3.0
MAX_TURN_ROWS = 200  # the most rows of a turn
# steps reported twice, close together; the first rows after a restart repeat once
DOUBLES = 10
NEAR = 8  # rows without a repeated step that end it
RECENT = 16  # steps

RULES = (SWITCHES, APART, MAX_TURN_ROWS, DOUBLES, NEAR, RECENT)


@dataclass(slots=True, kw_only=True)
class WriterTurns:
    """The positions of the writer of the last row and of the other writer."""

    last: int | None = None
    other: int | None = None
    stride: int = 1  # steps between the newest two rows of one writer
    rows: int = 0  # of this turn
    switches: int = 0
    mixed: ExcursionWatch = field(default_factory=ExcursionWatch)
    recent: list[int] = field(default_factory=list)  # the newest steps, in order ...
    recent_losses: list[float] = field(default_factory=list)  # ... and their losses
    again: bool = False  # whether the last row repeated a step
    since: int = 0  # rows since a repeated step
    doubles: int = 0
    doubled: ExcursionWatch = field(default_factory=ExcursionWatch)

    def excursions(self) -> list[Excursion]:
        return [
            *self.mixed.excursions("mixed", "rows"),
            *self.doubled.excursions("doubled", "rows"),
        ]


def arrive(state: WriterTurns, step: int, loss: float) -> None:
    """Add a row with a loss, in the order of arrival."""
    _watch_doubled_rows(state, step, loss)
    last, other = state.last, state.other
    state.last = step
    if last is None or step == last:
        return
    state.rows += 1
    if state.rows > MAX_TURN_ROWS:
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
        # a restart has caught up with the earlier rows
        if other is not None and last < other <= step:
            _end_mixed(state)


def is_single(state: WriterTurns, step: int) -> bool:
    """Whether neither the earlier rows nor this next step suggest a second writer."""
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
    state.switches = 0 if state.rows + count > MAX_TURN_ROWS else state.switches
    state.rows = (state.rows + count) % (MAX_TURN_ROWS + 1)
    state.recent = [*state.recent, *steps][-RECENT:]
    state.recent_losses = [*state.recent_losses, *losses][-RECENT:]


def _other_goes_on(state: WriterTurns, step: int, last: int, other: int) -> bool:
    """Whether the step continues the other writer's rows, and not those of the last writer."""
    jump = step - last
    if not (jump < -WAITING or jump > max(WAITING, APART * state.stride)):
        return False
    return step > other and step - other < abs(jump) / APART


def _end_mixed(state: WriterTurns) -> None:
    state.other, state.rows, state.switches = None, 0, 0
    state.mixed.end("mixed", "rows")


def _watch_doubled_rows(state: WriterTurns, step: int, loss: float) -> None:
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
    """The first reported loss of this step."""
    steps, losses = state.recent, state.recent_losses
    place = len(steps)
    if steps and step <= steps[-1]:
        # a restart, or the other of two distant writers; the newest step is among the recent ones,
        # so a later step is above the lowest
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
