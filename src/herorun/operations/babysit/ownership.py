"""Whether this clone may still act on the run: who was given it, and whose the lease is."""

from herorun.core.errors import Blocked, HandedOver, HerorunError, describe_error
from herorun.core.evidence import LaunchProof
from herorun.core.journal import Memory
from herorun.core.redaction.scrub import scrub
from herorun.operations.record.lease import (
    HeldElsewhere,
    is_watched_elsewhere,
    root_names_us,
    take_in_time,
)
from herorun.runs import MonitoredRun, Run


def must_be_ours(run: MonitoredRun, memory: Memory) -> None:
    """The machine that was given the run has it; the one that gave it, or lost it, acts no more:
    `HandedOver`.

    The record alone ends no watch, for others may push it: while the lease is still ours, what it
    says is one more thing that nothing proves.
    """
    handover = memory.handed
    if handover is None or handover.to == run.launcher.owner:
        return
    if isinstance(run, Run) and root_names_us(run):
        doubts = run.unproven.doubts if isinstance(run.unproven, LaunchProof) else ()
        run.unproven = LaunchProof((*doubts, _not_handed(run, handover.to)))
        return
    raise HandedOver(
        f"{handover.to} has monitored {run.slug} since {handover.at:%Y-%m-%d %H:%M} UTC, so this "
        f"machine does nothing. To take it over: `herorun handoff {run.slug} --take`."
    )


def _not_handed(run: Run, owner: str) -> str:
    return (
        f"the record says that {owner} monitors {run.slug}, but this clone holds its lease: "
        f"if the run was not handed over, `herorun handoff {run.slug} --take`"
    )


def renew_lease(run: MonitoredRun) -> tuple[str, bool]:
    """Why the lease is not ours, empty where it is; and whether it is surely another's."""
    try:
        take_in_time(run)
    except HeldElsewhere:
        raise
    except (HerorunError, OSError) as error:
        is_lost = isinstance(error, Blocked)
        if is_lost and is_watched_elsewhere(run):
            raise HeldElsewhere(describe_error(error)) from None
        return scrub(describe_error(error)), is_lost
    return "", False
