"""Nothing would monitor the run.

Why: an unmonitored job that crashes, stalls or diverges wastes money until a person notices.
Fix: remove `[babysit] declined`; or start `herorun babysit RUN` on the machine that
`[babysit] owner` names.
"""

from herorun.core.check import Gate, Response, check
from herorun.core.contract import Contract
from herorun.core.durations import format_duration
from herorun.core.evidence import Launcher, Watch
from herorun.core.finding import Verdict, failed, passed


@check(Gate.LAUNCH, Response.WARN)
def no_babysitter(contract: Contract, launcher: Launcher, watch: Watch) -> Verdict:
    babysit = contract.babysit
    if babysit.declined and contract.is_hero:
        return failed(
            f"a hero run needs a babysitter, but [babysit] declined says: {babysit.declined}",
            subject="declined",
        )
    if babysit.declined:
        return passed(f"[babysit] declined: {babysit.declined}")
    if babysit.owner and babysit.owner != launcher.owner:
        return _elsewhere(babysit.owner, watch)
    if watch.here:
        return passed("a babysitter of this machine already monitors the run")
    every = format_duration(babysit.cadence)
    return passed(f"launch starts a babysitter here, with a tick every {every}")


def _elsewhere(owner: str, watch: Watch) -> Verdict:
    if watch.lease_owner == owner:
        return passed(
            f"{owner} holds the run's lease; whether its babysitter runs now is not seen here"
        )
    return failed(
        f"[babysit] owner is {owner}: launch starts no babysitter here, and {owner} has not been "
        "seen to monitor the run",
        subject=owner,
    )
