"""The tracker's resume policy depends on a file that only one machine has.

Why: with `resume = "auto"` W&B reads the id from a local file; on another host, or in a fresh
container, it finds none and creates another run.
Fix: set `resume = "allow"` in `[tracker]`.
"""

from herorun.core.check import AtRelaunch, Gate, Response, check
from herorun.core.evidence import TrackerTraits
from herorun.core.finding import Verdict, failed, not_applicable, passed
from herorun.core.plan import Plan


@check(Gate.LAUNCH, Response.WARN, at_relaunch=AtRelaunch.WARN)
def tracker_resume_auto(plan: Plan, tracker: TrackerTraits) -> Verdict:
    """For a hero run, and on several hosts, `tracker-identity` fails instead."""
    run = plan.tracker.value
    if not tracker.resumes_by_id:
        return not_applicable(f"a {run.kind} tracker has no runs to resume")
    if run.resume == "auto":
        return failed(
            f'whether {run.id} is resumed depends on a file of one machine (resume = "auto")',
            subject=run.id,
        )
    return passed(f"{run.id} is resumed by its id (resume = {run.resume})", subject=run.id)
