"""The job went on from another step than the one that it was told to start from.

Why: from scratch, or from an older or a rejected checkpoint, the curves look plausible and days of work are repeated or
lost; a wrong namespace begins a second run under the first one's name.
Fix: stop it; see how the trainer picks its checkpoint, and launch again from the one in the plan.
Source: marin-community/marin, delphi resume namespace: two recoveries began at step 0 with a checkpoint at 3541.
"""

from herorun.core.asking import Reason
from herorun.core.check import Gate, Response, Topic, check
from herorun.core.evidence import (
    Checkpoints,
    History,
    Job,
    Metrics,
    Nothing,
    PriorLaunch,
    Receipt,
    Unavailable,
)
from herorun.core.finding import Verdict, failed, not_applicable, passed, unknown
from herorun.core.health.resuming import Told, loaded_wrong, rows_wrong, start_of


@check(Gate.HEALTH, Response.ESCALATE, topic=Topic.JOB, vetoes_relaunch=True, asks=Reason.LINEAGE)
def wrong_resume(
    job: Job,
    prior: PriorLaunch,
    receipt: Receipt | Nothing | Unavailable,
    metrics: Metrics | Nothing | Unavailable,
    checkpoints: Checkpoints | Nothing | Unavailable,
    history: History,
) -> Verdict:
    """What the receipt says was loaded decides first, then the step of the first row."""
    if prior.instance != job.instance:
        return not_applicable(f"the newest plan is {prior.instance}'s", subject=job.instance)
    if prior.adopted:
        return not_applicable(
            f"{job.instance} was adopted: nobody told it where to start", subject=job.instance
        )
    start = start_of(prior)
    ours = receipt if isinstance(receipt, Receipt) and receipt.instance == job.instance else None
    saved = checkpoints if isinstance(checkpoints, Checkpoints) else Checkpoints()
    wrong = loaded_wrong(start, ours, saved)
    if wrong:
        return failed(f"{job.instance} {wrong}", subject=job.instance)
    if isinstance(metrics, Unavailable) or isinstance(receipt, Unavailable):
        return unknown(f"could not look where {job.instance} began", subject=job.instance)
    if isinstance(metrics, Nothing) or not history.wrote(metrics):
        return not_applicable(f"{job.instance} has no row yet", subject=job.instance)
    all_there = Checkpoints((*saved.candidates, *saved.given_up))  # a trainer that looks for itself takes any
    told = rows_wrong(start, metrics, all_there, history)
    if isinstance(told, Told):
        return (
            failed(f"{job.instance} {told.wrong}", subject=job.instance)
            if told.wrong
            else passed(f"{job.instance} {told.right}", subject=job.instance)
        )
    return not_applicable(
        f"{job.instance}: its rows go on without a break, so they do not tell where it began",
        subject=job.instance,
    )
