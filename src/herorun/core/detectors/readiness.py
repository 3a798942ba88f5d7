"""Which checks cannot evaluate a metric yet, because it has too few rows: silence there is not
health.
"""

import math
from collections.abc import Iterator

from herorun.core.detectors.baseline import SETTLE, Trend
from herorun.core.detectors.first_rows import stands_from_the_first
from herorun.core.detectors.loss import DENSE, ELEVATED_NOISE, MOVES, RATIO
from herorun.core.detectors.loss_state import SIGNED_ROWS
from herorun.core.detectors.names import why_rival
from herorun.core.detectors.state import MetricsState
from herorun.core.detectors.throughput import WARM
from herorun.core.evidence import UnjudgedMetric
from herorun.core.finding import count

STANDS = (
    "the loss has not moved since its first rows, and its value alone does not show whether the "
    "weights are trained"
)
LEVELS = ("loss-elevated", "loss-drift", "loss-diverged")
PACES = ("throughput-collapse", "throughput-leak")


def unjudged_metrics(state: MetricsState) -> Iterator[UnjudgedMetric]:
    """The reported metrics that cannot be evaluated yet."""
    if "loss" in state.rhythms:
        yield from _of_loss(state)
    for name, norm in sorted(state.norms.items()):
        yield from _young(state, name, ("vanished-gradient",), norm.trend, 0)
    for name, pace in sorted(state.speeds.items()):
        yield from _young(state, name, PACES, pace.trend, max(WARM - pace.warm, 0))


def _of_loss(state: MetricsState) -> Iterator[UnjudgedMetric]:
    """Also if hundreds of steps are between two rows, because then a spike cannot be distinguished
    from a young curve.
    """
    loss = state.loss
    if loss.signed or (loss.zeros and not loss.above_zero):
        yield _not_above_zero(state)
        return
    if stands_from_the_first(loss.first_rows, state.step):
        yield UnjudgedMetric("loss", ("flat-start",), STANDS, None)
    if state.rival:
        yield UnjudgedMetric("loss", ("loss-diverged",), why_rival(state.rival), None)
    sparse = state.steps.stride > DENSE
    checks = ("loss-spike", *LEVELS) if sparse or loss.trend.rows < 2 else LEVELS
    yield from _young(state, "loss", checks, loss.trend, 0)
    yield from _loud(state)


def _not_above_zero(state: MetricsState) -> UnjudgedMetric:
    """The entry for a loss that is never above zero, or changes its sign: its ratios mean
    nothing.
    """
    loss, checks = state.loss, ("loss-spike", *LEVELS, "flat-start")
    if not loss.above_zero:
        reason = "no loss so far is above zero, and these checks compare losses above zero"
        return UnjudgedMetric("loss", checks, reason, None)
    reason = (
        f"the loss was not above zero within the last {count(SIGNED_ROWS, 'row')}: these checks "
        f"need {count(SIGNED_ROWS + SETTLE, 'row')} above zero without a break"
    )
    until = state.judged + loss.signed + SETTLE if loss.signed < SIGNED_ROWS else None
    return UnjudgedMetric("loss", checks, reason, until)


def _loud(state: MetricsState) -> Iterator[UnjudgedMetric]:
    """While larger differences of earlier rows, such as a descent, still count as noise: then only
    spikes are detected, not smaller rises.
    """
    trend, limit = state.loss.trend, math.log(RATIO) / ELEVATED_NOISE
    noise = MOVES / 3 * state.loss.wobble  # if the differences from row to row are only noise
    if trend.young or trend.scale <= limit or noise >= limit:
        return
    rest = "" if state.rival else "; loss-spike still works"
    reason = (
        f"it is too noisy (its rows are typically {math.expm1(trend.scale):.1%} away from its "
        f"trend; the limit is {math.expm1(limit):.1%}){rest}"
    )
    until = state.judged + trend.rows_until(limit)
    yield UnjudgedMetric("loss", ("loss-elevated",), reason, until)


def _young(
    state: MetricsState, metric: str, checks: tuple[str, ...], trend: Trend, warm: int
) -> Iterator[UnjudgedMetric]:
    """The entry for a metric whose trend has not settled."""
    missing = SETTLE - trend.rows + warm
    if missing <= 0 or not trend.young:
        return
    stride = state.steps.stride
    spacing = f", one about every {stride:.0f} steps" if stride > DENSE else ""
    reason = f"it has {count(trend.rows, 'row')}{spacing}, and these checks need {SETTLE} rows"
    yield UnjudgedMetric(metric, checks, reason, state.judged + missing)
