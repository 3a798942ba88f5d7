"""Rollback: the same run, identity and roots from an earlier checkpoint of its own, because a person says so.

What was saved above that step stays where it is. The record rules it out, so that no later relaunch picks it.
"""

from dataclasses import dataclass, replace

from herorun import discover
from herorun.acts.by_hand import (
    intended_once,
    just_ordered,
    look_at,
    settled,
    stop_and_wait,
    watched_again,
)
from herorun.acts.launching import admitted_plan
from herorun.acts.ordering import Told, begun, order, person
from herorun.acts.perform import rollback_key
from herorun.acts.relaunching import Again, must_be_resumable, start_again
from herorun.acts.submitting import Say, unsaid
from herorun.core.durations import say_duration
from herorun.core.errors import Blocked, CouldNotLook, HerorunError, in_words
from herorun.core.event import Done, Failed, Intended, Word
from herorun.core.evidence import Candidate, Checkpoints, Evidence, FinalStep, GivenUp, Metrics, Nothing, Now
from herorun.core.identity.showing import after_rollback
from herorun.core.journal import Memory
from herorun.core.lineage import discarded, given_up, given_up_words, is_rejected, mistrust
from herorun.core.plan import Plan
from herorun.core.scrub import scrub
from herorun.gather import gather
from herorun.system.clock import now
from herorun.system.files import locked
from herorun.workspace import Run


@dataclass(frozen=True)
class Back:
    """What a rollback would do, before it does it."""

    instance: str  # the current one, which ends
    target: Candidate
    above: tuple[Candidate, ...]  # what lies there above the target, and is ruled out
    plan: Plan
    facts: dict[str, str]


def rollback(
    run: Run,
    step: int,
    reason: str = "",
    *,
    stop_first: bool = False,
    wait: float = 120.0,
    babysit: bool = True,
    dry: bool = False,
    say: Say = unsaid,
) -> Told:
    """Print what the choice costs, then order, record and start, each once. `dry` ends after the printing."""
    run.prepare()
    with locked(run.lock("act"), what="another herorun that acts on this run"):
        before = begun(run)
        waiting = before.unsettled is not None or any(k.startswith("rollback/") for k in before.intended)
        name = settled(run)
        done = _done_already(run, name, step, reason, waiting)
        words = done or _go_back(run, name, step, reason, stop_first, wait, dry, say)
    if dry and not done:
        return Told(run, words)
    return watched_again(run, words, babysit)


def _done_already(run: Run, name: str, step: int, reason: str, waiting: bool) -> str:
    """The same order again, whose instance was started meanwhile; empty where there is something to do."""
    launching = run.record.memory().launchings[name]
    back, origin = launching.given_up, launching.relaunch_of
    if back is None or back.step != step:
        return ""
    if waiting or just_ordered(run, Word.ROLLBACK, _about(origin, step), reason):
        return f"{name} was started already, from step {step}, in place of {origin}"
    return ""


def _about(name: str, step: int) -> tuple[str, ...]:
    return name, rollback_key(name, step)


def _go_back(
    run: Run, name: str, step: int, reason: str, stop_first: bool, wait: float, dry: bool, say: Say
) -> str:
    """The target is looked at first: nothing is stopped for a checkpoint that cannot be gone on from."""
    must_be_resumable(run)
    back = choose(run, name, step, reason)
    say("\n".join(f"  {fact}: {told}" for fact, told in back.facts.items()))
    if dry:
        return f"nothing was done: without --dry-run, {name} ends and the run goes back to step {step}"
    job = look_at(run, name)
    if job is not None and not job.state.ended:
        if not stop_first:
            raise Blocked(
                f"{name} still is {job.state}, and two writers in one root mix their steps: `herorun rollback {run.slug} "
                f"--to {step} --stop-first` stops it first."
            )
        stop_and_wait(run, name, reason, wait)
        back = choose(run, name, step, reason)  # it may have saved once more
    _order(run, name, step, reason)
    key = rollback_key(name, step)
    intended = intended_once(run, key, f"rollback of {name} to step {step}{f': {reason}' if reason else ''}")
    started = _start_once(run, intended, back, reason)
    return f"{started} was started from {back.target.path}, in place of {name}"


def _order(run: Run, name: str, step: int, reason: str) -> None:
    standing = run.record.memory().rollback_ordered
    if standing is None or standing.about != _about(name, step):
        order(run, Word.ROLLBACK, _about(name, step), reason)


def _start_once(run: Run, intended: Intended, back: Back, reason: str) -> str:
    why = f"rollback after {back.instance} to step {back.target.step}, ordered by {person(run)}"
    watched = f"{run.launcher.owner}, every {say_duration(run.contract.babysit.cadence)}"
    undated = tuple((c.path, c.timestamp) for c in back.above if c.modified is None)
    ruled_out = GivenUp(back.target.step, now(), undated, scrub(reason))
    again = Again(back.instance, f"{why}{f': {reason}' if reason else ''}", watched, ruled_out, back.facts)
    try:
        started = start_again(run, back.plan, again)
    except (HerorunError, OSError) as error:
        run.record.append(Failed(now(), intended.key, intended.attempt, in_words(error)))
        raise
    run.record.append(Done(now(), intended.key, intended.attempt, result=started))
    return started


# --- the choice -------------------------------------------------------------------------------------


def choose(run: Run, name: str, step: int, reason: str) -> Back:
    """The run's own complete checkpoint of that step, and what going back to it throws away."""
    memory = run.record.memory()
    given = {**run.given(memory), Now: Now(now())}
    evidence = gather([Checkpoints, Metrics, FinalStep], discover.sources(), given)
    found = evidence[Checkpoints]
    if not isinstance(found, Checkpoints):
        raise CouldNotLook(f"The checkpoints could not be read, so nothing was done: {found.why}.")
    target = target_of(run, found, memory, step)
    admitted = admitted_plan(run, memory.launchings[name])
    plan = admitted.started_from(target, "the step that a person named")
    above = tuple(_examined(run, c) for c in found.candidates if c.step > step)
    return Back(name, target, above, plan, _facts(run, name, target, above, evidence, admitted, reason))


def target_of(run: Run, found: Checkpoints, memory: Memory, step: int) -> Candidate:
    here = [_examined(run, c) for c in found.candidates if c.step == step]
    refused = [f"{c.path}: {why}" for c in here if (why := _against(run, c, memory))]
    good = [c for c in here if not _against(run, c, memory)]
    if good:
        return min(good, key=lambda c: (c.temporary, c.path))
    if any(c.unread for c in here):
        raise CouldNotLook(f"The checkpoint of step {step} could not be read: {'; '.join(refused)}.")
    if refused:
        raise Blocked(f"The run cannot go back to step {step}: {'; '.join(refused)}.")
    raise Blocked(f"The run cannot go back to step {step}: {_absent(run, found, memory, step)}.")


def _against(run: Run, candidate: Candidate, memory: Memory) -> str:
    if candidate.problem:
        return candidate.problem if candidate.unread else f"it is incomplete ({candidate.problem})"
    if is_rejected(candidate.path, run.contract.start.rejected):
        return "its lineage is rejected"
    return mistrust(candidate, memory.history)


def _absent(run: Run, found: Checkpoints, memory: Memory, step: int) -> str:
    """Why there is none of that step to choose."""
    ruled_out = next((c for c in found.given_up if c.step == step), None)
    back = given_up(ruled_out, memory.history.given_up) if ruled_out else None
    if ruled_out and back:
        return f"{ruled_out.path}: {given_up_words(back)}"
    foreign = [path for path in memory.history.foreign if path in _paths(run, step)]
    if foreign:
        return f"{foreign[0]} lay there before the first launch: no instance of this run wrote it"
    steps = sorted({c.step for c in found.candidates})
    near = ", ".join(str(each) for each in sorted(steps, key=lambda each: abs(each - step))[:5])
    return f"no checkpoint of that step lies in its roots; the nearest are of steps {near or 'none at all'}"


def _paths(run: Run, step: int) -> list[str]:
    told = run.contract.output
    return [run.layout.final(root.rstrip("/"), step) for root in (told.root, told.temporary_root) if root]


def _examined(run: Run, candidate: Candidate) -> Candidate:
    if candidate.examined:
        return candidate
    try:
        seen = run.layout.examined(run.store, candidate)
    except OSError as error:
        return replace(candidate, problem=f"it could not be read: {scrub(in_words(error))}")
    return seen or replace(candidate, problem="it is gone meanwhile", examined=True)


def _facts(
    run: Run,
    name: str,
    target: Candidate,
    above: tuple[Candidate, ...],
    evidence: Evidence,
    admitted: Plan,
    reason: str,
) -> dict[str, str]:
    """What a person must know before, and the record keeps."""
    metrics = evidence[Metrics]
    rows = metrics if isinstance(metrics, Metrics) else None
    cost = discarded(target.step, (target, *above), rows, admitted.hardware.value.get("count"))
    last = rows.high_water if rows else 0 if isinstance(metrics, Nothing) else None
    tracker = admitted.tracker.value
    temporary = ", which is temporary" if target.temporary else ""
    facts = {
        "Back to": f"{target.path} (step {target.step}{temporary}), from {name}",
        "Discards": _cost(cost.steps, cost.accelerator_hours, cost.why),
        "Ruled out": ", ".join(c.path for c in above) or "no checkpoint lies above it",
        "Tracker shows": after_rollback(tracker.kind, tracker.id, target.step, last),
        "Identity": f"the same: {tracker.id}, {admitted.output_root.value}, commit {admitted.commit.value[:9]}",
        "Reason": reason or "none was given",
    }
    return {fact: scrub(told) for fact, told in facts.items()}


def _cost(steps: int | None, hours: float | None, why: str) -> str:
    known = "an unknown number of steps" if steps is None else f"{steps} steps"
    paid = f"{hours:,.1f} accelerator-hours" if hours is not None else f"accelerator-hours unknown: {why}"
    return f"{known}, {paid}"
