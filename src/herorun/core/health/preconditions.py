"""Whether a question about a running job applies now. Pure."""

from herorun.core.evidence import Job, JobState
from herorun.core.finding import Verdict, not_applicable, unknown


def not_running(job: Job) -> Verdict | None:
    """The answer of a check that asks of running jobs only, where this one is not, or it is
    unknown; otherwise None.
    """
    if job.state.in_doubt:
        return unknown(
            f"the scheduler does not report whether {job.instance} runs", subject=job.instance
        )
    if job.state is not JobState.RUNNING:
        return not_applicable(f"{job.instance} {job.state.predicate}", subject=job.instance)
    return None
