"""Whether a fork would work: its form, its parent, and its step against the checkpoint's."""

import re

from herorun.core.evidence import TrackerIdentity, TrackerState
from herorun.core.finding import Verdict, failed, passed, unknown
from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_regex import lazy_regex
from herorun.core.plan import StartPoint, TrackerRun

_FORK = lazy_regex(r"([^?]+)\?_step=(\d{1,15})", re.ASCII)


@dataclass(frozen=True)
class ForkPoint:
    """The run and its last step that a fork begins with."""

    id: str
    step: int


def fork_point(text: str) -> ForkPoint | None:
    """`<id>?_step=<n>`, as W&B writes it; None for any other form.

    >>> fork_point("parent?_step=99")
    ForkPoint(id='parent', step=99)
    """
    match = _FORK.fullmatch(text)
    return ForkPoint(match[1], int(match[2])) if match else None


def first_row(run: TrackerRun, start: StartPoint | None) -> int | None:
    """The step that the first row will be logged under; None where the checkpoint's step is not
    known.
    """
    if start is None or start.kind == "weights-only":
        return run.first_step
    return None if start.step is None else start.step + run.first_step


def judge_fork(
    fork_from: str, run: TrackerRun, start: StartPoint | None, identity: TrackerIdentity
) -> list[Verdict]:
    """One verdict about the form, or one each about the parent and the step."""
    point = fork_point(fork_from)
    if point is None:
        message = (
            f"[tracker] fork_from is {fork_from!r}: write it as <id>?_step=<n>, the run and its "
            "last step to keep"
        )
        return [failed(message, subject=fork_from)]
    if point.id == run.id:
        message = (
            f"[tracker] fork_from names the run's own id {run.id}: a fork needs an id of its own"
        )
        return [failed(message, subject=fork_from)]
    return [
        _parent(fork_from, point, identity),
        _judge_fork_step(fork_from, point, first_row(run, start), identity.tracker),
    ]


def _parent(fork_from: str, point: ForkPoint, identity: TrackerIdentity) -> Verdict:
    state, last = identity.parent, identity.parent_last_step
    if state in (None, TrackerState.UNREACHABLE):
        why = identity.why or "its state is unknown"
        return unknown(
            f"could not query {identity.tracker} about the parent run {point.id!r}: {why}",
            subject=fork_from,
        )
    if state in (TrackerState.ABSENT, TrackerState.DELETED):
        message = (
            f"{identity.tracker} has no run {point.id!r} to fork from in its project: "
            "check [tracker] fork_from"
        )
        return failed(message, subject=fork_from)
    if last is None or last < point.step:
        log_text = "has logged nothing" if last is None else f"has logged only up to step {last}"
        return failed(
            f"{point.id} {log_text}: it cannot be forked at step {point.step}", subject=fork_from
        )
    return passed(f"{point.id} has logged step {point.step}", subject=fork_from)


def _judge_fork_step(fork_from: str, point: ForkPoint, first: int | None, service: str) -> Verdict:
    """The tracker counts on from the fork's step + 1, and drops every row below without a word."""
    if first is None:
        return unknown(
            "the start checkpoint's step is not known, so neither is the fork's", subject=fork_from
        )
    if point.step < first:
        return passed(
            f"{service} continues at step {point.step + 1}, the first row is {first}",
            subject=fork_from,
        )
    below = f"fork at step {first - 1} or earlier" if first else "do not fork"
    message = (
        f"the first row will be step {first}, and {service} would drop every row "
        f"up to step {point.step}: {below}"
    )
    return failed(message, subject=fork_from)
