"""The job trains and has not checked in.

Why: without a receipt it is unknown whether what runs is what was admitted.
Fix: call `herorun.check_in()` in the training script before the first step; or let the DRI waive
it.
"""

from collections.abc import Iterator

from herorun.core.check import Gate, Hold, Response, Topic, check
from herorun.core.evidence import (
    Checkpoints,
    History,
    Job,
    JobLog,
    LateReceipts,
    Metrics,
    Nothing,
    Receipt,
    Unavailable,
)
from herorun.core.finding import Verdict, failed, not_applicable, passed, unknown
from herorun.core.health.liveness import steps_seen

CAUSE = (
    "likely cause: the training script does not call `herorun.check_in()`, or runs it where no "
    "admission is"
)


@check(Gate.HEALTH, Response.WARN, hold=Hold(ticks=2), topic=Topic.JOB)
def not_checked_in(
    job: Job,
    metrics: Metrics | Nothing,
    history: History,
    receipt: Receipt | Nothing,
    log: JobLog | Nothing | Unavailable,
    checkpoints: Checkpoints | Nothing | Unavailable,
    late: LateReceipts | Nothing | Unavailable,
) -> list[Verdict]:
    """One verdict for the current instance, and one for each late receipt of an earlier one."""
    own = _of_current(job, metrics, history, receipt, log, checkpoints)
    return [own, *(_of_earlier(late) if isinstance(late, LateReceipts) else ())]


def _of_earlier(late: LateReceipts) -> Iterator[Verdict]:
    for receipt in late.receipts:
        name = receipt.instance
        wrong = [f"{item} {why}" for item, outcome, why in receipt.items if outcome == "fail"]
        if receipt.outcome == "pass":
            yield passed(f"{name} checked in; its receipt came late", subject=name)
        else:
            why = "; ".join(wrong) or "its receipt does not say why"
            yield failed(
                f"{name} refused at check-in, says a receipt that came late: {why}", subject=name
            )
    for name, why in late.damaged:
        yield unknown(f"the late receipt of {name} could not be read: {why}", subject=name)


def _of_current(
    job: Job,
    metrics: Metrics | Nothing,
    history: History,
    receipt: Receipt | Nothing,
    log: JobLog | Nothing | Unavailable,
    checkpoints: Checkpoints | Nothing | Unavailable,
) -> Verdict:
    """Whether it trains is known by its rows, or else by its checkpoints and the steps in its
    log.
    """
    ours = isinstance(receipt, Receipt) and receipt.instance == job.instance
    if ours or job.instance in history.checked_in:
        return passed(f"{job.instance} checked in", subject=job.instance)
    if job.state.in_doubt:
        return unknown(
            f"the scheduler does not report whether {job.instance} runs", subject=job.instance
        )
    wrote = isinstance(metrics, Metrics) and history.wrote(metrics)
    sign = "" if wrote else steps_seen(job, log, checkpoints, history, None)
    if not job.state.live or not (wrote or sign):
        return not_applicable(
            f"{job.instance} {job.state.predicate} and reports no step", subject=job.instance
        )
    if isinstance(metrics, Metrics) and wrote:
        return failed(
            f"{job.instance} is at step {metrics.logged_step(metrics.step)}, but has no receipt of "
            "its check-in",
            CAUSE,
            subject=job.instance,
        )
    message = f"{job.instance} has no receipt of its check-in, although {sign}"
    return failed(message, CAUSE, subject=job.instance)
