"""A babysitter on another machine or in another clone holds the run's lease.

Why: two owners would each relaunch the run and write into one output root.
Fix: let the owner launch, or hand the run over (``herorun handoff RUN --to user@machine`` there).
If that machine does not answer, make sure that no babysitter of the run is running there, then take
the run over (`herorun handoff RUN --take` prints how). From another clone of the same machine,
launch there; or end its babysitter, then take the run over here.
"""

from herorun.core.check import AtRelaunch, Gate, Response, check
from herorun.core.contract import Contract
from herorun.core.evidence import Launcher, Watch
from herorun.core.finding import Verdict, failed, passed
from herorun.core.record.lease import PATH


@check(Gate.LAUNCH, Response.BLOCK, at_relaunch=AtRelaunch.BLOCK, always=True)
def second_babysitter(contract: Contract, launcher: Launcher, watch: Watch) -> Verdict:
    lease = f"{contract.output.root.rstrip('/')}/{PATH}"
    if watch.lease_owner is None:
        return passed("no babysitter holds the output root")
    if not watch.lease_owner:
        return failed(f"{lease} is not a lease file", subject=lease)
    if watch.lease_slug != contract.slug:
        message = f"{lease} is held by {watch.lease_owner} for the run {watch.lease_slug!r}"
        return failed(message, subject=watch.lease_owner)
    if watch.lease_owner != launcher.owner:
        return failed(f"{lease} is held by {watch.lease_owner}", subject=watch.lease_owner)
    if watch.lease_clone and launcher.clone and watch.lease_clone != launcher.clone:
        message = f"{lease} is held by {watch.lease_owner} in another clone, {watch.lease_clone}"
        return failed(message, subject=watch.lease_owner)
    return passed(f"{launcher.owner} owns the run")
