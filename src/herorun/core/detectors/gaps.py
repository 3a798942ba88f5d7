"""Missing rows: steps that jump ahead and then continue as before.

A file of rows that is cut or rotated, or whose last rows a killed writer never flushed, lacks some.
Nothing is compared across such a gap. If a trainer starts to log more rarely, nothing is missing:
then the steps stay far apart.
"""

from dataclasses import field

from herorun.core.detectors.reorder import WAITING
from herorun.core.lazy_dataclass import dataclass

FAR = 5.0  # times the usual steps between two rows
MAX_GAPS = 5  # gaps
ALIKE = 0.05  # relative difference at which two gaps still count as equal
REGULAR = 2  # equal gaps in a row after which they count as the trainer's way of counting
ROUND = 1000  # steps, or ten, a hundred, ... times as many, at which an epoch may begin ...
SPARE = 10  # ... that has so many times fewer
EASE = 8  # rows in which the usual distance adapts by about half

RULES = (FAR, MAX_GAPS, EASE, ALIKE, REGULAR, ROUND, SPARE)


@dataclass(slots=True, kw_only=True)
class Steps:
    """The distances between rows, and where rows are missing."""

    last: int | None = None
    first: int = 0  # step of the first row
    stride: float = 0.0  # usual steps between two rows; 0: there was only one
    jump: list[int] = field(default_factory=list)  # steps around a gap that the next row explains
    # the steps of the rows around each gap
    gaps: list[tuple[int, int]] = field(default_factory=list)
    gap: int = 0  # steps of the newest gap
    regular: int = 0  # consecutive gaps equal to the one before


def see(state: Steps, step: int) -> bool:
    """Add a row, in order. Returns whether it is too far ahead of the previous row to be compared
    with it.
    """
    before, state.last = state.last, step
    if before is None:
        state.first = step
    if before is None or step <= before:
        state.jump = []
        return False
    step_gap = step - before
    if step_gap > WAITING and has_gap(state, step_gap):
        if state.jump:  # twice in a row: the trainer now logs more rarely
            state.stride, state.jump = float(step_gap), []
        else:
            state.jump = [before, step]
        return True
    if state.jump:
        _lose_rows(state, state.jump[0], state.jump[1])
        state.jump = []
    state.stride = ease_stride(state.stride, step_gap)
    return False


def ease_stride(stride: float, step_gap: int) -> float:
    """The updated usual distance in steps, after two rows `step_gap` apart."""
    lower = stride - (stride - step_gap) / EASE
    return lower if lower > step_gap else float(step_gap)


def has_gap(state: Steps, step_gap: int) -> bool:
    """Whether rows are missing between two rows `step_gap` steps apart."""
    return exceeds_stride(state.stride, step_gap)


def exceeds_stride(stride: float, step_gap: int) -> bool:
    """The same, by the usual steps between two rows."""
    return step_gap > WAITING and 0 < FAR * stride < step_gap


def _lose_rows(state: Steps, before: int, after: int) -> None:
    """Record that rows between these steps are missing. If equal leaps repeat, as with each epoch,
    they are the trainer's way of counting.
    """
    gap = after - before
    state.regular = state.regular + 1 if abs(gap - state.gap) <= ALIKE * gap else 0
    state.gap = gap
    if state.regular >= REGULAR:
        state.gaps = []
    elif not _begins_epoch(state, before, after):
        state.gaps = [*state.gaps, (before, after)][-MAX_GAPS:]


def _begins_epoch(state: Steps, before: int, after: int) -> bool:
    """Whether a step is an epoch's number times a power of ten, plus the batch: 50 to 5,000, and
    then 100,050. (If rows were lost instead, nine in ten of all would be.)
    """
    length, distance = ROUND, after - state.first
    while distance % (length * 10) == 0:
        length *= 10
    batches = (before - state.first) % length + state.stride
    return distance % length == 0 and length >= SPARE * batches
