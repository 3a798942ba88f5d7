"""The statement of a seal: only what was verified, separate from what was planned."""

import json
from collections.abc import Mapping
from typing import Any

from herorun import __version__
from herorun.adapter_declarations import tracker_links
from herorun.core.canonical_json import canonical, plain, timestamp
from herorun.core.errors import CouldNotLook, describe_error, sentence
from herorun.core.event import CheckedIn
from herorun.core.evidence import (
    Candidate,
    Checkpoints,
    Evidence,
    FinalStep,
    HealthAssessment,
    History,
    Instance,
    LateReceipts,
    Metrics,
    MilestoneCheckpoint,
    Receipt,
    Sealing,
    reached_step,
)
from herorun.core.journal import Memory
from herorun.core.ports import tracker_traits
from herorun.core.redaction.scrub import scrub_tree
from herorun.core.seal.caveats import caveats
from herorun.core.seal.kinds import SealKind
from herorun.core.seal.manifest import Manifest
from herorun.core.seal.statement import SealFacts, facts_of, statement
from herorun.gate import GateReport
from herorun.operations.checkpoints.content import sealed_content
from herorun.runs import Run
from herorun.system.clock import now


def make_statement(
    run: Run,
    memory: Memory,
    current: Instance,
    sealing: Sealing,
    report: GateReport,
    edits: Mapping[str, str],
) -> tuple[dict[str, Any], Manifest | None]:
    """What was trained, from what, how it ended, and people's caveats. `edits` are the seal commits
    of the instances that ran from a dirty tree.
    """
    plan = {
        name: document["value"] for name, document in memory.launchings[current.name].plan.items()
    }
    checkpoint = _checkpoint(report.evidence, sealing)
    manifest = _manifest(run, checkpoint)
    at, commit = timestamp(now()), edits.get(current.name, current.commit)
    facts = {
        "kind": sealing.kind.value,
        "name": sealing.name,
        "sealed_at": at,
        "herorun": __version__,
        "commit": commit,
        "launch_commit": current.commit,
        "edits": dict(edits),
        **_of_launch(run, memory, current, plan),
        **final_state_facts(report.evidence, checkpoint),
        "manifest": manifest.facts if manifest else None,
        "waivers": [plain(f.waiver) for f in report.findings if f.waiver],
        "open_alerts": _open_alerts(report.evidence, sealing),
        "receipts": receipts(run),
        "record": run.record.tip,
    }
    seal_facts = SealFacts(
        facts=facts,
        plan=plan,
        commit=commit,
        remote=run.repository.remotes().get(run.contract.code.remote, ""),
        manifest=manifest,
        record=str(run.record.tip),
        times=(timestamp(memory.instances[0].started), at),
        further=tuple(
            {"name": f"edits of {name}", "digest": {"gitCommit": oid}}
            for name, oid in sorted(edits.items())
        ),
    )
    document = _as_read(statement(seal_facts))
    facts_of(document)  # raises if it is not valid
    doubts = _caveats(run, memory, report, manifest)
    document["predicate"]["herorun_seal"] |= {
        **build_record_part(memory),
        **_as_read({"caveats": doubts}),
    }
    return document, manifest


def _caveats(run: Run, memory: Memory, report: GateReport, manifest: Manifest | None) -> list[str]:
    """Every caveat of the seal; see `core.seal.caveats`."""
    assessment, receipt = report.evidence.get(HealthAssessment), report.evidence.get(Receipt)
    late_receipts = report.evidence.get(LateReceipts)
    receipts = (
        *(late_receipts.receipts if isinstance(late_receipts, LateReceipts) else ()),
        receipt,
    )
    instances = {each.instance for each in receipts if isinstance(each, Receipt)}
    return caveats(
        memory=memory,
        events=(line.event for line in run.record.lines()),
        assessment=assessment if isinstance(assessment, HealthAssessment) else HealthAssessment(),
        waivers=run.waivers,
        manifest=manifest,
        verified_names=memory.checked_in | instances,
        cadence=run.contract.babysit.cadence,
        at=now(),
    )


def _of_launch(
    run: Run, memory: Memory, current: Instance, plan: Mapping[str, Any]
) -> dict[str, Any]:
    return {
        "run": run.slug,
        "goal": run.contract.goal,
        "dri": run.dri,
        "dirty_tree": memory.launchings[current.name].dirty,
        "patch": plan["patch"],
        "plan_digest": current.plan_digest,
        "launch_command": plan["argv"],
        "output_root": current.output_root,
        "tracker": plan["tracker"],
        "tracker_label": tracker_traits(run.tracker).label,
        "tracker_links": list(tracker_links(run.contract)),
        **build_record_part(memory),
    }


def build_record_part(memory: Memory) -> dict[str, Any]:
    """The part from the record: a statement that differs in it is out of date."""
    instances = [
        {
            "name": i.name,
            "job": i.job,
            "started": timestamp(i.started),
            "plan_digest": i.plan_digest,
            "checked_in": i.name in memory.checked_in,
            **_placement(memory, i.name),
        }
        for i in memory.instances
    ]
    return _as_read({"instances": instances, "caveats": list(memory.caveats)})


def _placement(memory: Memory, instance: str) -> dict[str, list[str]]:
    """The instance's nodes and the images that they pulled, if the scheduler reports them."""
    placement = memory.placements.get(instance)
    if placement is None:
        return {}
    return {"nodes": list(placement.nodes), "images": list(placement.images)}


def receipts(run: Run) -> list[dict[str, Any]]:
    """What check-in found inside each job, from the journal."""
    events = (line.event for line in run.record.lines())
    return [
        {"instance": e.instance, "attempt": e.attempt, "outcome": e.outcome, "loaded": e.loaded}
        for e in events
        if isinstance(e, CheckedIn)
    ]


def final_state_facts(evidence: Evidence, checkpoint: Candidate | None) -> dict[str, Any]:
    """The checkpoint and the reached step, null if there are none; `final_step` is the planned
    one.
    """
    final = evidence.get(FinalStep)
    steps = [reached_step(evidence), checkpoint.step if checkpoint else None]
    return {
        "final_checkpoint": checkpoint.path if checkpoint else None,
        "final_checkpoint_temporary": checkpoint.temporary if checkpoint else None,
        "reached_step": max((step for step in steps if step is not None), default=None),
        "final_step": final.value if isinstance(final, FinalStep) else None,
        "final_metrics": _final_metrics(evidence),
    }


def _final_metrics(evidence: Evidence) -> dict[str, float]:
    """Empty where a rollback gave up the newest row, or the newest instance has not come so far."""
    metrics, history = evidence.get(Metrics), evidence.get(History)
    if not isinstance(metrics, Metrics):
        return {}
    is_given_up = isinstance(history, History) and history.has_given_up(metrics)
    is_beyond = (reached_step(evidence) or 0) < metrics.step
    return {} if is_given_up or is_beyond else dict(metrics.last or {})


def _checkpoint(evidence: Evidence, sealing: Sealing) -> Candidate | None:
    """The milestone's checkpoint; otherwise the complete permanent one of the final step, or else
    the newest complete one.
    """
    if sealing.kind is SealKind.MILESTONE:
        milestone = evidence.get(MilestoneCheckpoint)
        return milestone.candidate if isinstance(milestone, MilestoneCheckpoint) else None
    checkpoints, final = evidence.get(Checkpoints), evidence.get(FinalStep)
    if not isinstance(checkpoints, Checkpoints):
        return None
    final_step = final.value if isinstance(final, FinalStep) else None
    good = (
        c for c in checkpoints.candidates if c.step == final_step and c.complete and not c.temporary
    )
    return next(good, checkpoints.newest)


def _manifest(run: Run, checkpoint: Candidate | None) -> Manifest | None:
    if checkpoint is None:
        return None
    try:
        return sealed_content(run, checkpoint.path)
    except OSError as error:
        raise CouldNotLook(
            sentence(
                f"Nothing was tagged: {checkpoint.path} could not be read: {describe_error(error)}"
            )
        ) from None


def _open_alerts(evidence: Evidence, sealing: Sealing) -> list[str]:
    """The open alerts that the seal of an abandoned run states; there they do not block."""
    assessment = evidence.get(HealthAssessment)
    if sealing.kind is SealKind.FINAL or not isinstance(assessment, HealthAssessment):
        return []
    return [f"{which}: {message}" for which, message in (*assessment.alerts, *assessment.unseen)]


def _as_read(document: dict[str, Any]) -> dict[str, Any]:
    """The document as readers of the tag see it: secrets masked, in JSON's types."""
    return dict(json.loads(canonical(scrub_tree(document))))
