"""The checkpoints that a launch can start from: the chosen one, why the others are not used, and
what the choice discards.
"""

from typing import Any

from herorun.core.contract import Contract
from herorun.core.evidence import (
    Candidate,
    Checkpoints,
    Evidence,
    History,
    Metrics,
    StartSiblings,
    Unavailable,
    candidates_of,
)
from herorun.core.lineage import compute_discarded_steps, is_rejected, refusal
from herorun.core.plan import Plan
from herorun.schemas.parts import CandidateEntry, Candidates, DiscardedEntry


def checkpoint_choice(plan: Plan | None, evidence: Evidence) -> Candidates:
    """Newest first; those that were not examined are only counted."""
    contract, past = evidence[Contract], evidence[History]
    history = past if isinstance(past, History) else History()  # `unread` says so
    start = plan.start.value if plan else None
    reason = _why_another(plan)
    mine = _own_candidates(evidence, history)
    siblings = candidates_of(_place(evidence, StartSiblings))
    candidates = [
        c for c in dict.fromkeys((*mine, *siblings)) if c.examined or c.problem or _is(c, start)
    ]
    candidates.sort(key=lambda c: (-c.step, c.path))
    return Candidates(
        start=start.path if start else None,
        candidates=[
            _candidate_entry(c, start, _refusal(c, contract, history, c in mine), reason)
            for c in candidates
        ],
        unexamined=len({*mine, *siblings}) - len(candidates),
        discarded=_compute_discard(plan, evidence, history, mine, siblings),
        unread=[
            v.why
            for v in map(evidence.get, (History, Checkpoints, StartSiblings))
            if isinstance(v, Unavailable)
        ],
    )


def _own_candidates(evidence: Evidence, history: History) -> tuple[Candidate, ...]:
    """The run's own checkpoints; before the first launch, none in the roots is its own."""
    checkpoints = _place(evidence, Checkpoints)
    ruled_out = checkpoints.given_up if isinstance(checkpoints, Checkpoints) else ()
    return (*candidates_of(checkpoints), *ruled_out) if history.instances else ()


def _place(evidence: Evidence, kind: Any) -> Any:
    return evidence.get(kind, Unavailable("this evidence was not read"))


def _is(candidate: Candidate, start: Any) -> bool:
    return start is not None and candidate.path == start.path


def _refusal(candidate: Candidate, contract: Contract, history: History, own: bool) -> str:
    if candidate.problem:
        return candidate.problem
    if own:
        return refusal(candidate, contract, history)
    return (
        "it is under [start] rejected"
        if is_rejected(candidate.path, contract.start.rejected)
        else ""
    )


def _why_another(plan: Plan | None) -> str:
    """Why one that could be used is not the start."""
    if plan is None:
        return "no plan was made"
    return (
        "the plan starts from another one" if plan.start.value else "the plan starts from scratch"
    )


def _candidate_entry(
    candidate: Candidate, start: Any, refusal_reason: str, reason: str
) -> CandidateEntry:
    is_start = _is(candidate, start)
    return CandidateEntry.of(
        candidate,
        state=candidate.state,
        is_start=is_start,
        refused=refusal_reason or ("" if is_start else reason),
    )


def _compute_discard(
    plan: Plan | None,
    evidence: Evidence,
    history: History,
    mine: tuple[Candidate, ...],
    siblings: tuple[Candidate, ...],
) -> DiscardedEntry | None:
    """What the start discards; None without a plan, because then nothing was chosen."""
    if plan is None:
        return None
    start, metrics = plan.start.value, evidence.get(Metrics)
    rows = metrics if isinstance(metrics, Metrics) and history.instances else None
    reached_steps = (*mine, *siblings)
    start_step = start.step if start else 0
    if start_step is None:  # the checkpoint's own, if it was read
        start_step = next((c.step for c in reached_steps if c.complete and _is(c, start)), None)
    cost = compute_discarded_steps(
        start_step, reached_steps, rows, plan.hardware.value.get("count")
    )
    return DiscardedEntry.of(cost)
