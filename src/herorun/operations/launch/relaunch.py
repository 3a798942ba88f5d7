"""Relaunch under the admitted contract: by the admitted commit and plan, never by the present
checkout.
"""

from collections.abc import Mapping
from dataclasses import field, replace

from herorun import discover
from herorun.core.babysit.action_key import parse_key
from herorun.core.check import Response
from herorun.core.durations import format_duration
from herorun.core.errors import Blocked, CouldNotLook, sentence
from herorun.core.evidence import (
    Candidate,
    Checkpoints,
    Evidence,
    GivenUp,
    History,
    ImportClosure,
    Watch,
    WorkTree,
)
from herorun.core.journal import Memory
from herorun.core.lazy_dataclass import dataclass
from herorun.core.lineage import acceptable, reasons_once, refusal
from herorun.core.plan import Plan
from herorun.core.record.lease import takeover_command
from herorun.core.redaction.scrub import scrub
from herorun.gate import DEADLINE, GateReport, run_relaunch_gate
from herorun.gather import gather
from herorun.runs import MonitoredRun, Run


def relaunch(run: MonitoredRun, instance: str, why: str, by_itself: bool = False) -> str:
    """Start the next instance from the newest complete checkpoint, through the launch gate, and
    return its name. With `by_itself`, no person ordered it: then a pause prevents it until its
    intent is recorded.
    """
    if not isinstance(run, Run):
        return run.submit_again(instance, why)
    # Imported here: code that only proposes a relaunch need not import what submits it.
    from herorun.operations.launch.start_instance import settle_launching

    memory = run.record.memory()
    open_launch = memory.unsettled
    if open_launch is None and memory.current and memory.current.name != instance:
        return memory.current.name  # it was relaunched already
    babysitter = f"{run.launcher.owner}, every {format_duration(run.contract.babysit.cadence)}"
    settled_launch = settle_launching(run, babysitter)
    if settled_launch is not None:
        return settled_launch.instance
    must_be_resumable(run)
    rollback_order = memory.rollback_ordered
    if rollback_order is not None:
        raise Blocked(
            f"{rollback_order.by} ordered a rollback to step "
            f"{parse_key(rollback_order.about[-1]).detail}, which was interrupted: "
            f"a person repeats it, or relaunches instead; `herorun status {run.slug}` shows the "
            "commands that work now."
        )
    plan = plan_resume(run, memory, instance)
    message = f"relaunch after {instance}: {why}"
    return start_again(run, plan, Successor(instance, message, babysitter, by_itself=by_itself))


@dataclass(frozen=True)
class Successor:
    """The parameters of an instance that replaces another one."""

    instance: str
    why: str
    babysitter: str
    given_up: GivenUp | None = None
    facts: Mapping[str, str] = field(default_factory=dict)
    by_itself: bool = False


def start_again(run: Run, plan: Plan, again: Successor) -> str:
    """Start an instance through the launch gate, by a plan of the admitted commit. Checkpoints that
    a rollback gives up are not candidates.
    """
    from herorun.operations.launch.order import LaunchOrder

    memory = run.record.memory()
    ruled_out = (again.given_up,) if again.given_up else ()
    report = gate_of(run, plan, ruled_out, {History: memory.history})
    if report.verdict != "clear":
        raise _refusal(run, report)
    from herorun.operations.launch.start_instance import start_instance

    order = LaunchOrder(
        plan=plan,
        why=again.why,
        babysitter=again.babysitter,
        relaunch_of=again.instance,
        by_itself=again.by_itself,
        dirty=memory.launchings[again.instance].dirty,
        overlooked=_warnings(report),
        given_up=again.given_up,
        facts=again.facts,
    )
    return start_instance(run, order).instance


def _refusal(run: Run, report: GateReport) -> Blocked | CouldNotLook:
    summary = sentence(report.summary)
    if report.verdict != "blocked":
        return CouldNotLook(
            f"Nothing was submitted, because not all launch checks could be answered: {summary} "
            "Once everything can be read, repeat the same command."
        )
    check = report.blocking[0].check
    way_on = f"`herorun explain {check}` shows how to fix it."
    watch = report.evidence.get(Watch)
    is_elsewhere = isinstance(watch, Watch) and watch.lease_owner and watch.lease_slug == run.slug
    if check == "second-babysitter" and is_elsewhere:
        takeover = takeover_command(run.slug, run.contract.babysit.cadence)
        way_on = (
            "Type the command there. Only if no babysitter is left there, take the run over "
            f"here with `{takeover}`, and repeat the same command."
        )
    return Blocked(
        f"Nothing was submitted, because the launch checks refuse it: {summary} {way_on}"
    )


def gate_of(
    run: Run,
    plan: Plan,
    given_up: tuple[GivenUp, ...],
    inputs: Evidence,
    deadline: float = DEADLINE,
) -> GateReport:
    """The launch gate's report for this plan, with `given_up` excluded. Starts nothing."""
    if plan.in_place.value:
        must_be_admitted_tree(run, plan)
    history = inputs[History]
    assert isinstance(history, History)
    history = replace(history, given_up=(*history.given_up, *given_up))
    return run_relaunch_gate(run, {**inputs, Plan: plan, History: history}, deadline)


def must_be_resumable(run: Run) -> None:
    """Raise `Blocked` under `resume = "never"`: then only a fork continues the run, with its own
    identity and root.
    """
    if run.contract.tracker.resume == "never":
        raise Blocked(
            f'[tracker] resume is "never", so {run.slug} never continues under its id: fork a new '
            "run from one of its "
            f"checkpoints; `herorun status {run.slug}` shows the command."
        )


def _warnings(report: GateReport) -> tuple[str, ...]:
    """Findings that do not block: at a relaunch nobody reads a terminal, so the record and the
    issue state them.
    """
    findings = [
        f
        for f in report.findings
        if f.open and report.checks[f.check].response is not Response.INFO
    ]
    return tuple(scrub(f"{finding.check}: {finding.verdict.message}") for finding in findings)


def must_be_admitted_tree(run: Run, plan: Plan) -> None:
    """Raise unless the checkout of an in-place run is the admitted tree."""
    evidence = gather(
        [WorkTree, ImportClosure], discover.sources(), run.base_evidence(run.record.memory())
    )
    tree = evidence[WorkTree]
    if not isinstance(tree, WorkTree):
        raise CouldNotLook(f"The checkout that the run is started in could not be read: {tree.why}")
    if tree.commit != plan.commit.value or not _is_admitted_tree(run, plan, tree, evidence):
        raise Blocked(
            "The checkout that the run is started in (in_place) was moved from "
            f"{plan.commit.value[:9]}: a person must launch."
        )


def _is_admitted_tree(run: Run, plan: Plan, tree: WorkTree, evidence: Evidence) -> bool:
    """Whether the edits in the checkout are the admitted ones, or none if none were admitted."""
    from herorun.core.code.impact import blocking_changes, list_ignored_files
    from herorun.runs.recorded_plan import patch_of
    from herorun.system.git.worktree_snapshot import MEGABYTE, take_snapshot

    if plan.patch.value is None:
        return not blocking_changes(run.contract, run.file, tree, evidence[ImportClosure])
    cap = run.contract.code.snapshot_max_mb * MEGABYTE
    snapshot = take_snapshot(run.repository, tree.commit, list_ignored_files(tree), cap)
    return snapshot is not None and patch_of(snapshot) == plan.patch.value


def plan_resume(run: Run, memory: Memory, instance: str) -> Plan:
    """The instance's admitted plan, started from the newest complete checkpoint that nothing
    excludes. Raises if there is none.
    """
    newest = _newest_checkpoint(run, memory)
    # Imported here: a run without a checkpoint needs no plan, and `status` proposes too.
    from herorun.operations.launch.admitted_plan import admitted_plan

    plan = admitted_plan(run, memory.launchings[instance])
    return plan.started_from(newest, "newest complete checkpoint of this run") if newest else plan


def _newest_checkpoint(run: Run, memory: Memory) -> Candidate | None:
    """The checkpoint to continue from; None where the admitted plan names its own. Raises if there
    is neither.
    """
    evidence = gather([Checkpoints], discover.sources(), run.base_evidence(memory))
    checkpoints = evidence[Checkpoints]
    if not isinstance(checkpoints, Checkpoints):
        raise CouldNotLook(f"The checkpoints could not be read: {checkpoints.why}")
    newest = acceptable(checkpoints.candidates, run.contract, memory.history).newest
    if newest is not None:
        return newest
    complete_candidates = [c for c in checkpoints.candidates if c.complete]
    if complete_candidates:
        reasons = reasons_once(
            (c, refusal(c, run.contract, memory.history)) for c in complete_candidates
        )
        raise Blocked(
            f"No complete checkpoint of this run may be chosen without a person: {reasons}."
        )
    if run.contract.start.from_ is not None:
        return None
    raise Blocked(
        "There is no complete checkpoint to continue from, and herorun does not guess: the DRI "
        f"decides. `herorun preflight {run.slug}` shows what blocks a launch from scratch."
    )
