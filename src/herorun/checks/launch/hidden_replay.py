"""The tracker will not show the first steps after the resume.

Why: W&B silently drops every row below its own last step; until the run passes that step, no new
rows appear, although it trains.
Fix: nothing, if this is acceptable; or fork from the checkpoint's step (`[tracker] id` and
`fork_from`) to see every step.
"""

from herorun.core.check import AtRelaunch, Gate, Response, check
from herorun.core.evidence import Nothing, PriorLaunch, TrackerIdentity, TrackerState, TrackerTraits
from herorun.core.finding import Verdict, count, failed, not_applicable, passed, unknown
from herorun.core.identity.fork import first_row
from herorun.core.identity.intent import goes_on, intent_of
from herorun.core.identity.resume_matrix import Intent
from herorun.core.plan import Plan


@check(Gate.LAUNCH, Response.WARN, at_relaunch=AtRelaunch.WARN)
def hidden_replay(
    plan: Plan, identity: TrackerIdentity, prior: PriorLaunch | Nothing, tracker: TrackerTraits
) -> Verdict:
    """Compares the last logged step with the first one that the resumed run logs."""
    run = plan.tracker.value
    if intent_of(run, prior, identity.state, goes_on(plan)) is not Intent.RESUME:
        return not_applicable(f"the launch resumes nothing that was logged under {run.id}")
    if not tracker.drops_past_steps:
        return not_applicable(f"the tracker {run.kind} keeps both rows of a step")
    if identity.state is TrackerState.UNREACHABLE:
        return unknown(
            f"the last logged step of {run.id} is unknown: {identity.why}", subject=run.id
        )
    first, last = first_row(run, plan.start.value), identity.last_step
    if last is None:
        return passed(f"{run.id} has logged nothing yet", subject=run.id)
    if first is None:
        return unknown("the start checkpoint's step is not known", subject=run.id)
    if last < first:
        return passed(
            f"{run.id} has logged up to step {last}, and continues at {first}", subject=run.id
        )
    message = (
        f"{run.id} has logged up to step {last}, and the run resumes at {first}: its first "
        f"{count(last - first + 1, 'step')} "
        f"will be invisible: {identity.tracker} drops them, although the job trains"
    )
    return failed(message, subject=run.id)
