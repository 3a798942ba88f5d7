"""A loss that loses much of its earlier fall, although the rise itself is small."""

import math

from herorun.core.detectors.loss_state import LossState
from herorun.core.lazy_statistics import median

REGRESSED = math.log(1.05)  # of the smoothed loss above its lowest
GAVE_BACK = 0.2  # of the fall since the first rows
LEAST_LEARNED = 0.25  # times the lowest loss: the least fall before that
RULES = (REGRESSED, GAVE_BACK, LEAST_LEARNED)


def gave_back(state: LossState, step: int, smooth: float, is_declared: bool) -> None:
    """Judges whether the smoothed loss has risen by more than `REGRESSED` above its lowest
    level.
    """
    low = math.exp(state.lowest)
    learned_drop, relapse = math.exp(median(state.opening)) - low, math.exp(smooth) - low
    if learned_drop > LEAST_LEARNED * low and relapse > GAVE_BACK * learned_drop:
        state.regressed.extend(step, smooth - state.lowest, low, state.trend.scale, is_declared)
    else:
        state.regressed.within("regressed", "loss", 0)
