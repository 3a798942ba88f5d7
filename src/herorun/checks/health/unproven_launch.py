"""The record contains a launch, a seal or a handoff of which this machine has no proof.

Why: everyone who can push the record's branch can write any line there. A launch is unproven if its
commit was never published or its plan cannot be made again. So is a seal without its tag, or a
handoff without the lease. Such a line could make this machine run other commands, monitor another
job, or stop monitoring.
Fix: read the entry with `herorun logbook show RUN` and ask who pushed it. If you know that it is
right, `herorun trust RUN`; if it is a forgery, `herorun trust RUN --reject`, and protect the
branch. Until then nothing is relaunched or stopped.
"""

from herorun.core.check import Gate, Response, Topic, check
from herorun.core.evidence import LaunchProof
from herorun.core.finding import Verdict, failed, passed


@check(Gate.HEALTH, Response.ESCALATE, topic=Topic.MONITOR)
def unproven_launch(proof: LaunchProof) -> Verdict:
    """Other checks ignore unproven entries; this one reports that the record contains them."""
    if not proof.doubts:
        alone = f"; but {proof.unstated[0]}" if proof.unstated else ""
        return passed(f"all launches and seals of the record are proven{alone}")
    more = f", and {len(proof.doubts) - 1} more" if proof.doubts[1:] else ""
    return failed(f"{proof.doubts[0]}{more}", *proof.doubts)
