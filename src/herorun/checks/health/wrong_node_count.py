"""The job runs on a different number of nodes than requested.

Why: it trains with another mesh, batch or cost than was reviewed, or waits for peers that will
never come.
Fix: compare the scheduler's record of the job with `[scheduler] nodes`; stop the job (`herorun stop
RUN`), and launch it again as reviewed.
Source: marin-community/marin, manage-hero-run: a wrong slice count is reported, and nothing is done
to the cluster.
"""

from herorun.core.check import Gate, Hold, Response, Topic, check
from herorun.core.contract import Contract
from herorun.core.evidence import Job
from herorun.core.finding import Verdict, count, failed, not_applicable, passed
from herorun.core.health.preconditions import not_running


@check(Gate.HEALTH, Response.WARN, hold=Hold(ticks=2), topic=Topic.JOB)
def wrong_node_count(job: Job, contract: Contract) -> Verdict:
    """Applies if the contract states the nodes and the scheduler counts them. If only some tasks
    run, see `partial-allocation`.
    """
    if verdict := not_running(job):
        return verdict
    nodes = contract.scheduler.options.get("nodes")
    if not isinstance(nodes, int) or job.tasks is None:
        return not_applicable(
            f"the number of nodes of {job.instance} is not reported", subject=job.instance
        )
    message = f"{job.instance} runs on {count(job.tasks, 'node')}"
    if job.tasks != nodes:
        return failed(f"{message}, but [scheduler] nodes = {nodes}", subject=job.instance)
    return passed(message, subject=job.instance)
