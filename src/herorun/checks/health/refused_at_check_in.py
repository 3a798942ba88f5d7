"""The job refused to train: it is not what was admitted.

Why: a relaunch would meet the same difference, and a job that trained anyway would write an
unadmitted lineage.
Fix: correct what the failing item names, and launch again (`herorun launch RUN`). If another
checkpoint was loaded than was given, let the script start from `HERORUN_START`, or declare
`[command] resume_argv` with `{start}`; otherwise it is refused again.
"""

from herorun.core.check import Gate, Response, Topic, check
from herorun.core.evidence import Job, Nothing, Receipt, Unavailable
from herorun.core.finding import Verdict, describe_item, failed, not_applicable, passed, unknown
from herorun.core.notify.escalation import EscalationReason


@check(
    Gate.HEALTH,
    Response.ESCALATE,
    topic=Topic.JOB,
    vetoes_relaunch=True,
    asks=EscalationReason.UNVERIFIED,
)
def refused_at_check_in(job: Job, receipt: Receipt | Nothing | Unavailable) -> Verdict:
    """The exit code is enough to fail; without a readable receipt only the reason is missing."""
    ours = receipt if isinstance(receipt, Receipt) and receipt.instance == job.instance else None
    if job.is_refused or (ours and ours.outcome == "fail"):
        return failed(
            f"{job.instance} was refused at check-in: {_reasons(ours)}", subject=job.instance
        )
    if job.state.in_doubt:
        return unknown(
            f"the scheduler does not report the state of {job.instance}", subject=job.instance
        )
    if isinstance(receipt, Unavailable):
        return unknown(f"could not read the receipt: {receipt.why}", subject=job.instance)
    if ours is None:
        return not_applicable(f"{job.instance} has not checked in", subject=job.instance)
    return passed(f"{job.instance} checked in as admitted", subject=job.instance)


def _reasons(receipt: Receipt | None) -> str:
    items = receipt.items if receipt else ()
    wrong = [describe_item(item, message) for item, outcome, message in items if outcome == "fail"]
    return "; ".join(wrong) or "the reason is in its log"
