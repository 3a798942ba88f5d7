"""The run fails again and again in the same way.

Why: one crash may be the hardware; the same step, the same stretch between two checkpoints, the
same error or the same node again is a bug or a bad part.
Fix: read the log of both ends (`herorun logs RUN`, and `--instance` for the earlier one); fix the
code, skip the data, or exclude the node, and launch again (`herorun launch RUN`).
Source: marin-community/marin, manage-hero-run: repeated same-step or same-window failures suggest a
deterministic bug; NVIDIA's resiliency extension suspects a node after three failures.
"""

from collections.abc import Callable, Sequence
from typing import ClassVar

from herorun.core.check import Gate, Response, Topic, check
from herorun.core.evidence import Checkpoints, End, History, Job, Metrics, Nothing, Now, Unavailable
from herorun.core.finding import Verdict, count, failed, not_applicable, passed, unknown
from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_pydantic import PositiveInt
from herorun.core.recovery.endings import end_of, is_failure


@dataclass(frozen=True)
class Limits:
    """How many consecutive failures are too many: at one step (at most `max_step_difference` steps
    apart), with one error fingerprint, between the same two checkpoints, or on one node.
    """

    RENAMED: ClassVar = {"apart": "max_step_difference"}

    max_step_difference: PositiveInt = 2
    same_step: PositiveInt = 2
    same_error: PositiveInt = 2
    same_window: PositiveInt = 3
    same_node: PositiveInt = 3


@check(Gate.HEALTH, Response.ESCALATE, topic=Topic.JOB, vetoes_relaunch=True)
def repeated_crash(
    job: Job,
    history: History,
    metrics: Metrics | Nothing | Unavailable,
    checkpoints: Checkpoints | Nothing | Unavailable,
    now: Now,
    limits: Limits,
) -> Verdict:
    """Preemptions, time limits and stops by a person are not failures, and do not interrupt a
    series of failures.
    """
    if job.state.in_doubt:
        return unknown(
            f"the scheduler does not report the state of {job.instance}", subject=job.instance
        )
    if not job.has_crashed:
        return not_applicable(f"{job.instance} {job.state.predicate}", subject=job.instance)
    recorded_end = next((end for end in history.ends if end.instance == job.instance), None)
    last = recorded_end or end_of(job, metrics, checkpoints, history, now.at)
    if not is_failure(last):
        return not_applicable(
            f"{job.instance} {job.state.predicate}: that is no fault of the run",
            subject=job.instance,
        )
    before = [end for end in history.ends if end.instance != job.instance and is_failure(end)]
    repeats = _describe_repeats(last, before, limits)
    if repeats:
        return failed(f"{job.ending}; {'; '.join(repeats)}", subject=job.instance)
    return passed(f"no earlier failure is like that of {job.instance}", subject=job.instance)


def _describe_repeats(last: End, before: Sequence[End], limits: Limits) -> list[str]:
    at_step = _count_alike_in_a_row(
        before, lambda end: _at_same_step(end, last, limits.max_step_difference)
    )
    of_error = _count_alike_in_a_row(
        before,
        lambda end: (
            _is_same_checkpoint(end, last)
            and len(last.fingerprint) > 0
            and end.fingerprint == last.fingerprint
        ),
    )
    in_window = _count_alike_in_a_row(before, lambda end: _is_same_checkpoint(end, last))
    on_node = _count_alike_in_a_row(
        before, lambda end: bool(set(end.failed_on) & set(last.failed_on))
    )
    rows = [
        (at_step, limits.same_step, f"at step {last.step}"),
        (of_error, limits.same_error, f"with the same error ({last.fingerprint})"),
        (in_window, limits.same_window, f"without a new checkpoint since step {last.checkpoint}"),
        (on_node, limits.same_node, f"on {', '.join(last.failed_on)}"),
    ]
    return [
        f"{count(times + 1, 'failure')} in a row {alike_in}; the limit is {least}"
        for times, least, alike_in in rows
        if times + 1 >= least
    ]


def _count_alike_in_a_row(before: Sequence[End], alike: Callable[[End], bool]) -> int:
    """How many of the newest ends are alike, up to the first one that is not."""
    alike_ends = 0
    for end in reversed(before):
        if not alike(end):
            break
        alike_ends += 1
    return alike_ends


def _at_same_step(end: End, last: End, max_difference: int) -> bool:
    """Whether both failed at one step. A complete checkpoint at or after the earlier failure's step
    shows that the run got past it.
    """
    if end.step is None or last.step is None or (last.checkpoint or 0) >= max(end.step, 1):
        return False
    return abs(end.step - last.step) <= max_difference


def _is_same_checkpoint(end: End, last: End) -> bool:
    """Whether both failed between the same two checkpoints; False if the checkpoint is unknown."""
    return last.checkpoint is not None and end.checkpoint == last.checkpoint
