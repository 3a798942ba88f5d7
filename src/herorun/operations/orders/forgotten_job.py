"""A job that its scheduler does not list: what must hold before the record counts it as ended."""

from herorun.core.durations import format_span
from herorun.core.errors import CouldNotLook, sentence
from herorun.core.journal import Memory
from herorun.operations.health.evaluate import evaluate
from herorun.operations.health.replaced_instance import find_recent_write, unread_signs_of_life
from herorun.operations.launch.intent import where
from herorun.runs import Run
from herorun.system.clock import now


def must_have_ended(run: Run, name: str) -> None:
    """Raise if the job may run on another machine: this scheduler does not know it, is not
    cluster-wide, and no tick recorded its end.
    """
    memory = run.record.memory()
    if name not in memory.ends and (place := out_of_reach(run, memory, name)):
        raise CouldNotLook(
            f"{name} was launched from {place}, and the scheduler here does not know it, so "
            "nothing was done: stop it there."
        )


def must_be_silent(run: Run, name: str) -> None:
    """Raise if rows or checkpoints still come of a job that its scheduler does not list, or if that
    cannot be read.
    """
    if name in run.record.memory().ends:
        return
    _, evidence = evaluate(run)
    if gap := unread_signs_of_life(evidence):
        raise CouldNotLook(
            f"The scheduler does not list {name}, and whether a process of it still writes could "
            f"not be read: {sentence(gap)} Nothing was done; `herorun doctor {run.slug}` tests the "
            "access."
        )
    if write := find_recent_write(run, evidence, now()):
        raise CouldNotLook(
            f"The scheduler does not list {name}, but {write.message}: a process of it may still "
            f"run, so nothing was done. End what writes there; {format_span(write.patience)} after "
            f"the last write, at {write.over_at:%H:%M} UTC, repeat this command."
        )


def out_of_reach(run: Run, memory: Memory, name: str) -> str:
    """Where the instance was launched from, if the scheduler here cannot know it."""
    if run.scheduler.cluster_wide or (launched_from := memory.launchings[name].where) == where(run):
        return ""
    return launched_from or "elsewhere"
