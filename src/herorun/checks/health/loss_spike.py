"""The loss is far above its expected trend, and stays there.

Why: a spike that lasts is numerical trouble; relaunching it as a hardware fault wastes the budget.
Fix: the DRI decides: wait, roll back, or skip data.
Source: marin-community/marin, manage-hero-run: more than 50 % above the expected trend for about 10 steps; the
fast tier reports a threefold loss after 3 rows.
"""

from dataclasses import dataclass

from pydantic import PositiveFloat, PositiveInt

from herorun.core.check import Gate, Response, Topic, check
from herorun.core.evidence import Excursion, History, Metrics
from herorun.core.finding import Verdict, failed, not_applicable, passed


@dataclass(frozen=True)
class Limits:
    """An excursion begins 50 % above the trend (`core.fold`); these say how long it must last."""

    steps: PositiveInt = 10
    least_rows: PositiveInt = 3
    fast_ratio: PositiveFloat = 3.0
    fast_rows: PositiveInt = 3


@check(Gate.HEALTH, Response.ESCALATE, topic=Topic.METRIC, vetoes_relaunch=True)
def loss_spike(metrics: Metrics, history: History, limits: Limits) -> list[Verdict]:
    """One answer for each excursion that is open or ended since the last look."""
    if not history.wrote(metrics):
        return [not_applicable("no row of this instance yet")]
    found = [_failed(spike) for spike in metrics.spikes if _lasts(spike, limits)]
    return found or [passed(f"no lasting spike up to step {metrics.step}")]


def _lasts(spike: Excursion, limits: Limits) -> bool:
    slow = _steps(spike) >= limits.steps and spike.rows >= limits.least_rows
    fast = spike.peak >= limits.fast_ratio and spike.rows >= limits.fast_rows
    return slow or fast


def _steps(spike: Excursion) -> int:
    return spike.last_step - spike.first_step + 1


def _failed(spike: Excursion) -> Verdict:
    until = "still going on" if spike.open else f"over at step {spike.last_step}"
    said = (
        f"{spike.metric} up to {spike.peak:.3g} times the expected {spike.expected:.4g} "
        f"for {_steps(spike)} steps from step {spike.first_step}, {until}"
    )
    return failed(said, subject=f"{spike.metric} from step {spike.first_step}")
