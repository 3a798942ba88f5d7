"""Which checkpoints may be resumed from, which is the newest, and what a choice throws away. All of
it is pure.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime

from herorun.core.clock_skew import SKEW
from herorun.core.contract import Contract
from herorun.core.evidence import (
    Candidate,
    Checkpoints,
    FinalStep,
    GivenUp,
    History,
    LeftCheckpoints,
    Metrics,
    Nothing,
    Taint,
    Unavailable,
    candidates_of,
)
from herorun.core.finding import count
from herorun.core.lazy_dataclass import dataclass


def is_under(path: str, roots: Iterable[str]) -> bool:
    """Whether a path is, or lies under, one of the roots."""
    return any(
        path == root.rstrip("/") or path.startswith(root.rstrip("/") + "/") for root in roots
    )


def left_no_step(
    own: Checkpoints | Nothing | Unavailable,
    metrics: Metrics | Nothing | Unavailable,
    left_checkpoints: LeftCheckpoints | Nothing | Unavailable,
) -> bool:
    """Whether the run was seen to have neither a checkpoint, whole or not, nor a row: no curve and
    no state that another start could continue.
    """
    is_unread = any(isinstance(each, Unavailable) for each in (own, metrics, left_checkpoints))
    rows = metrics.rows if isinstance(metrics, Metrics) else 0
    return not is_unread and not rows and not candidates_of(own, left_checkpoints)


def is_rejected(path: str, rejected_tags: tuple[str, ...]) -> bool:
    """Whether a path is, or lies under, one of the rejected lineages."""
    return is_under(path, rejected_tags)


def mistrust(candidate: Candidate, history: History) -> str:
    """Why the record does not trust one of the run's own checkpoints; empty where it does."""
    if not history.instances:
        return ""
    if candidate.path in history.deleting:
        return "its deletion was begun: it may be half there"
    first = history.instances[0].intended
    if candidate.path in history.foreign:
        return "it is older than the first launch: no recorded instance wrote it"
    if first and candidate.modified and candidate.modified < first - SKEW:
        return (
            f"it is older than the first launch ({first:%Y-%m-%d %H:%M} UTC): no recorded "
            "instance wrote it"
        )
    back = given_up(candidate, history.given_up)
    if back is not None:
        return describe_given_up(back)
    return describe_taints(candidate, history.taints)


def describe_taints(candidate: Candidate, taints: Iterable[Taint]) -> str:
    """By which alerts a checkpoint is tainted, and from which step on; empty where it is not."""
    messages = dict.fromkeys(taint.message for taint in taints if taint.covers(candidate))
    return f"it is {'; '.join(messages)}" if messages else ""


def given_up(candidate: Candidate, rollbacks: Iterable[GivenUp]) -> GivenUp | None:
    """The rollback that ruled a checkpoint out; None where none did."""
    return next((back for back in rollbacks if back.covers(candidate)), None)


def describe_given_up(back: GivenUp) -> str:
    """Why a checkpoint is ruled out."""
    why = f": {back.reason}" if back.reason else ""
    return (
        f"it was given up when the run went back to step {back.step} ({back.at:%Y-%m-%d %H:%M} "
        f"UTC{why})"
    )


def refusal(candidate: Candidate, contract: Contract, history: History) -> str:
    """Why one of the run's own checkpoints is never chosen automatically; empty where it may be, if
    it is complete.

    One that the contract names with a reason was looked into by a person.
    """
    if is_rejected(candidate.path, contract.start.rejected):
        return "it is under [start] rejected"
    return "" if decided_on(contract, [candidate]) else mistrust(candidate, history)


def reasons_once(refusals: Iterable[tuple[Candidate, str]]) -> str:
    """Why checkpoints are refused, each reason once, however many share it."""
    by_reason: dict[str, list[Candidate]] = {}
    for candidate, reason in refusals:
        by_reason.setdefault(reason, []).append(candidate)
    return "; ".join(_reason_of(reason, each) for reason, each in by_reason.items())


def _reason_of(reason: str, refusals: Sequence[Candidate]) -> str:
    if len(refusals) == 1:
        return f"{refusals[0].path}: {reason}"
    steps = [candidate.step for candidate in refusals]
    return f"{reason} ({count(len(refusals), 'checkpoint')}, steps {min(steps)} to {max(steps)})"


def acceptable(
    candidates: Iterable[Candidate], contract: Contract, history: History
) -> Checkpoints:
    return Checkpoints(tuple(c for c in candidates if not refusal(c, contract, history)))


def decided_on(contract: Contract, candidates: Iterable[Candidate]) -> Candidate | None:
    """The checkpoint among these that the contract names with a reason: a person decided."""
    stated_path = (contract.start.from_ or "").rstrip("/")
    return next((c for c in candidates if contract.start.reason and c.path == stated_path), None)


def seconds_between(one: Candidate, other: Candidate) -> float | None:
    """From the one's writing to the other's: by the trainer's own time, otherwise by the store's.
    None: it is unknown.

    A time without a zone is only compared with another such; two stores have two clocks.
    """
    first, second = _stamp(one), _stamp(other)
    if first and second and (first.tzinfo is None) == (second.tzinfo is None):
        return (second - first).total_seconds()
    if one.modified and other.modified:
        difference = other.modified - one.modified
        comparable = _store(one) == _store(other) or abs(difference) > SKEW
        return difference.total_seconds() if comparable else None
    return None


def _store(candidate: Candidate) -> str:
    scheme, separator, _ = candidate.path.partition("://")
    return scheme if separator else ""


def _stamp(candidate: Candidate) -> datetime | None:
    try:
        return datetime.fromisoformat(candidate.timestamp)
    except ValueError:
        return None


def written_later(than: Candidate, candidates: Iterable[Candidate]) -> Candidate | None:
    """The complete checkpoint of another step that was written last, if that was after `than`."""
    latest = None
    for candidate in candidates:
        if candidate.complete and candidate.step != than.step:
            after = seconds_between(latest or than, candidate)
            if after is not None and after > 0:
                latest = candidate
    return latest


@dataclass(frozen=True)
class DiscardedSteps:
    """What a start throws away of what was reached before; None where a part of it is not known."""

    steps: int | None
    accelerator_hours: float | None
    why: str = ""  # what is not known


def compute_discarded_steps(
    start: int | None,
    candidates: Iterable[Candidate],
    metrics: Metrics | None,
    accelerators: int | None,
) -> DiscardedSteps:
    """The steps above `start` that checkpoints or metrics show, and what they cost. Nothing is
    guessed.
    """
    all_candidates = tuple(candidates)
    reached_steps = [c.step for c in all_candidates] + ([metrics.high_water] if metrics else [])
    if start is None:
        return DiscardedSteps(None, None, "the contract does not state `[start] step`")
    steps = max(max(reached_steps, default=start) - start, 0)
    if not steps:
        return DiscardedSteps(0, 0.0)
    pace = seconds_a_step(all_candidates)
    if pace is None:
        return DiscardedSteps(steps, None, "the checkpoints do not show how long a step takes")
    if accelerators is None:
        return DiscardedSteps(steps, None, "[hardware] count is not stated")
    return DiscardedSteps(steps, steps * pace * accelerators / 3600)


def seconds_a_step(candidates: Iterable[Candidate]) -> float | None:
    """Between the two newest complete ones of different steps; None where there are no two, or
    their times disagree.
    """
    complete = sorted(
        (c for c in candidates if c.complete), key=lambda c: (c.step, c.timestamp, c.path)
    )
    newest = complete[-1] if complete else None
    before = next((c for c in reversed(complete) if newest and c.step != newest.step), None)
    if newest is None or before is None:
        return None
    seconds = seconds_between(before, newest)
    return seconds / (newest.step - before.step) if seconds and seconds > 0 else None


def final_checkpoint(
    final: FinalStep | Nothing | Unavailable, checkpoints: Checkpoints | Nothing | Unavailable
) -> str:
    """The path of the complete permanent checkpoint of the final step; empty where none is seen."""
    if (
        not isinstance(final, FinalStep)
        or final.value is None
        or not isinstance(checkpoints, Checkpoints)
    ):
        return ""
    complete = (
        c
        for c in checkpoints.candidates
        if c.step == final.value and c.complete and not c.temporary
    )
    return next((c.path for c in complete), "")
