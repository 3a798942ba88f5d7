"""Values that are not finite, and steps that were skipped for them."""

import math

from herorun.core.evidence import Excursion
from herorun.core.fold.streak import Watch

SKIPS = "skipped steps"


def judge(open_now: dict[str, Watch], metric: str, step: int, finite: bool) -> None:
    """One value of a metric that must be finite."""
    watch = open_now.get(metric)
    if not finite:
        if watch is None:
            watch = open_now[metric] = Watch()
        watch.over(step, math.inf, math.nan, 0.0)
    elif watch is not None and watch.streak is not None:
        watch.within("not-finite", metric, 0)


def told(open_now: dict[str, Watch]) -> list[Excursion]:
    return [e for name, watch in sorted(open_now.items()) for e in watch.told("not-finite", name)]
