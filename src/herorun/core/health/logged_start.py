"""Where the job's log says that training begins, compared with its plan. Pure."""

from collections.abc import Sequence

from herorun.core.evidence import Checkpoints, Instance, JobLog, Loading
from herorun.core.health.resume_point import PlannedStart, ResumeRows
from herorun.core.lineage import is_under

MIN_DROPPED = 3  # steps that rise: a summary that is logged at step 0 at every start is one
NEAR = 1  # steps that trainers differ by in how they count the one that they resume at


def log_wrong(
    start: PlannedStart,
    log: JobLog,
    checkpoints: Checkpoints,
    current: Instance,
    first_step: int,
    own: PlannedStart | None = None,
) -> ResumeRows | None:
    """What the log's last line on loading means, then what the tracker dropped. None if the log
    does not say.

    `own`: where a restart by the back end must continue.
    """
    dropped_text = _describe_dropped_rows(start, log, first_step) or _dropped_again(
        own, log, first_step
    )
    if dropped_text:
        return ResumeRows(wrong=dropped_text)
    return _compare_loading(start, log.loading, checkpoints, current)


def fall_back(loading: Sequence[Loading]) -> Loading | None:
    """The newest line that reports a partial load; None if the last line reports a full one."""
    last = next((each for each in reversed(loading) if each.loads != "part"), None)
    part = next((each for each in reversed(loading) if each.loads == "part"), None)
    if part and (last is None or last.loads == "resumed" or part.line > last.line):
        return part
    return None if last is None or last.loads == "resumed" else last


def _compare_loading(
    start: PlannedStart, loading: Sequence[Loading], checkpoints: Checkpoints, current: Instance
) -> ResumeRows | None:
    worst = fall_back(loading)
    if worst is not None and _contradicts(start, worst):
        return ResumeRows(
            wrong=f'reported in line {worst.line} of its log "{worst.excerpt}", but the plan says '
            f"{start}"
        )
    resume_line = next((each for each in reversed(loading) if each.loads == "resumed"), None)
    if worst is not None or resume_line is None:
        return None
    where = f"resumed{_at(resume_line)}, by line {resume_line.line} of its log"
    if _is_planned(start, resume_line):
        return ResumeRows(right=f"{where}, as the plan says: {start}")
    if not _is_comparable(start, resume_line) or _its_own(resume_line, checkpoints, current):
        return None
    return ResumeRows(wrong=f'{where}, "{resume_line.excerpt}", but the plan says {start}')


def _contradicts(start: PlannedStart, loading: Loading) -> bool:
    """Whether less was loaded than the plan says. One empty place among several does not
    say what was loaded.
    """
    if start.path is None:
        return False
    match loading.loads:
        case "none":
            return start.step != 0 and (not loading.path or is_under(start.path, (loading.path,)))
        case "weights":
            return start.step != 0  # weights alone are counted from 0
        case _:
            return True


def _is_comparable(start: PlannedStart, resume_line: Loading) -> bool:
    """Weights of another run are counted from 0, so the step that they were saved at says
    nothing.
    """
    if start.path is None:
        return bool(resume_line.step)
    return start.step != 0 and start.step is not None and resume_line.step is not None


def _is_planned(start: PlannedStart, resume_line: Loading) -> bool:
    if start.path is None or start.step is None:
        return False
    same_path = bool(resume_line.path) and resume_line.path.rstrip("/") == start.path
    same_step = (
        bool(start.step)
        and resume_line.step is not None
        and abs(resume_line.step - start.step) <= NEAR
    )
    return same_path or same_step


def _its_own(resume_line: Loading, checkpoints: Checkpoints, current: Instance) -> bool:
    """A later attempt of one instance continues from what the instance itself saved."""
    intended_at = current.intended or current.started
    return any(
        abs(each.step - (resume_line.step or 0)) <= NEAR
        and each.modified is not None
        and each.modified >= intended_at
        for each in checkpoints.candidates
    )


def _at(resume_line: Loading) -> str:
    return (
        f" at step {resume_line.step}"
        if resume_line.step is not None
        else f" from {resume_line.path}"
    )


def _describe_dropped_rows(start: PlannedStart, log: JobLog, first_step: int) -> str:
    """W&B's client drops steps that the run has already: only its warnings tell that a job began
    far below.
    """
    rows = log.dropped
    if rows is None or not start.step or rows.steps < MIN_DROPPED:
        return ""
    if rows.newest + 1 - first_step >= start.step:
        return ""
    return (
        f"logged step {rows.newest}, but should have continued from {start}; the tracker was at "
        f"step {rows.current} and dropped the row (line {rows.line} of the log)"
    )


def _dropped_again(own: PlannedStart | None, log: JobLog, first_step: int) -> str:
    """What is wrong with a restart that began at the very first step, whose rows the tracker drops.
    A restart from an older checkpoint drops rows rightly.
    """
    began = log.dropped is not None and log.dropped.first <= first_step
    return _describe_dropped_rows(own, log, first_step) if own and began else ""


def saved_below(start: PlannedStart, checkpoints: Checkpoints, current: Instance) -> str:
    """A checkpoint below the start that was written since the launch: the job trains from further
    back.
    """
    if not start.step:
        return ""
    began_at = current.intended or current.started
    below = [
        each
        for each in checkpoints.candidates
        if each.complete and each.step < start.step and each.modified and each.modified > began_at
    ]
    if not below:
        return ""
    newest = max(below, key=lambda each: each.step)
    return (
        f"saved {newest.path} at {newest.modified:%Y-%m-%d %H:%M} UTC, "
        f"but should have continued from {start}"
    )
