"""A metric is NaN or infinite.

Why: after a non-finite loss the weights are lost, and every further step is wasted; a relaunch
would meet the same problem.
Fix: the DRI decides: roll back to a checkpoint before it (`herorun rollback RUN --to STEP
--stop-first`; STEP: see `herorun checkpoints list RUN`), skip data, lower the learning rate, or
stop (`herorun stop RUN`).
Source: one row of a loss is enough. A gradient norm may overflow on single skipped steps, so it
must be 10 consecutive rows, or 3 that span 50 steps: the search of half precision for its loss
scale, which halves with each skipped step from 2^32 to 1, ends within 32 steps. Checkpoints are
tainted from `margin` steps before the first bad one: the loss of a step is computed with the
weights of the step before. If rows are logged every N steps, declare a margin of N. Some trainers
log a loss of NaN as 0: two such rows with a gradient norm that is not finite count too. Two public
fine-tuning runs continued that way for thousands of rows.
"""

from itertools import groupby

from herorun.core.check import Gate, Response, Topic, check
from herorun.core.contract import Contract
from herorun.core.detectors.nonfinite import AS_ZERO, SKIPS
from herorun.core.evidence import Excursion, History, Metrics
from herorun.core.finding import Verdict, count, failed, not_applicable, passed
from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_pydantic import NonNegativeInt, PositiveInt


@dataclass(frozen=True)
class Limits:
    loss_rows: PositiveInt = 1
    zero_rows: PositiveInt = 2
    other_rows: PositiveInt = 10
    apart_rows: PositiveInt = 3  # the same of rows that span ...
    apart_steps: PositiveInt = 50  # ... so many steps
    margin: NonNegativeInt = 1  # steps


@check(Gate.HEALTH, Response.ESCALATE, topic=Topic.NUMERIC, vetoes_relaunch=True)
def not_finite(
    metrics: Metrics, history: History, contract: Contract, limits: Limits
) -> list[Verdict]:
    """One verdict for each metric, by its longest stretch that is open, or ended since the last
    tick.
    """
    if not history.wrote(metrics):
        return [not_applicable("no row of this instance yet")]
    wrong = [e for e in metrics.non_finite if _lasts(e, contract, limits)]
    by_metric = sorted(wrong, key=lambda e: (e.metric, e.rows))
    stretches = [list(each) for _, each in groupby(by_metric, key=lambda e: e.metric)]
    return [_report_longest_stretch(metrics, each, limits) for each in stretches] or [
        passed(f"all finite at step {metrics.logged_step(metrics.step)}")
    ]


def _lasts(excursion: Excursion, contract: Contract, limits: Limits) -> bool:
    """Rows that count skipped steps must be consecutive: the steps between them may not have been
    skipped.
    """
    apart = excursion.rows >= limits.apart_rows and excursion.steps >= limits.apart_steps
    return (apart and excursion.metric != SKIPS) or excursion.rows >= _least(
        excursion.metric, contract, limits
    )


def _least(metric: str, contract: Contract, limits: Limits) -> int:
    if metric.endswith(AS_ZERO):
        return limits.zero_rows
    is_loss = "loss" in metric or metric == contract.tracker.metrics.get("loss")
    return limits.loss_rows if is_loss else limits.other_rows


def _report_longest_stretch(
    metrics: Metrics, stretches: list[Excursion], limits: Limits
) -> Verdict:
    """The verdict names the longest stretch; what was saved since the first one is tainted."""
    longest, first = stretches[-1], min(each.first_step for each in stretches)
    as_logged, rows = metrics.as_logged(longest), count(longest.rows, "row")
    message = (
        f"{longest.metric} has not been finite since step {as_logged.first_step} ({rows}), "
        "still in progress"
    )
    if not longest.open:
        message = (
            f"{longest.metric} was not finite from step {as_logged.first_step} to "
            f"{as_logged.last_step} ({rows})"
        )
    steps = first, max(each.last_step for each in stretches)
    return failed(message, subject=longest.metric, steps=steps, taints_from=first - limits.margin)
