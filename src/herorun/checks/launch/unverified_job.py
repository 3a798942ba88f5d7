"""The adopted job cannot be fully verified.

Why: herorun did not submit it: without an admission, nothing inside the job has compared its code,
config and output with the plan.
Fix: nothing, if this is acceptable: it is stated in the record, the issue and the seal. The next
instance is launched from a plan and checks in.
"""

from herorun.core.check import Gate, Response, check
from herorun.core.evidence import Adoptee
from herorun.core.finding import Verdict, failed, passed
from herorun.core.plan import Plan


@check(Gate.LAUNCH, Response.WARN)
def unverified_job(adoptee: Adoptee, plan: Plan) -> list[Verdict]:
    """One verdict for each fact that cannot be verified."""
    job, details = adoptee.job.id, adoptee.details or "nothing"
    return [
        failed(
            f"job {job} was not launched by herorun, so it did not check in and has no receipt",
            subject="check-in",
        ),
        failed(
            f"the code that job {job} runs cannot be compared with commit {plan.commit.value[:9]}",
            subject="commit",
        ),
        passed(f"the command of job {job} is known", subject="command")
        if adoptee.command
        else failed(
            f"the command of job {job} cannot be compared: {adoptee.kind} reports {details}",
            subject="command",
        ),
        failed(f"it is unknown which checkpoint job {job} started from", subject="start"),
        failed(
            f"it is unknown whether job {job} writes to {plan.output_root.value}",
            subject="output root",
        ),
        passed(f"job {job} is {adoptee.user}'s", subject="owner")
        if adoptee.user
        else failed(f"{adoptee.kind} does not report the owner of job {job}", subject="owner"),
    ]
