"""Some evidence could not be read for a while.

Why: a babysitter that cannot read its evidence must say so, separately from the run's health.
Fix: check the source that it names; the run itself may be healthy.
"""

from datetime import timedelta

from herorun.core.check import Gate, Hold, Response, Topic, check
from herorun.core.evidence import Gaps
from herorun.core.finding import Verdict, failed, few, passed


@check(Gate.HEALTH, Response.ESCALATE, hold=Hold(timedelta(minutes=30)), topic=Topic.MONITOR)
def monitor_blind(gaps: Gaps) -> Verdict:
    if gaps.gaps:
        return failed(
            f"{len(gaps.gaps)} of {gaps.asked} reads failed: {few(gaps.gaps)}", *gaps.gaps
        )
    return passed("everything was read")
