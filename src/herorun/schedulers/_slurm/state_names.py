"""Slurm's words for a job's state, and ours. The first word counts: `CANCELLED by 0` is
`CANCELLED`.

Source: the job state codes of squeue(1) and sacct(1) of Slurm 22.05 to 25.05.
"""

from herorun.core.evidence import JobState

STATES = {
    "PENDING": JobState.PENDING,
    "EXPEDITING": JobState.PENDING,  # about to start again, on the same nodes
    "REQUEUED": JobState.PENDING,
    "REQUEUE_FED": JobState.PENDING,
    "REQUEUE_HOLD": JobState.PENDING,
    "RESV_DEL_HOLD": JobState.PENDING,
    "SPECIAL_EXIT": JobState.PENDING,  # back in the queue, held
    "CONFIGURING": JobState.BUILDING,
    "POWER_UP_NODE": JobState.BUILDING,
    "RUNNING": JobState.RUNNING,
    "COMPLETING": JobState.RUNNING,  # some of its processes are still there
    "RESIZING": JobState.RUNNING,
    "SIGNALING": JobState.RUNNING,
    "STAGE_OUT": JobState.RUNNING,
    "STOPPED": JobState.RUNNING,  # its processes are stopped and hold what they had
    "SUSPENDED": JobState.RUNNING,
    "COMPLETED": JobState.SUCCEEDED,
    "FAILED": JobState.FAILED,
    "CANCELLED": JobState.CANCELLED,
    "TIMEOUT": JobState.TIMED_OUT,
    "DEADLINE": JobState.TIMED_OUT,
    "PREEMPTED": JobState.PREEMPTED,
    "OUT_OF_MEMORY": JobState.OUT_OF_MEMORY,
    "NODE_FAIL": JobState.NODE_FAILED,
    "BOOT_FAIL": JobState.NODE_FAILED,
    "LAUNCH_FAILED": JobState.NODE_FAILED,
    "RECONFIG_FAIL": JobState.NODE_FAILED,
    # REVOKED is left out: a sibling in a federation has the job, so this cluster does not know.
}


def slurm_state_of(word: str) -> JobState:
    """
    >>> slurm_state_of("CANCELLED by 0").value, slurm_state_of("ZOMBIE").value
    ('cancelled', 'unknown')
    """
    return STATES.get(word.split(" ", 1)[0], JobState.UNKNOWN)


def cancelled_by(word: str) -> str | None:
    """The number of the user who cancelled it, if accounting has it.

    >>> cancelled_by("CANCELLED by 1003")
    '1003'
    """
    first, _, number = word.partition(" by ")
    return number if first == "CANCELLED" and number.isdigit() else None
