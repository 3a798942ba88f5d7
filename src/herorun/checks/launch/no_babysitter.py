"""Nothing would monitor the run.

Why: an unmonitored job that crashes, stalls or diverges wastes money until somebody notices.
Fix: remove `[babysit] declined`; or start `herorun babysit RUN` on the machine that
`[babysit] owner` names.
"""

from herorun.core.check import Gate, Response, check
from herorun.core.contract import Contract
from herorun.core.durations import say_duration
from herorun.core.evidence import Launcher, Watch
from herorun.core.finding import Verdict, failed, passed


@check(Gate.LAUNCH, Response.WARN)
def no_babysitter(contract: Contract, launcher: Launcher, watch: Watch) -> Verdict:
    told = contract.babysit
    if told.declined and contract.is_hero:
        return failed(
            f"a hero run, and watching it is declined: {told.declined}", subject="declined"
        )
    if told.declined:
        return passed(f"declined: {told.declined}")
    if told.owner and told.owner != launcher.owner:
        return _elsewhere(told.owner, watch)
    if watch.here:
        return passed("a babysitter of this machine watches already")
    return passed(f"launch starts one here, every {say_duration(told.cadence)}")


def _elsewhere(owner: str, watch: Watch) -> Verdict:
    if watch.lease_owner == owner:
        return passed(f"{owner} owns the run and watches it")
    return failed(
        f"[babysit] owner is {owner}: launch starts none here, and none was seen there",
        subject=owner,
    )
