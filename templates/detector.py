"""An evaluation's loss that rises above the lowest it has had."""

import math
from dataclasses import field

from herorun.core.detectors.excursion import ExcursionWatch
from herorun.core.lazy_dataclass import dataclass

RISE = 1.05  # times the lowest
RULES = (RISE,)  # a cached state of other rules is built again

_RISE = math.log(RISE)


@dataclass(slots=True)
class EvalLoss:
    """All that is remembered of one metric: the same size however long the run."""

    lowest: float = 0.0  # 0: no row yet
    rise: ExcursionWatch = field(default_factory=ExcursionWatch)


def judge_eval(state: EvalLoss, metric: str, step: int, value: float, is_declared: bool) -> None:
    """One value, in the order of steps. `is_declared`: in a phase that the contract announces."""
    if value <= 0.0:
        return
    excess = math.log(value / (state.lowest or value))
    if excess > _RISE:
        state.rise.extend(step, excess, state.lowest, 0.0, is_declared)
    elif state.rise.streak is not None:
        state.rise.within("overfit", metric, misses=0)
    state.lowest = min(state.lowest or value, value)
