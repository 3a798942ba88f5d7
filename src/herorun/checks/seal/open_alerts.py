"""The run has open alerts, or would have some at the next tick.

Why: a seal says that the run was healthy, so it must not hide an alert that no person has answered.
Fix: `herorun status RUN` shows the alerts. `herorun ack RUN` closes those that ended unresolved.
Resolve the others, or let the DRI accept them with a waiver, which the seal then lists.
"""

from herorun.core.babysit.alert import AlertKey, parse_alert_key
from herorun.core.check import Gate, Response, check
from herorun.core.evidence import HealthAssessment, Sealing
from herorun.core.finding import Verdict, failed, passed, unknown
from herorun.core.seal.kinds import SealKind


@check(Gate.SEAL, Response.BLOCK)
def open_alerts(assessment: HealthAssessment, sealing: Sealing) -> list[Verdict]:
    """One verdict for each alert, by its key in the record or by its name, and one for each unknown
    check.

    `failed-when-done` says what `job-not-succeeded` blocks for, so that one waiver accepts it;
    a milestone is not asked for that.
    """
    done_check = "failed-when-done" if sealing.kind is SealKind.FINAL else ""
    wrong = [
        failed(f"{_key(which).description}: {message}", subject=which)
        for which, message in assessment.alerts
        if _key(which).check != done_check
    ]
    unknowns = [
        unknown(f"{_key(which).description}: {message}", subject=which)
        for which, message in assessment.unseen
    ]
    other = f" other than {done_check}" if assessment.alerts else ""
    return [*wrong, *unknowns] or [passed(f"no alert{other} is open, and none would open now")]


def _key(which: str) -> AlertKey:
    return parse_alert_key(which) or AlertKey(which)
