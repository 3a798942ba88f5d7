"""A secret that a relaunch needs is not set where the babysitter runs.

Why: a relaunched job would fail when it first needs the secret, or train without reporting.
Fix: start the babysitter where the variable is set (`herorun babysit RUN`). To remove its name from
`[command] secrets` has no effect before the next launch.
"""

from herorun.core.check import Gate, Response, Topic, check
from herorun.core.contract import Contract
from herorun.core.evidence import Job, JobState, Nothing, OwnSecrets, Unavailable
from herorun.core.finding import Verdict, not_applicable


@check(Gate.HEALTH, Response.WARN, topic=Topic.MONITOR)
def missing_secret(
    contract: Contract, secrets: OwnSecrets, job: Job | Nothing | Unavailable
) -> list[Verdict]:
    """One verdict for each name."""
    from herorun.core.secret_requirements import judge_secrets

    if isinstance(job, Job) and job.state is JobState.SUCCEEDED:
        return [not_applicable(f"{job.instance} ended with success: nothing is relaunched")]
    return judge_secrets(contract.command.secrets, secrets.present, "the babysitter's environment")
