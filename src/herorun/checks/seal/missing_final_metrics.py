"""The final metrics are missing.

Why: a seal without its numbers shows that something was trained, not how well; a client that is
interrupted loses the last rows first.
Fix: let the trainer's client send the rest (`wandb sync`), or correct the names under `[tracker]
metrics`. If the tracker ignores steps that it already has, the last rows are an earlier instance's:
the DRI can accept them in a waiver.
Source: marin-community/marin, manage-hero-run: capture the final metrics; do not seal while the
summary is missing.
"""

from collections.abc import Mapping

from herorun.core.check import Gate, Response, check
from herorun.core.evidence import Checkpoints, FinalStep, History, Metrics, Nothing, Unavailable
from herorun.core.finding import Verdict, count, failed, passed
from herorun.core.seal.last_row import missing_updates


@check(Gate.SEAL, Response.BLOCK)
def missing_final_metrics(
    metrics: Metrics | Nothing,
    final: FinalStep,
    history: History,
    checkpoints: Checkpoints | Nothing | Unavailable,
) -> list[Verdict]:
    """One verdict for the last row, and one for each metric that it must contain and does not.

    Whether the numbers are sound is judged by the health checks.
    """
    if isinstance(metrics, Nothing) or metrics.step is None:
        return [failed("no row was ever reported", subject="rows")]
    if not metrics.last:
        return [
            failed(
                f"the last row, of step {metrics.step}, has no metric with a number", subject="rows"
            )
        ]
    if final.value is None:
        return [failed(f"the final step is unknown: {final.source}", subject="rows")]
    if history.has_given_up(metrics) or history.reached_step(metrics, checkpoints) < metrics.step:
        message = f"the last row, of step {metrics.step}, is of {metrics.instance}, an instance"
        return [failed(f"{message} before the newest one", subject="rows")]
    never = [each.metric for each in metrics.presence if not each.seen]
    verdicts = [failed(f"{name} was never reported", subject=name) for name in never]
    missing = missing_updates(metrics.step, final.value, metrics)
    if missing:
        message = f"the last row is of step {metrics.step} of {final.value}"
        return [failed(f"{message}: the metrics of the end are missing", subject="rows"), *verdicts]
    return verdicts or [
        passed(
            f"the last row is of step {metrics.step} and holds {_count(metrics.last)}",
            subject="rows",
        )
    ]


def _count(last: Mapping[str, float]) -> str:
    return count(len(last), "metric")
