"""Deletes the virtual machine of a bad TPU, if the contract has `tpu_bad_node = "delete"`."""

from datetime import datetime

from herorun.core.babysit.actions import DeleteNode
from herorun.core.errors import CouldNotLook
from herorun.core.event import Done, Intended
from herorun.core.recovery.bad_node import delete_command, list_command, machine_at
from herorun.operations.record.post import journal_failure
from herorun.runs import MonitoredRun
from herorun.system import process
from herorun.system.clock import now

LIST_TIMEOUT, DELETE_TIMEOUT = 60.0, 600.0  # seconds


def delete_node(run: MonitoredRun, intent: Intended, action: DeleteNode) -> None:
    """Delete the machine that had the worker's address when the job ended. A missing machine counts
    as deleted.
    """
    ending = run.record.memory().endings.get(action.instance)
    ended_at = ending.ended if ending else intent.at
    with journal_failure(run, intent):
        before = _machine(action, ended_at)
        if before is not None:
            run.record.push()
            _call(delete_command(before, action.zone), DELETE_TIMEOUT)
        after = _machine(action, ended_at)
    lines = {
        "Status": (
            f"the machine of worker {action.worker} "
            f"{'was deleted' if before else 'is gone already'}"
        ),
        "Evidence": action.why,
        "Decision": 'delete it, as [babysit] tpu_bad_node = "delete" or --bad-node-zone says',
        "Next": "relaunch",
        "Command": " ".join(delete_command(before, action.zone)) if before else "none",
        "Before": before or "no machine of that time has that address",
        "After": after or "no machine of that time has that address",
    }
    title = f"bad node of {action.instance} replaced"
    run.record.append(Done(now(), intent.key, intent.attempt, title, lines, before or ""))


def _machine(action: DeleteNode, ended_at: datetime) -> str | None:
    try:
        return machine_at(_call(list_command(action.zone), LIST_TIMEOUT), action.worker, ended_at)
    except ValueError as error:
        raise CouldNotLook(f"The machine of {action.worker} is unknown: {error}.") from None


def _call(argv: tuple[str, ...], timeout: float) -> str:
    answer = process.run(argv, timeout)
    if answer.code:
        raise CouldNotLook(f"`{' '.join(argv[:5])}` failed: {answer.complaint}.")
    return answer.text
