"""A loss that repeats the first rows of the run to the last digit: a second pass over the data with
unchanged weights.
"""

from dataclasses import field

from herorun.core.detectors.excursion import ExcursionWatch
from herorun.core.lazy_dataclass import dataclass

# Rows until the first one repeats. By chance four rows repeat others once in 10^8 times, if each
# can have a hundred values.
MIN_ROWS, MAX_ROWS = 4, 40
SPREAD = 100  # the least difference of the rows, in units of the last digit
ATTEMPTS = 1  # raised when a new attempt changes the state otherwise
RULES = (MIN_ROWS, MAX_ROWS, SPREAD, ATTEMPTS)


@dataclass(slots=True)
class RepeatedRows:
    first: list[float] = field(default_factory=list)  # rows until the first one comes again
    repeated: int = 0  # rows that repeat them
    is_over: bool = False  # a row did not repeat, or none did in time
    watch: ExcursionWatch = field(default_factory=ExcursionWatch)


def follow_repeats(state: RepeatedRows, step: int, loss: float) -> None:
    """Add a row of a loss that has repeated its first rows so far, or may begin to."""
    if state.is_over:
        return
    first, repeats = state.first, state.repeated
    if not first or (not repeats and loss != first[0]):
        first.append(loss)
        state.is_over = len(first) > MAX_ROWS
    elif loss == first[repeats % len(first)] and _can_tell(first):
        state.repeated = repeats + 1
        if state.repeated >= len(first):
            state.watch.extend(step, 0.0, first[0], 0.0)
    else:
        state.watch.end("repeats", "loss")
        state.is_over = True


def forget_rows(state: RepeatedRows) -> None:
    """At a new attempt: one that trains the first steps again, with the same seed, has the same
    losses and yet learns.
    """
    state.watch.end("repeats", "loss")
    state.first, state.repeated = [], 0


def _can_tell(first: list[float]) -> bool:
    if len(first) < MIN_ROWS:
        return False
    decimals = max(len(repr(loss).partition(".")[2]) for loss in first)
    return (max(first) - min(first)) * 10.0**decimals >= SPREAD
