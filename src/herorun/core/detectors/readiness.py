"""Which checks cannot evaluate a metric yet, because it has too few rows: silence there is not
health.
"""

from collections.abc import Iterator

from herorun.core.detectors.baseline import SETTLE, Trend
from herorun.core.detectors.loss import DENSE
from herorun.core.detectors.names import Names
from herorun.core.detectors.state import MetricsState
from herorun.core.detectors.throughput import WARM
from herorun.core.evidence import UnjudgedMetric
from herorun.core.finding import count

LEVELS = ("loss-elevated", "loss-drift", "loss-diverged")
PACES = ("throughput-collapse", "throughput-leak")


def unjudged_metrics(state: MetricsState, names: Names) -> Iterator[UnjudgedMetric]:
    """Of the metrics that are reported."""
    if "loss" in state.seen:
        yield from _of_loss(state)
    for name, norm in sorted(state.norms.items()):
        yield from _young(state, name, ("vanished-gradient",), norm.trend, 0)
    for name, pace in sorted(state.speeds.items()):
        yield from _young(state, name, PACES, pace.trend, max(WARM - pace.warm, 0))


def _of_loss(state: MetricsState) -> Iterator[UnjudgedMetric]:
    """Where hundreds of steps lie between two rows, a spike cannot be told from a young curve
    either.
    """
    loss = state.loss
    if loss.signed:
        until = state.judged + loss.signed + SETTLE
        yield UnjudgedMetric(
            "loss", ("loss-spike", *LEVELS), "the loss is or was not above zero", until
        )
        return
    sparse = state.steps.stride > DENSE
    checks = ("loss-spike", *LEVELS) if sparse or loss.trend.rows < 2 else LEVELS
    yield from _young(state, "loss", checks, loss.trend, 0)


def _young(
    state: MetricsState, metric: str, checks: tuple[str, ...], trend: Trend, warm: int
) -> Iterator[UnjudgedMetric]:
    """Until its trend has settled."""
    missing = SETTLE - trend.rows + warm
    if missing <= 0 or not trend.young:
        return
    stride = state.steps.stride
    apart = f", about {stride:.0f} steps apart" if stride > DENSE else ""
    reason = f"{count(trend.rows, 'row')} to compare with, of the {SETTLE} that it takes{apart}"
    yield UnjudgedMetric(metric, checks, reason, state.judged + missing)
