"""The run has open alerts, or would have at the next tick.

Why: a seal says that the run was healthy; it must not hide an alert that no person has answered.
Fix: `herorun status RUN` shows them; `herorun ack RUN` closes those that ended unresolved; resolve
the others, or let the DRI accept them in a waiver, which the seal then states.
"""

from herorun.core.check import Gate, Response, check
from herorun.core.evidence import HealthAssessment
from herorun.core.finding import Verdict, failed, passed, unknown


@check(Gate.SEAL, Response.BLOCK)
def open_alerts(assessment: HealthAssessment) -> list[Verdict]:
    """One verdict for each alert, by its key in the record or by its name, and one for each unknown
    check.

    `failed-when-done` says what `job-not-succeeded` blocks for, so that one waiver accepts it.
    """
    wrong = [
        failed(f"{which}: {message}", subject=which)
        for which, message in assessment.alerts
        if which.partition("[")[0] != "failed-when-done"
    ]
    unknowns = [
        unknown(f"{which}: {message}", subject=which) for which, message in assessment.unseen
    ]
    return [*wrong, *unknowns] or [
        passed("no alert is open, in the record and by a new evaluation")
    ]
