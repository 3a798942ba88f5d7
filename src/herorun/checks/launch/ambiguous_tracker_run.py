"""Another run of the tracker's project has the same display name.

Why: people and dashboards use the name, so two runs with one name are easily confused.
Fix: choose another `[tracker] name`, or rename the other run.
"""

from herorun.core.check import Gate, Response, check
from herorun.core.evidence import TrackerIdentity, TrackerState
from herorun.core.finding import Verdict, failed, few, passed, unknown
from herorun.core.plan import Plan


@check(Gate.LAUNCH, Response.BLOCK)
def ambiguous_tracker_run(plan: Plan, identity: TrackerIdentity) -> Verdict:
    """Not evaluated at a relaunch: a name that was taken meanwhile must not prevent a recovery."""
    name = plan.tracker.value.name
    if identity.namesakes:
        message = f"the project has other runs named {name}: {few(identity.namesakes)}"
        return failed(message, *identity.namesakes, subject=name)
    if identity.state is TrackerState.UNREACHABLE:
        return unknown(
            f"it is unknown whether another run is called {name}: {identity.why}", subject=name
        )
    return passed(f"no other run of the project is called {name}", subject=name)
