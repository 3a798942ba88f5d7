"""There is a newer complete checkpoint than the one to start from, or the newest one is unknown.

Why: an old start discards the steps in between; usually the path is left over from a handoff, or
was chosen in the order of names, where step-9000 comes after step-10000. After a rollback, trainers
disagree whether the highest or the last written step is meant.
Fix: name the newest complete one in `[start] from`; or the intended one, with a `[start] reason`;
or, if the newest must not be used, list its lineage in `[start] rejected`.
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
    siblings: StartSiblings | Nothing | Unavailable,
) -> Verdict:
    """A run that was launched before continues from its own newest checkpoint; the start of a new
    run is compared with the checkpoints in the same folder.
    """
    start = plan.start.value
    mine = candidates_of(own) if history.instances else ()
    good = acceptable(mine, contract, history)
    if start is None:
        return _elsewhere("from scratch", good.newest) or not_applicable(plan.start.source)
    reason = _stated_reason(start, contract)
    if choice := Checkpoints(mine).at(start.path):
        return _judge_choice(choice, good, reason)
    if isinstance(siblings, Unavailable):
        return unknown(
            f"the folder of {start.path} could not be read: {siblings.why}", subject=start.path
        )
    others = candidates_of(siblings)
    choice = Checkpoints(others).at(start.path)
    if choice is None:
        return not_applicable(
            "its step is not known: see incomplete-start-checkpoint", subject=start.path
        )
    return _elsewhere(f"from {start.path}", good.newest) or _judge_choice(
        choice, _exclude_rejected(others, contract), reason
    )


def _exclude_rejected(candidates: Iterable[Candidate], contract: Contract) -> Checkpoints:
    """For another run's checkpoints only the lineage is judged: this record contains nothing else
    about them.
    """
    return Checkpoints(
        tuple(c for c in candidates if not is_rejected(c.path, contract.start.rejected))
    )


def _stated_reason(start: StartPoint, contract: Contract) -> str:
    stated_path = (contract.start.from_ or "").rstrip("/")
    return (contract.start.reason or "") if start.path == stated_path else ""


def _elsewhere(start_text: str, latest: Candidate | None) -> Verdict | None:
    """The failure of a run that has a complete checkpoint of its own and would not continue from
    it.
    """
    if latest is None:
        return None
    message = (
        f"the run would start {start_text}, but its own {latest.path} is complete at step "
        f"{latest.step}"
    )
    return failed(message, subject=latest.path)


def _judge_choice(choice: Candidate, good: Checkpoints, reason: str) -> Verdict:
    older, ambiguous = _older(choice, good.newest), _ambiguous(choice, good)
    message = older or ambiguous
    if message and reason:
        return passed(f"accepted for the stated reason ({reason}): {message}", subject=choice.path)
    if older:
        return failed(older, subject=choice.path)
    if ambiguous:
        way_on = "decide which one continues, and state `from` and `reason` in [start]"
        return failed(f"{ambiguous}: {way_on}", subject=choice.path)
    unreadable = next((c for c in good.candidates if c.is_unread and c.step > choice.step), None)
    if unreadable and not reason:
        return unknown(f"{unreadable.path} may be newer: {unreadable.problem}", subject=choice.path)
    return passed(
        f"{choice.path} is the newest complete one, step {choice.step}", subject=choice.path
    )


def _older(choice: Candidate, newest: Candidate | None) -> str:
    if newest is None or newest.step <= choice.step:
        return ""
    message = (
        f"{choice.path} is step {choice.step}, but {newest.path} is complete at step "
        f"{newest.step}: "
        f"{count(newest.step - choice.step, 'step')} would be lost"
    )
    if choice.path.rpartition("/")[2] > newest.path.rpartition("/")[2]:
        message += " (by name it comes last: were they sorted as text?)"
    return message


def _ambiguous(choice: Candidate, good: Checkpoints) -> str:
    later = written_later(choice, good.candidates)
    if later is None:
        return ""
    return (
        f"{choice.path} is the newest by step ({choice.step}), but {later.path} (step "
        f"{later.step}) was written after it"
    )
