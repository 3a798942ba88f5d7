"""Maps Iris' names of job and task states to ours. `JOB_STATE_RUNNING` and `running` are the same.

Source: JobState and TaskState of Iris' job.proto.
"""

import re

from herorun.core.evidence import JobState
from herorun.core.lazy_regex import lazy_regex

STATES = {
    "pending": JobState.PENDING,
    "building": JobState.BUILDING,
    "assigned": JobState.BUILDING,  # of a task that has a worker but does not run yet
    "running": JobState.RUNNING,
    "succeeded": JobState.SUCCEEDED,
    "failed": JobState.FAILED,
    "cosched_failed": JobState.FAILED,  # of a healthy task whose gang failed
    "killed": JobState.CANCELLED,
    "preempted": JobState.PREEMPTED,
    "worker_failed": JobState.NODE_FAILED,
    "unschedulable": JobState.UNSCHEDULABLE,
    # `missing` and `unspecified` are left out: the state is unknown.
}
_TIME = lazy_regex(r"timeout exceeded|timed out|deadline exceeded", re.IGNORECASE)
_MEMORY = lazy_regex(r"\boom\b|oom.?kill|out of memory", re.IGNORECASE)
_WAITING = ("pending", "assigned", "building")


def plain(word: str) -> str:
    """
    >>> plain("JOB_STATE_WORKER_FAILED"), plain("running")
    ('worker_failed', 'running')
    """
    return re.sub(r"^(?:job|task)_state_", "", word.strip().lower())


def iris_state_of(word: str) -> JobState:
    """
    >>> iris_state_of("JOB_STATE_KILLED").value, iris_state_of("zombie").value
    ('cancelled', 'unknown')
    """
    return STATES.get(plain(word), JobState.UNKNOWN)


def refine_state(state: JobState, error: str) -> JobState:
    """The state of a failure by its error text: Iris has no state for a time limit or exhausted
    memory.
    """
    if state is not JobState.FAILED:
        return state
    if _TIME.search(error):
        return JobState.TIMED_OUT
    return JobState.OUT_OF_MEMORY if _MEMORY.search(error) else state


def waits(counts: dict[str, int]) -> JobState | None:
    """The state of a job whose tasks all still wait; None if one runs, or the tasks are unknown."""
    by_state = {plain(word): count for word, count in counts.items() if count}
    if not by_state or by_state.get("running") or not any(by_state.get(word) for word in _WAITING):
        return None
    return JobState.PENDING if by_state.get("pending") else JobState.BUILDING
