"""A metric is NaN or infinite.

Why: after a non-finite loss the weights are lost, and every further step is paid for nothing; a relaunch as if it
were a hardware fault meets it again.
Fix: the DRI decides: roll back to a checkpoint before it, skip data, lower the learning rate, or stop.
Source: one row of a loss is enough; a gradient norm may overflow on single skipped steps, hence 10 rows in a row.
"""

from dataclasses import dataclass
from itertools import groupby

from pydantic import PositiveInt

from herorun.core.check import Gate, Response, Topic, check
from herorun.core.contract import Contract
from herorun.core.evidence import Excursion, History, Metrics
from herorun.core.finding import Verdict, failed, not_applicable, passed


@dataclass(frozen=True)
class Limits:
    loss_rows: PositiveInt = 1
    other_rows: PositiveInt = 10


@check(Gate.HEALTH, Response.ESCALATE, topic=Topic.NUMERIC, vetoes_relaunch=True)
def not_finite(metrics: Metrics, history: History, contract: Contract, limits: Limits) -> list[Verdict]:
    """One answer for each metric, by its longest stretch that is open or ended since the last look."""
    if not history.wrote(metrics):
        return [not_applicable("no row of this instance yet")]
    ordered = sorted(metrics.non_finite, key=lambda e: (e.metric, e.rows))
    longest = [list(stretches)[-1] for _, stretches in groupby(ordered, key=lambda e: e.metric)]
    wrong = [stretch for stretch in longest if stretch.rows >= _least(stretch.metric, contract, limits)]
    return [_failed(stretch) for stretch in wrong] or [passed(f"all finite at step {metrics.step}")]


def _least(metric: str, contract: Contract, limits: Limits) -> int:
    is_loss = "loss" in metric or metric == contract.tracker.metrics.get("loss")
    return limits.loss_rows if is_loss else limits.other_rows


def _failed(stretch: Excursion) -> Verdict:
    until = "and still is" if stretch.open else f"until step {stretch.last_step}"
    rows = f"{stretch.rows} row{'s' if stretch.rows > 1 else ''}"
    said = f"{stretch.metric} is not finite since step {stretch.first_step}, {until} ({rows})"
    return failed(said, subject=stretch.metric)
