"""Whether this clone may still act on the run: to whom it was handed over, and who holds the
lease.
"""

from herorun.core.errors import Blocked, HandedOver, HerorunError, describe_error
from herorun.core.event import HandedOff
from herorun.core.evidence import LaunchProof
from herorun.core.journal import Memory
from herorun.core.record.lease import takeover_command
from herorun.core.redaction.scrub import scrub
from herorun.operations.record.lease import (
    LeaseHeldElsewhere,
    is_watched_elsewhere,
    root_names_us,
    take_in_time,
)
from herorun.runs import MonitoredRun, Run


def must_be_ours(run: MonitoredRun, memory: Memory) -> None:
    """Raise `HandedOver` if the run was handed over to another owner, or taken by one.

    The record alone does not end our monitoring, because others may push it: while we hold the
    lease, a recorded handoff counts as one more unproven entry.
    """
    handover = memory.handed
    if handover is None or handover.to == run.launcher.owner:
        return
    if isinstance(run, Run) and root_names_us(run):
        doubts = run.unproven.doubts if isinstance(run.unproven, LaunchProof) else ()
        run.unproven = LaunchProof((*doubts, _not_handed(run, handover.to)))
        return
    raise HandedOver(
        f"{run.slug} was handed over to {handover.to} at {handover.at:%Y-%m-%d %H:%M} UTC, so this "
        f"machine does nothing. {_describe_ticks(memory, handover)} If {handover.to} is gone, "
        "take it back: "
        f"`{takeover_command(run.slug, run.contract.babysit.cadence)}`."
    )


def _describe_ticks(memory: Memory, handover: HandedOff) -> str:
    """What the record shows of the next owner's monitoring."""
    if memory.last_seen is None or memory.last_seen <= handover.at:
        return "No tick is recorded since then."
    return f"The last recorded tick was at {memory.last_seen:%Y-%m-%d %H:%M} UTC."


def _not_handed(run: Run, owner: str) -> str:
    return (
        f"the record says that {owner} monitors {run.slug}, but this clone holds its lease: "
        f"if the run was not handed over, `herorun handoff {run.slug} --take`"
    )


def renew_lease(run: MonitoredRun) -> tuple[str, bool]:
    """Why we do not hold the lease, or ""; and whether another owner certainly holds it."""
    try:
        take_in_time(run)
    except LeaseHeldElsewhere:
        raise
    except (HerorunError, OSError) as error:
        is_lost = isinstance(error, Blocked)
        if is_lost and is_watched_elsewhere(run):
            raise LeaseHeldElsewhere(describe_error(error)) from None
        return scrub(describe_error(error)), is_lost
    return "", False
