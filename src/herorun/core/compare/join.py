"""One metric of two curves, joined on the step. A difference is B minus A."""

import math
from collections.abc import Mapping

from herorun.core.compare.gate import Bound, ComparisonGate
from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_statistics import fmean, median


@dataclass(frozen=True, kw_only=True)
class CurveJoin:
    """`only_a` and `only_b` count the steps of the window that the other curve has not logged."""

    metric: str
    pairs: int = 0  # steps at which both are finite
    only_a: int = 0
    only_b: int = 0
    not_finite_a: int = 0  # steps at which A is not finite; B is not judged there
    not_finite_b: int = 0  # steps at which A is finite and B is not
    first: int | None = None
    last: int | None = None
    mean_a: float | None = None
    mean_b: float | None = None
    median_a: float | None = None
    mean: float | None = None
    median: float | None = None
    rise: float | None = None  # the largest excess of B over A; negative if B is always lower
    fall: float | None = None  # the smallest excess of B over A
    rise_percent: float | None = None  # the rise as a percentage of A at that step
    fall_percent: float | None = None
    largest: float | None = None  # the largest rise or fall, with its sign
    largest_step: int | None = None
    median_difference: float | None = None  # the median of the absolute differences
    equal: int = 0  # pairs of values that are equal bit by bit
    first_difference: int | None = None  # the first step at which the values differ

    def percent(self, measure: str) -> float | None:
        """The mean or median difference in percent of A's own."""
        of = self.mean_a if measure == "mean" else self.median_a
        difference = self.mean if measure == "mean" else self.median
        return None if of is None or difference is None else _percent(difference, of)

    def measure(self, gate: ComparisonGate) -> float | None:
        """What the gate bounds; None where nothing was paired."""
        if gate.measure != "largest":
            return self.percent(gate.measure) if gate.percent else getattr(self, gate.measure)
        rise, fall = (
            (self.rise_percent, self.fall_percent) if gate.percent else (self.rise, self.fall)
        )
        if rise is None or fall is None or gate.bound is Bound.MOST:
            return rise
        if gate.bound is Bound.LEAST:
            return fall
        return max(rise, fall, key=abs)


def pair(
    metric: str, a: Mapping[int, float], b: Mapping[int, float], first: int, last: int
) -> CurveJoin:
    """The two curves at the steps from `first` to `last`, both included."""
    ours = {step for step in a if first <= step <= last}
    theirs = {step for step in b if first <= step <= last}
    both = sorted(ours & theirs)
    steps = [step for step in both if math.isfinite(a[step]) and math.isfinite(b[step])]
    counts = CurveJoin(
        metric=metric,
        pairs=len(steps),
        only_a=len(ours - theirs),
        only_b=len(theirs - ours),
        not_finite_a=sum(not math.isfinite(a[step]) for step in both),
        not_finite_b=sum(math.isfinite(a[step]) and not math.isfinite(b[step]) for step in both),
    )
    return _measure_differences(counts, steps, a, b) if steps else counts


def _measure_differences(
    counts: CurveJoin, steps: list[int], a: Mapping[int, float], b: Mapping[int, float]
) -> CurveJoin:
    differences = [b[step] - a[step] for step in steps]
    percents = [_percent(each, a[step]) for step, each in zip(steps, differences, strict=True)]
    place = max(range(len(steps)), key=lambda n: abs(differences[n]))
    return CurveJoin(
        metric=counts.metric,
        pairs=counts.pairs,
        only_a=counts.only_a,
        only_b=counts.only_b,
        not_finite_a=counts.not_finite_a,
        not_finite_b=counts.not_finite_b,
        first=steps[0],
        last=steps[-1],
        mean_a=fmean(a[step] for step in steps),
        mean_b=fmean(b[step] for step in steps),
        median_a=median(a[step] for step in steps),
        mean=fmean(differences),
        median=median(differences),
        rise=max(differences),
        fall=min(differences),
        rise_percent=max(percents),
        fall_percent=min(percents),
        largest=differences[place],
        largest_step=steps[place],
        median_difference=median(map(abs, differences)),
        equal=sum(each == 0 for each in differences),
        first_difference=next(
            (step for step, each in zip(steps, differences, strict=True) if each), None
        ),
    )


def _percent(difference: float, of: float) -> float:
    """A difference from nothing has no measure, and is more than any bound allows."""
    if difference == 0:
        return 0.0
    return 100 * difference / abs(of) if of else math.copysign(math.inf, difference)
