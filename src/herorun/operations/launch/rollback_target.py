"""The checkpoint that a rollback or a fork starts from: why this one, and what it discards."""

from dataclasses import replace

from herorun import discover
from herorun.core.errors import Blocked, CouldNotLook, describe_error, sentence
from herorun.core.evidence import (
    Candidate,
    Checkpoints,
    Evidence,
    FinalStep,
    GivenUp,
    Metrics,
    Nothing,
    Now,
)
from herorun.core.finding import count
from herorun.core.journal import Memory
from herorun.core.lazy_dataclass import dataclass
from herorun.core.lineage import (
    acceptable,
    compute_discarded_steps,
    describe_given_up,
    given_up,
    is_rejected,
    mistrust,
    reasons_once,
)
from herorun.core.plan import Plan
from herorun.core.ports import tracker_traits
from herorun.core.redaction.scrub import scrub
from herorun.gather import gather
from herorun.runs import Run
from herorun.system.clock import now


@dataclass(frozen=True)
class RollbackPreview:
    """What a rollback would do, before it does it."""

    instance: str  # the current one, which ends
    target: Candidate
    above: tuple[Candidate, ...]  # checkpoints above the target, which are ruled out
    plan: Plan
    facts: dict[str, str]

    def given_up(self, reason: str = "") -> GivenUp:
        """What the record rules out from now on."""
        undated_paths = tuple((c.path, c.timestamp) for c in self.above if c.modified is None)
        return GivenUp(self.target.step, now(), undated_paths, scrub(reason))


def steps_to_go_back_to(run: Run, memory: Memory) -> list[int]:
    """The steps of the run's own checkpoints that nothing excludes and that are not known to be
    incomplete, newest first.
    """
    inputs = {**run.base_evidence(memory), Now: Now(now())}
    checkpoints = gather([Checkpoints], discover.sources(), inputs)[Checkpoints]
    if not isinstance(checkpoints, Checkpoints):
        raise CouldNotLook(f"The checkpoints could not be read: {sentence(checkpoints.why)}")
    good = acceptable(checkpoints.candidates, run.contract, memory.history).candidates
    return sorted({each.step for each in good if not each.problem}, reverse=True)


def choose(
    run: Run,
    name: str,
    step: int,
    reason: str,
    memory: Memory | None = None,
    extra_evidence: Evidence | None = None,
) -> RollbackPreview:
    """The run's own complete checkpoint of that step, and what a rollback to it discards."""
    memory = memory or run.record.memory()
    inputs = {**run.base_evidence(memory), Now: Now(now()), **(extra_evidence or {})}
    evidence = gather([Checkpoints, Metrics, FinalStep], discover.sources(), inputs)
    checkpoints = evidence[Checkpoints]
    if not isinstance(checkpoints, Checkpoints):
        raise CouldNotLook(
            f"The checkpoints could not be read, so nothing was done: {sentence(checkpoints.why)} "
            "Repeat the same command once they can be read."
        )
    target = target_of(run, checkpoints, memory, step)
    from herorun.operations.launch.admitted_plan import admitted_plan  # as in `relaunch.resumed`

    old_plan = admitted_plan(run, memory.launchings[name])
    plan = old_plan.started_from(target, "the step that a person named")
    above = tuple(_examine_candidate(run, c) for c in checkpoints.candidates if c.step > step)
    return RollbackPreview(
        name,
        target,
        above,
        plan,
        _list_rollback_facts(
            run=run,
            name=name,
            target=target,
            above=above,
            evidence=evidence,
            plan=old_plan,
            reason=reason,
        ),
    )


def target_of(run: Run, checkpoints: Checkpoints, memory: Memory, step: int) -> Candidate:
    of_step = [_examine_candidate(run, c) for c in checkpoints.candidates if c.step == step]
    refusals = [(c, why) for c in of_step if (why := _against(run, c, memory))]
    good = [c for c in of_step if not _against(run, c, memory)]
    if good:
        return min(good, key=lambda c: (c.temporary, c.path))
    if any(c.is_unread for c in of_step):
        raise CouldNotLook(
            f"The checkpoint of step {step} could not be read: {reasons_once(refusals)}."
        )
    if refusals:
        raise _unusable(run, step, reasons_once(refusals))
    raise _unusable(run, step, _absent(run, checkpoints, memory, step))


def _unusable(run: Run, step: int, why: str) -> Blocked:
    return Blocked(
        f"No checkpoint of step {step} can be used: {why}. `herorun checkpoints list {run.slug}` "
        "shows them all."
    )


def _against(run: Run, candidate: Candidate, memory: Memory) -> str:
    if candidate.problem:
        return (
            candidate.problem if candidate.is_unread else f"it is incomplete ({candidate.problem})"
        )
    if is_rejected(candidate.path, run.contract.start.rejected):
        return "it is under [start] rejected"
    return mistrust(candidate, memory.history)


def _absent(run: Run, checkpoints: Checkpoints, memory: Memory, step: int) -> str:
    """Why no checkpoint of that step can be chosen."""
    ruled_out = next((c for c in checkpoints.given_up if c.step == step), None)
    back = given_up(ruled_out, memory.history.given_up) if ruled_out else None
    if ruled_out and back:
        return f"{ruled_out.path}: {describe_given_up(back)}"
    foreign = [path for path in memory.history.foreign if path in _paths(run, step)]
    if foreign:
        return f"{foreign[0]} is older than the first launch: no instance of this run wrote it"
    steps = sorted({c.step for c in checkpoints.candidates})
    nearest = ", ".join(str(each) for each in sorted(steps, key=lambda each: abs(each - step))[:5])
    return "no checkpoint of that step is in its roots; " + (
        f"the nearest are of steps {nearest}" if nearest else "they contain none"
    )


def _paths(run: Run, step: int) -> list[str]:
    output = run.contract.output
    return [
        run.layout.final(root.rstrip("/"), step)
        for root in (output.root, output.temporary_root)
        if root
    ]


def _examine_candidate(run: Run, candidate: Candidate) -> Candidate:
    if candidate.examined:
        return candidate
    try:
        checkpoint = run.layout.examined(run.store, candidate)
    except OSError as error:
        return replace(candidate, problem=f"it could not be read: {scrub(describe_error(error))}")
    return checkpoint or replace(candidate, problem="it is gone meanwhile", examined=True)


def _list_rollback_facts(
    run: Run,
    name: str,
    *,
    target: Candidate,
    above: tuple[Candidate, ...],
    evidence: Evidence,
    plan: Plan,
    reason: str,
) -> dict[str, str]:
    """The facts that are shown to a person before the rollback, and recorded."""
    from herorun.core.identity.tracker_rewind import after_rollback

    metrics = evidence[Metrics]
    rows = metrics if isinstance(metrics, Metrics) else None
    cost = compute_discarded_steps(
        target.step, (target, *above), rows, plan.hardware.value.get("count")
    )
    last = rows.high_water if rows else 0 if isinstance(metrics, Nothing) else None
    tracker = plan.tracker.value
    temporary = ", which is temporary" if target.temporary else ""
    facts = {
        "Back to": f"{target.path} (step {target.step}{temporary}); the new instance replaces "
        f"{name}",
        "Discards": _cost(cost.steps, cost.accelerator_hours, cost.why),
        "Checkpoints no longer used": ", ".join(c.path for c in above)
        or f"none (none is above step {target.step})",
        "Tracker shows": after_rollback(tracker_traits(run.tracker), tracker.id, target.step, last),
        "Identity": (
            f"the same: {tracker.id}, {plan.output_root.value}, commit {plan.commit.value[:9]}"
        ),
        "Reason": reason or "none was given",
    }
    return {fact: scrub(value) for fact, value in facts.items()}


def _cost(steps: int | None, hours: float | None, why: str) -> str:
    steps_text = "an unknown number of steps" if steps is None else f"{count(steps, 'step')}"
    hours_text = (
        f"{hours:,.1f} accelerator-hours"
        if hours is not None
        else f"accelerator-hours unknown: {why}"
    )
    return f"{steps_text}, {hours_text}"
