"""The run is sealed.

Why: a seal says what a finished run was; an instance after it would change what was signed.
Fix: give the new run a slug and an output root of its own; it may start from the sealed run's checkpoint.
"""

from herorun.core.check import AtRelaunch, Gate, Response, check
from herorun.core.evidence import History
from herorun.core.finding import Verdict, failed, passed


@check(Gate.LAUNCH, Response.BLOCK, at_relaunch=AtRelaunch.BLOCK, always=True)
def sealed_run(history: History) -> Verdict:
    if history.sealed is None:
        return passed("not sealed")
    return failed(
        f"sealed as {history.sealed}: a sealed slug admits no instance", subject=history.sealed
    )
