"""The scheduler reports a failure, but the final checkpoint is complete.

Why: a limit that included the queue time, or a launcher that died after its work, makes a finished
run look failed; a relaunch would pay for hardware to do nothing.
Fix: find out why a failure was reported (`herorun logs RUN`), and check that the last evaluation
exists; then seal, with a waiver of `job-not-succeeded`.
Source: marin-community/marin, logbook 7279: the work succeeded in 8 minutes, and its coordinator
failed by a limit of 5400 s that had included the wait.
"""

from herorun.core.check import Gate, Response, Topic, check
from herorun.core.evidence import Checkpoints, FinalStep, Job
from herorun.core.finding import Verdict, failed, not_applicable
from herorun.core.lineage import final_checkpoint


@check(Gate.HEALTH, Response.WARN, topic=Topic.JOB)
def failed_when_done(job: Job, final: FinalStep, checkpoints: Checkpoints) -> Verdict:
    if not job.has_crashed:
        return not_applicable(f"{job.instance} {job.state.predicate}", subject=job.instance)
    path = final_checkpoint(final, checkpoints)
    if not path:
        return not_applicable(
            f"{job.instance} left no final checkpoint: see crashed", subject=job.instance
        )
    return failed(
        f"{job.ending}; but its final checkpoint {path} is complete", subject=job.instance
    )
