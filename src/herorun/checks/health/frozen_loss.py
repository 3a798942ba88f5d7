"""The loss is one and the same number, row after row.

Why: no two batches have the same loss to the last digit: what is logged is an old value, or the weights and the data
stand still; every other rule takes it for calm.
Fix: see whether the trainer still computes what it logs; compare the gradient norm, the learning rate and the data's
position at that step.
Source: fifty rows, and five times as long as any such stretch before, for logs that repeat a value until there is a new
one.
"""

from dataclasses import dataclass

from pydantic import PositiveInt

from herorun.core.check import Gate, Response, Topic, check
from herorun.core.evidence import History, Metrics
from herorun.core.finding import Verdict, failed, not_applicable, passed


@dataclass(frozen=True)
class Limits:
    """How many rows beyond the first twenty that were alike (`core.fold`)."""

    rows: PositiveInt = 30


@check(Gate.HEALTH, Response.WARN, topic=Topic.METRIC)
def frozen_loss(metrics: Metrics, history: History, limits: Limits) -> list[Verdict]:
    if not history.wrote(metrics):
        return [not_applicable("no row of this instance yet")]
    frozen = [e for e in metrics.of("frozen") if e.rows >= limits.rows and not e.declared]
    wrong = [
        failed(
            f"the loss is {e.expected:.6g} in every row since before step {e.first_step}"
            + ("" if e.open else f", up to step {e.last_step}"),
            subject=f"loss from step {e.first_step}",
        )
        for e in frozen
    ]
    return wrong or [passed(f"no loss that stands still up to step {metrics.step}")]
