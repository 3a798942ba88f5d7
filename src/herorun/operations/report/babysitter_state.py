"""Whether a babysitter of this clone monitors the run, and how old its last heartbeat is."""

from datetime import datetime

from herorun.core.durations import format_span
from herorun.core.event import HandedOff
from herorun.core.evidence import Evidence, LeaseSeen
from herorun.core.proposed_commands import elsewhere, in_tmux
from herorun.core.record.lease import takeover_command
from herorun.operations.record.heartbeat import (
    describe_hung,
    is_hung,
    is_lost,
    last_heartbeat,
    last_tick_elsewhere,
    stale_after,
)
from herorun.runs import Run
from herorun.system.clock import now
from herorun.system.files import is_locked

HANDED_OVER = "handed over to"


def describe_babysitter(
    run: Run, needless: str = "", next_command: str = "", evidence: Evidence | None = None
) -> str:
    """What monitors the run, as text, separately from the run's health. `needless` is why it needs
    no babysitter any more; a relaunch, if that is the next command, starts one. By `evidence` the
    lease's holder is named, if that is another clone: only there may the run be relaunched.
    """
    lease = (evidence or {}).get(LeaseSeen)
    if not isinstance(lease, LeaseSeen) or lease.mine:
        return _describe_here(run, needless, next_command)
    monitoring = _describe_here(run, needless, None)
    if monitoring.startswith(HANDED_OVER):  # it names the owner
        return monitoring
    clone = f" in {lease.clone}" if lease.clone else ""
    here = "" if "in this clone" in monitoring else "in this clone: "
    return f"{lease.owner}{clone} holds the lease; {here}{monitoring}"


def _describe_here(run: Run, needless: str, next_command: str | None) -> str:
    """`next_command` is None where a babysitter would only observe."""
    if run.contract.babysit.declined:
        return f"declined: {run.contract.babysit.declined}"
    handover = handed_away(run)
    if handover and not needless:
        return _describe_next_owner(run, handover)
    last_beat, ticked_at = last_heartbeat(run), last_tick_elsewhere(run)
    if ticked_at and not needless:
        stale = "overdue: " if monitor_is_stale(run) else ""
        other = f"another clone recorded a tick {_ago(ticked_at)}"
        return f"{stale}no babysitter runs in this clone; {other}"
    if last_beat is None:
        is_needed = run.record.memory().current and not needless and next_command is not None
        start = f", and no tick is recorded{_starter(run, next_command)}" if is_needed else ""
        return f"none seen in this clone{start}"
    beat = f"last heartbeat {format_span(round((now() - last_beat).total_seconds()))} ago"
    is_running = is_locked(run.lock("babysitter"))
    if needless and not is_running:
        return f"stopped ({needless}), {beat}"
    if is_babysitter_lost(run):
        return f"not running, {beat}{_starter(run, next_command)}"
    if is_hung(run) and not needless:
        return f"overdue: {describe_hung(run)}"
    overdue = "overdue: " if monitor_is_stale(run) else ""
    if not is_running:  # a tick by `--once` was the last
        return f"{overdue}not running, {beat}{_starter(run, next_command)}"
    return f"{overdue}running, {beat}"


def _starter(run: Run, next_command: str | None) -> str:
    """What starts a babysitter: one command is proposed, not two."""
    if next_command is None:
        return ""
    is_paused = run.record.memory().ledger.is_paused(now())  # then nobody relaunches it yet
    command = f"herorun babysit {run.slug}"
    if run.other_babysit_owner:
        return f"; on {run.other_babysit_owner}, start it {in_tmux(elsewhere(command))}"
    is_relaunch = next_command.startswith("herorun relaunch ") and not is_paused
    return "; the relaunch starts it" if is_relaunch else f"; start it {in_tmux(f'`{command}`')}"


def handed_away(run: Run) -> HandedOff | None:
    """The last handoff, if it gave the run to another machine."""
    handover = run.record.memory().handed
    return handover if handover and handover.to != run.launcher.owner else None


def _describe_next_owner(run: Run, handover: HandedOff) -> str:
    """What the record shows: this machine cannot see the other's process."""
    last_seen = run.record.memory().last_seen
    head = f"{HANDED_OVER} {handover.to} {_ago(handover.at)}"
    if last_seen and last_seen > handover.at:
        return f"{head}; its last recorded tick was {_ago(last_seen)}"
    status, babysit = (elsewhere(f"herorun {name} {run.slug}") for name in ("status", "babysit"))
    take = takeover_command(run.slug, run.contract.babysit.cadence)
    return (
        f"{head}, and no tick is recorded since: the run may be unmonitored. There, {status} shows "
        f"whether a babysitter runs; if not, start it {in_tmux(babysit)}. "
        f"If {handover.to} is gone: `{take}` here"
    )


def _ago(moment: datetime) -> str:
    return f"{format_span(max(0, round((now() - moment).total_seconds())))} ago"


def monitor_is_stale(run: Run) -> bool:
    """Whether the babysitter of this clone has stopped or hangs; of a run that another machine or
    clone monitors, whether the record shows no tick for too long.

    The evidence of the present command may still be new: a command does not monitor.
    """
    if run.contract.babysit.declined:
        return False
    max_age = stale_after(run)
    if handover := handed_away(run):
        last_seen = run.record.memory().last_seen or handover.at
        return now() - max(handover.at, last_seen) > max_age
    last_beat = last_heartbeat(run)
    if last_beat is None:
        return False
    if ticked_at := last_tick_elsewhere(run):
        return now() - ticked_at > max_age
    return is_lost(run) or now() - last_beat > max_age


def is_monitored_elsewhere(run: Run) -> bool:
    """Whether the record shows that another machine or clone monitors the run now."""
    if handed_away(run):
        return not monitor_is_stale(run)
    ticked_at = last_tick_elsewhere(run)
    return ticked_at is not None and now() - ticked_at <= stale_after(run)


def why_not_relaunched(run: Run) -> str:
    """Why no babysitter relaunches the run where its rules allow it; "" where one may."""
    if run.contract.babysit.declined:
        return "the contract declines a babysitter"
    sign = last_heartbeat(run) or last_tick_elsewhere(run) or handed_away(run)
    is_unmonitored = sign is None or monitor_is_stale(run)
    return "no babysitter is known to run (see `babysitter`)" if is_unmonitored else ""


def doubt_next_tick(run: Run) -> str:
    """What to add to a promise that the next tick keeps: a tick by `--once`, whose heartbeat is as
    new as that of a babysitter, may be followed by none.
    """
    is_known = is_locked(run.lock("babysitter")) or is_monitored_elsewhere(run)
    return "" if is_known else ", but no babysitter runs now (see `babysitter`)"


def ticks_in_this_clone(run: Run) -> bool:
    """Whether a babysitter of this clone is to run the next tick, perhaps late."""
    is_here = last_heartbeat(run) is not None and handed_away(run) is None
    return is_here and not is_lost(run) and last_tick_elsewhere(run) is None


def is_babysitter_lost(run: Run) -> bool:
    """Whether the run should have a babysitter here and has none. A run that another machine or
    clone monitors needs none.
    """
    return is_lost(run) and handed_away(run) is None and last_tick_elsewhere(run) is None
