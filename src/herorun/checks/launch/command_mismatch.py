"""The job of `launch --adopt` runs a different command than the contract's.

Why: a mistyped id would take over an unrelated job, with its checkpoints, metrics and end.
Fix: check the job's id; or set `[command] argv` to what the job runs, commit it, and adopt again.
"""

from herorun.core.adoption import runs
from herorun.core.check import Gate, Response, check
from herorun.core.evidence import Adoptee
from herorun.core.finding import Verdict, failed, not_applicable, passed
from herorun.core.plan import Plan
from herorun.core.record.render import command_line


@check(Gate.LAUNCH, Response.BLOCK)
def command_mismatch(adoptee: Adoptee, plan: Plan) -> Verdict:
    """Not applicable if the back end does not report the command: `unverified-job` reports that."""
    job = adoptee.job.id
    if not adoptee.command:
        return not_applicable(f"{adoptee.kind} reports no command of job {job} to compare")
    if any(runs(adoptee.command, argv) for argv in (plan.argv.value, plan.command_line)):
        return passed(f"job {job} runs the contract's command", subject=job)
    theirs, ours = command_line(adoptee.command), command_line(plan.command_line)
    return failed(f"job {job} runs `{theirs}`, but the contract says `{ours}`", subject=job)
