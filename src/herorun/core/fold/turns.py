"""Two writers in one history: their rows come in turn, each going on where it left off.

A restart goes back once and then catches up with what was there; of two trainers under one name each row, or each
batch of rows, jumps to where the other one is.
"""

from dataclasses import dataclass, field

from herorun.core.evidence import Excursion
from herorun.core.fold.order import WAITING
from herorun.core.fold.streak import Watch

SWITCHES = 6  # turns, one after another, from which on there are two
APART = 3.0  # times the steps between two rows of one writer: what is less may be one writer that skips a row
LONGEST = 200  # rows that a turn may have

RULES = (SWITCHES, APART, LONGEST)


@dataclass(slots=True)
class Turns:
    """Where the one that wrote last is, and where the other one was left."""

    last: int | None = None
    other: int | None = None
    stride: int = 1  # steps between the newest two rows of one writer
    rows: int = 0  # of this turn
    switches: int = 0
    mixed: Watch = field(default_factory=Watch)

    def told(self) -> list[Excursion]:
        return self.mixed.told("mixed", "rows")


def arrive(state: Turns, step: int) -> None:
    """One row with a loss, as it comes."""
    last, other = state.last, state.other
    state.last = step
    if last is None or step == last:
        return
    state.rows += 1
    if state.rows > LONGEST:
        _end(state)
        other = None
    if other is not None and _other_goes_on(state, step, last, other):
        state.stride = step - other
        state.other, state.rows, state.switches = last, 0, state.switches + 1
        if state.switches >= SWITCHES:
            state.mixed.over(step, 0.0, float(last), 0.0)
    elif step < last - WAITING:
        _end(state)
        state.other = last
    elif step > last:
        state.stride = step - last
        if other is not None and last < other <= step:  # it has caught up with what was there before
            _end(state)


def _other_goes_on(state: Turns, step: int, last: int, other: int) -> bool:
    """Whether the step follows the other one's newest, and not the one that came last."""
    jump = step - last
    if not (jump < -WAITING or jump > max(WAITING, APART * state.stride)):
        return False
    return step > other and step - other < abs(jump) / APART


def _end(state: Turns) -> None:
    state.other, state.rows, state.switches = None, 0, 0
    state.mixed.end("mixed", "rows")
