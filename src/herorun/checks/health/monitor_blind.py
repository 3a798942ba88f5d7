"""Some evidence could not be read for a while.

Why: a babysitter that cannot read its evidence must say so, separately from the run's health.
Fix: test the access to what it names (`herorun doctor RUN`). If the scheduler no longer lists the
job, `herorun status RUN` says instead how to record its end. The run itself may be healthy.
"""

from datetime import timedelta

from herorun.core.check import Gate, Hold, Response, Topic, check
from herorun.core.evidence import Gaps
from herorun.core.evidence_names import format_gaps
from herorun.core.finding import Verdict, count, failed, few, passed


@check(Gate.HEALTH, Response.ESCALATE, hold=Hold(timedelta(minutes=30)), topic=Topic.MONITOR)
def monitor_blind(gaps: Gaps) -> Verdict:
    if gaps.gaps:
        names = few(format_gaps(gaps.gaps))
        return failed(
            f"could not read {len(gaps.gaps)} of {count(gaps.asked, 'source')}: {names}",
            *gaps.gaps,
        )
    return passed("all evidence was read")
