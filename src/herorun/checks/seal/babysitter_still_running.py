"""Another machine's babysitter still monitors the run.

Why: seal stops the run's own babysitter on this machine; one on another machine would continue to
notify people, and may act, on a finished run.
Fix: seal on that machine, or hand the run over first: ``herorun handoff RUN --to user@machine``
there, or take it over here (`herorun handoff RUN --take` prints how).
Source: marin-community/marin, manage-hero-run: stop or delete heartbeat and monitor automations
that are no longer needed.
"""

from herorun.core.check import Gate, Response, check
from herorun.core.evidence import Heartbeat, LeaseSeen, Nothing
from herorun.core.finding import Verdict, failed, passed


@check(Gate.SEAL, Response.BLOCK)
def babysitter_still_running(lease: LeaseSeen | Nothing, heart: Heartbeat) -> Verdict:
    """By the lease, which the monitoring babysitter holds. The seal itself stops a babysitter of
    this machine.
    """
    if isinstance(lease, LeaseSeen) and not lease.mine:
        since = (
            f"it last renewed its lease at {lease.unchanged_since:%Y-%m-%d %H:%M} UTC, by this "
            "machine's clock"
        )
        return failed(f"{lease.owner} monitors the run: {since}", subject=lease.owner)
    if heart.held:
        return passed("the seal will stop the babysitter of this machine")
    return passed("no babysitter runs on this machine, and no other holds the run's lease")
