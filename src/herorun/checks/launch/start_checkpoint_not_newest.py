"""A newer complete checkpoint than the one to start from is there.

Why: an old start throws the steps between away; it is mostly a path left over from an earlier handoff, or one
picked in the order of names, where step-9000 comes after step-10000.
Fix: name the newest in `[start] from`; or give `[start] reason`; or list a lineage that must not be used in
`[start] rejected`.
"""

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
from herorun.core.finding import Verdict, failed, not_applicable, passed, unknown
from herorun.core.plan import Plan, StartPoint, is_rejected


@check(Gate.LAUNCH, Response.BLOCK, at_relaunch=AtRelaunch.BLOCK)
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
    latest = _newest(mine, contract)
    if start is None:
        return _elsewhere("from scratch", latest) or not_applicable(plan.start.source)
    if chosen := Checkpoints(mine).at(start.path):
        return _judge(chosen, latest, "")
    if isinstance(beside, Unavailable):
        return unknown(f"could not look beside {start.path}: {beside.why}", subject=start.path)
    others = candidates_of(beside)
    chosen = Checkpoints(others).at(start.path)
    if chosen is None:
        return not_applicable("its step is not known: see incomplete-start-checkpoint", subject=start.path)
    return _elsewhere(f"from {start.path}", latest) or _judge(
        chosen, _newest(others, contract), _reason(start, contract)
    )


def _newest(candidates: tuple[Candidate, ...], contract: Contract) -> Candidate | None:
    return Checkpoints(
        tuple(c for c in candidates if not is_rejected(c.path, contract.start.rejected))
    ).newest


def _reason(start: StartPoint, contract: Contract) -> str:
    named = (contract.start.from_ or "").rstrip("/")
    return (contract.start.reason or "") if start.path == named else ""


def _elsewhere(begins: str, latest: Candidate | None) -> Verdict | None:
    """The run has a complete checkpoint of its own, and would not go on from there."""
    if latest is None:
        return None
    said = f"the run would start {begins}, and its own {latest.path} is complete at step {latest.step}"
    return failed(said, subject=latest.path)


def _judge(chosen: Candidate, newest: Candidate | None, reason: str) -> Verdict:
    if newest is None or newest.step <= chosen.step:
        return passed(f"{chosen.path} is the newest complete one, step {chosen.step}", subject=chosen.path)
    said = (
        f"{chosen.path} is step {chosen.step}, and {newest.path} is complete at step {newest.step}: "
        f"{newest.step - chosen.step} steps would be lost"
    )
    if reason:
        return passed(f"{said}; chosen because: {reason}", subject=chosen.path)
    if chosen.path.rpartition("/")[2] > newest.path.rpartition("/")[2]:
        said += " (by name it comes last: were they sorted as text?)"
    return failed(said, subject=chosen.path)
