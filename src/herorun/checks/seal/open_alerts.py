"""Alerts of the run are still open.

Why: a seal says that the run was well; what nobody has answered is carried into it unseen.
Fix: settle what it names; or let the DRI accept it in a waiver, which the seal then carries.
"""

from herorun.core.check import Gate, Response, check
from herorun.core.evidence import History
from herorun.core.finding import Verdict, failed, passed


@check(Gate.SEAL, Response.BLOCK)
def open_alerts(history: History) -> list[Verdict]:
    """One answer for each alert, by its key."""
    if not history.open_alerts:
        return [passed("no alert is open")]
    return [failed(f"{key} is still firing", subject=key) for key in history.open_alerts]
