"""Whether a babysitter of this machine monitors the run, and how old its last heartbeat is."""

from datetime import timedelta

from herorun.core.durations import format_span
from herorun.operations.record.heartbeat import is_lost, last_heartbeat
from herorun.runs import Run
from herorun.system.clock import now
from herorun.system.files import is_locked


def describe_babysitter(run: Run, is_finished: bool = False, next_command: str = "") -> str:
    """What monitors the run, as text, separately from the run's health. A babysitter of a finished
    run has ended; a relaunch, if that is the next command, starts one.
    """
    if run.contract.babysit.declined:
        return f"declined: {run.contract.babysit.declined}"
    last_beat = last_heartbeat(run)
    if last_beat is None:
        return "none seen on this machine"
    age = round((now() - last_beat).total_seconds())
    if is_finished and not is_locked(run.lock("babysitter")):
        return f"stopped (the run is over), last heartbeat {format_span(age)} ago"
    if is_babysitter_lost(run):
        relaunches = next_command.startswith("herorun relaunch ")
        command = f"`herorun babysit {run.slug}`"
        if run.other_babysit_owner:
            command += f" on {run.other_babysit_owner}"
        elif relaunches:
            command = "the relaunch"
        return f"gone, last heartbeat {format_span(age)} ago: {command} starts it"
    return (
        f"{'monitor stale: ' if monitor_is_stale(run) else ''}last heartbeat {format_span(age)} ago"
    )


def monitor_is_stale(run: Run) -> bool:
    """Whether the babysitter of this machine has stopped or hangs. False if the run was handed to
    another machine.

    The evidence of the present command may be new all the same: a command does not monitor.
    """
    last_beat, handover = last_heartbeat(run), run.record.memory().handed
    if (
        last_beat is None
        or run.contract.babysit.declined
        or (handover and handover.to != run.launcher.owner)
    ):
        return False
    max_age = 2 * run.contract.babysit.cadence + timedelta(minutes=1)
    return is_lost(run) or now() - last_beat > max_age


def is_babysitter_lost(run: Run) -> bool:
    """Whether the run should have a babysitter here and has none. A run that was handed to another
    machine needs none.
    """
    handover = run.record.memory().handed
    return is_lost(run) and (handover is None or handover.to == run.launcher.owner)
