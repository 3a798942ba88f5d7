"""Nothing would monitor the run.

Why: an unmonitored job that crashes, stalls or diverges wastes money until a person notices.
Fix: remove `[babysit] declined`; or start ``herorun babysit RUN`` on the machine that
`[babysit] owner` names.
"""

from datetime import datetime, timedelta

from herorun.core.check import Gate, Response, check
from herorun.core.contract import Contract
from herorun.core.durations import format_duration, format_span
from herorun.core.evidence import Launcher, Now, Watch
from herorun.core.finding import Verdict, failed, passed, unknown
from herorun.core.proposed_commands import elsewhere, in_tmux
from herorun.core.record.lease import stale_at


@check(Gate.LAUNCH, Response.WARN)
def no_babysitter(contract: Contract, launcher: Launcher, watch: Watch, now: Now) -> Verdict:
    babysit = contract.babysit
    if babysit.declined and contract.is_hero:
        return failed(
            f"a hero run needs a babysitter, but [babysit] declined says: {babysit.declined}",
            subject="declined",
        )
    if babysit.declined:
        return passed(f"[babysit] declined: {babysit.declined}")
    if babysit.owner and babysit.owner != launcher.owner:
        return _elsewhere(contract, babysit.owner, watch, now.at)
    if watch.here:
        return passed("a babysitter of this machine already monitors the run")
    every = format_duration(babysit.cadence)
    return passed(f"launch starts a babysitter here, with a tick every {every}")


def _elsewhere(contract: Contract, owner: str, watch: Watch, at: datetime) -> Verdict:
    """By the lease, which the owner's babysitter renews at each tick."""
    if (watch.lease_owner, watch.lease_slug) != (owner, contract.slug):
        return failed(
            f"[babysit] owner is {owner}: launch starts no babysitter here, and {owner} has not "
            "been seen to monitor the run",
            subject=owner,
        )
    if watch.lease_renewed is None:
        message = f"{owner} holds the run's lease; when it was last renewed cannot be read here"
        return unknown(message, subject=owner)
    age = max(at - watch.lease_renewed, timedelta(0))  # the store's clock may be a little ahead
    message = f"{owner} last renewed the run's lease {format_span(age)} ago"
    if at <= stale_at(watch.lease_renewed, contract.babysit.cadence):
        return passed(message)
    return failed(
        f"{message}, and a babysitter renews it every {format_duration(contract.babysit.cadence)}: "
        f"start it there {in_tmux(elsewhere(f'herorun babysit {contract.slug}'))}",
        subject=owner,
    )
