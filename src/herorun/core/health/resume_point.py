"""Where an instance really began, compared with its plan. Pure."""

import math
from collections.abc import Mapping
from dataclasses import replace

from herorun.core.evidence import (
    Candidate,
    Checkpoints,
    History,
    Instance,
    Metrics,
    PriorLaunch,
    Receipt,
    Resume,
)
from herorun.core.lazy_dataclass import dataclass


@dataclass(frozen=True)
class PlannedStart:
    """What the plan says: nothing at all, or a checkpoint whose step count continues, or starts at
    0 again.
    """

    path: str | None
    step: int | None  # completed updates when it begins; None: the checkpoint's step is not known

    def __str__(self) -> str:
        return f"{self.path} (step {self.step})" if self.path else "scratch"


@dataclass(frozen=True)
class ResumeRows:
    """What the rows tell; one of the two is empty."""

    wrong: str = ""
    right: str = ""


def resume_of(metrics: Metrics, history: History) -> Resume | None:
    """How the present instance continues from the one before it, which older ones do not show."""
    resume, current = metrics.resume, history.current
    if resume is None or current is None or not history.wrote(metrics):
        return None
    others = metrics.instance == current.name and resume.instance not in ("", current.name)
    return None if others else resume


def resume_as_logged(metrics: Metrics, resume: Resume) -> Resume:
    """With the log's own step numbers, for a message."""
    first_bad = resume.first_bad_step
    return replace(
        resume,
        step=metrics.logged_step(resume.step),
        high_water=metrics.logged_step(resume.high_water),
        worst_step=metrics.logged_step(resume.worst_step),
        first_bad_step=None if first_bad is None else metrics.logged_step(first_bad),
    )


def start_of(prior: PriorLaunch) -> PlannedStart:
    start = prior.plan.get("start")
    if not isinstance(start, Mapping):
        return PlannedStart(None, 0)
    keeps_step = start.get("kind") != "weights-only"
    step = start.get("step") if keeps_step else 0
    return PlannedStart(str(start.get("path")).rstrip("/"), step if isinstance(step, int) else None)


def loaded_wrong(start: PlannedStart, receipt: Receipt | None, checkpoints: Checkpoints) -> str:
    """What is wrong with what the receipt says was loaded; empty where it says nothing, or what was
    planned.

    A later attempt of one instance continues from what the instance itself saved.
    """
    loaded_path = (receipt.loaded or "").rstrip("/") if receipt else ""
    if receipt is None or not loaded_path or loaded_path == start.path:
        return ""
    own = checkpoints.at(loaded_path)
    if receipt.attempt > 1 and own and own.step >= (start.step or 0):
        return ""
    return f"loaded {loaded_path}, but the plan says {start}"


def own_start(checkpoints: Checkpoints, history: History) -> PlannedStart | None:
    """Where a restart by the back end must continue: at the newest complete checkpoint that the
    instance had saved.
    """
    current = history.current
    if current is None or not history.restarts:
        return None
    began_at, restarted_at = current.intended or current.started, history.restarts[-1][0]
    own = [
        c
        for c in checkpoints.candidates
        if c.complete and c.modified and began_at <= c.modified < restarted_at
    ]
    newest = max(own, key=lambda c: c.step, default=None)
    return PlannedStart(newest.path, newest.step) if newest and newest.step else None


def began_again(metrics: Metrics, checkpoints: Checkpoints, history: History) -> str:
    """A restart by the back end that began at the first step, although the instance had saved;
    empty: not seen.

    Only an attempt that is known as one counts: the first attempt of a run begins there as it must.
    """
    start, resume = own_start(checkpoints, history), metrics.resume
    if (
        start is None
        or resume is None
        or resume.step != metrics.first_step
        or metrics.first_step > 1
    ):
        return ""
    number = history.restarts[-1][1]
    return (
        f"began again at step {metrics.first_step} (attempt {number}, restarted by its back "
        f"end), although it had saved {start}"
    )


def _ended_beyond(step: int, history: History) -> bool:
    """Whether a tick saw the current instance's end, with rows beyond that step."""
    current = history.current
    return current is not None and any(
        end.instance == current.name and end.step is not None and end.step > step
        for end in history.ends
    )


def _saved_between(start: int, first: float, checkpoints: Checkpoints, history: History) -> bool:
    """Whether the instance itself saved behind its start and before the step `first`: of the newest
    attempt's first row, which is then a restart's.
    """
    current = history.current
    began_at = (current.intended or current.started) if current else None
    return began_at is not None and any(
        start < c.step < first and c.modified is not None and c.modified >= began_at
        for c in checkpoints.candidates
    )


def rows_wrong(
    start: PlannedStart, metrics: Metrics, checkpoints: Checkpoints, history: History
) -> ResumeRows | None:
    """By the newest attempt's first row. None: the rows do not tell.

    A row of the start's own step, as of an evaluation after loading, is no fault. A newest row
    before the start is none where the instance itself has saved behind it, or ended there. Where
    the record does not say whose the rows are, an attempt that began at or below the start may be
    an earlier instance's that continues without a break; only a newest row at or below the start is
    then sure to be wrong.
    """
    if start.step is None:
        return None
    if metrics.step < start.step:
        if _saved_between(start.step, math.inf, checkpoints, history) or _ended_beyond(
            start.step, history
        ):
            return None  # rows of this instance are lost: `lost-rows` tells it
        return ResumeRows(f"wrote step {metrics.step}, but should have continued from {start}")
    current = history.current
    ours = current is not None and metrics.instance == current.name
    if metrics.first_step < start.step:
        began = f"began at step {metrics.first_step}, but should have continued from {start}"
        return ResumeRows(began) if ours else None
    if _saved_between(start.step, metrics.first_step, checkpoints, history):
        return ResumeRows(
            right=f"began again at step {metrics.first_step}, after it had saved checkpoints "
            f"itself: the plan says {start}, which this does not contradict"
        )
    high_water = metrics.resume.high_water if metrics.resume else 0
    if ours and start.step < high_water < metrics.first_step:
        # the tracker drops the steps that it has: where the rows begin is not where the job did
        return None
    if newer := _newest_between(start.step, metrics.first_step, checkpoints, current):
        return ResumeRows(
            f"began at step {metrics.first_step}, as from {newer.path}; the plan says {start}"
        )
    return ResumeRows(right=f"began at step {metrics.first_step}, as the plan says: {start}")


def _newest_between(
    start_step: int, first_step: int, checkpoints: Checkpoints, current: Instance | None
) -> Candidate | None:
    """The newest checkpoint between the two steps that was there before the instance began."""
    began = (current.intended or current.started) if current else None
    earlier = [
        c
        for c in checkpoints.candidates
        if start_step < c.step < first_step and c.modified and began and c.modified < began
    ]
    return max(earlier, key=lambda c: c.step, default=None)
