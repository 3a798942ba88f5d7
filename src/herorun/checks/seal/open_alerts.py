"""Alerts of the run are open, or would be if somebody looked.

Why: a seal says that the run was well; what nobody has answered, or nobody has seen yet, is carried into it.
Fix: `herorun babysit RUN --once` tells what it names; settle that, or let the DRI accept it in a waiver, which the
seal then carries.
"""

from herorun.core.check import Gate, Response, check
from herorun.core.evidence import Judged
from herorun.core.finding import Verdict, failed, passed, unknown


@check(Gate.SEAL, Response.BLOCK)
def open_alerts(judged: Judged) -> list[Verdict]:
    """One answer for each alert, by its key in the record or by its name, and for each check that could not look."""
    wrong = [failed(f"{which}: {said}", subject=which) for which, said in judged.alerts]
    unseen = [unknown(f"{which}: {said}", subject=which) for which, said in judged.unseen]
    return [*wrong, *unseen] or [passed("no alert is open, by the record and by a fresh look")]
