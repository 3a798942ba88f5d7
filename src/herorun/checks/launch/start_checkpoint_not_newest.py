"""There is a newer complete checkpoint than the one to start from, or the newest one is unknown.

Why: an old start discards the steps in between; usually the path is left over from a handoff, or
was chosen in the order of names, where step-9000 comes after step-10000. After a rollback, trainers
disagree whether the highest or the last written step is meant.
Fix: name the newest in `[start] from`; or the intended one, with a `[start] reason`; or list a
lineage that must not be used in `[start] rejected`.
"""

from collections.abc import Iterable

from herorun.core.check import AtRelaunch, Gate, Response, check
from herorun.core.contract import Contract
from herorun.core.evidence import (
    Candidate,
    Checkpoints,
    History,
    Nothing,
    StartSiblings,
    Unavailable,
    candidates_of,
)
from herorun.core.finding import Verdict, count, failed, not_applicable, passed, unknown
from herorun.core.lineage import acceptable, is_rejected, written_later
from herorun.core.plan import Plan, StartPoint


@check(Gate.LAUNCH, Response.BLOCK, at_relaunch=AtRelaunch.BLOCK, always=True)
def start_checkpoint_not_newest(
    contract: Contract,
    plan: Plan,
    history: History,
    own: Checkpoints | Nothing,
    beside: StartSiblings | Nothing | Unavailable,
) -> Verdict:
    """A run with a past goes on from its own newest checkpoint; a new one is judged among those beside its start."""
    start = plan.start.value
    mine = candidates_of(own) if history.instances else ()
    good = acceptable(mine, contract, history)
    if start is None:
        return _elsewhere("from scratch", good.newest) or not_applicable(plan.start.source)
    reason = _stated_reason(start, contract)
    if chosen := Checkpoints(mine).at(start.path):
        return _judge_choice(chosen, good, reason)
    if isinstance(beside, Unavailable):
        return unknown(
            f"the folder of {start.path} could not be read: {beside.why}", subject=start.path
        )
    others = candidates_of(beside)
    chosen = Checkpoints(others).at(start.path)
    if chosen is None:
        return not_applicable(
            "its step is not known: see incomplete-start-checkpoint", subject=start.path
        )
    return _elsewhere(f"from {start.path}", good.newest) or _judge_choice(
        chosen, _accepted(others, contract), reason
    )


def _accepted(candidates: Iterable[Candidate], contract: Contract) -> Checkpoints:
    """Of another run only its lineage is judged: the record here knows nothing else of it."""
    return Checkpoints(
        tuple(c for c in candidates if not is_rejected(c.path, contract.start.rejected))
    )


def _stated_reason(start: StartPoint, contract: Contract) -> str:
    named = (contract.start.from_ or "").rstrip("/")
    return (contract.start.reason or "") if start.path == named else ""


def _elsewhere(begins: str, latest: Candidate | None) -> Verdict | None:
    """The run has a complete checkpoint of its own, and would not go on from there."""
    if latest is None:
        return None
    said = (
        f"the run would start {begins}, and its own {latest.path} is complete at step {latest.step}"
    )
    return failed(said, subject=latest.path)


def _judge_choice(chosen: Candidate, good: Checkpoints, reason: str) -> Verdict:
    said = _older(chosen, good.newest) or _ambiguous(chosen, good)
    if said and reason:
        return passed(f"{said}; chosen because: {reason}", subject=chosen.path)
    if said:
        return failed(said, subject=chosen.path)
    unread = next((c for c in good.candidates if c.unread and c.step > chosen.step), None)
    if unread and not reason:
        return unknown(f"{unread.path} may be newer: {unread.problem}", subject=chosen.path)
    return passed(
        f"{chosen.path} is the newest complete one, step {chosen.step}", subject=chosen.path
    )


def _older(chosen: Candidate, newest: Candidate | None) -> str:
    if newest is None or newest.step <= chosen.step:
        return ""
    said = (
        f"{chosen.path} is step {chosen.step}, and {newest.path} is complete at step "
        f"{newest.step}: "
        f"{count(newest.step - chosen.step, 'step')} would be lost"
    )
    if chosen.path.rpartition("/")[2] > newest.path.rpartition("/")[2]:
        said += " (by name it comes last: were they sorted as text?)"
    return said


def _ambiguous(chosen: Candidate, good: Checkpoints) -> str:
    later = written_later(chosen, good.candidates)
    if later is None:
        return ""
    return (
        f"{chosen.path} is the newest by step ({chosen.step}), and {later.path} (step "
        f"{later.step}) was written "
        "after it: decide which lineage continues"
    )
