"""The plan, made of the contract and of what was read. Pure."""

from collections.abc import Mapping
from typing import Any

from herorun.core.config.diff import without_volatile
from herorun.core.config.final_step import resolve_final_step
from herorun.core.contract import Contract
from herorun.core.environment import SHELL
from herorun.core.evidence import (
    BundleContent,
    Checkpoints,
    Environment,
    History,
    Nothing,
    Snapshot,
    Sourced,
    StartSiblings,
    Unavailable,
    WorkTree,
)
from herorun.core.finding import few
from herorun.core.lazy_dataclass import dataclass
from herorun.core.lineage import acceptable, decided_on
from herorun.core.plan.model import Plan
from herorun.core.plan.values import Patch, Retention, StartPoint, TrackerRun

CLEAN = Nothing("the commit is run as it is")
EMPTY = Environment()
NO_BUNDLE = Nothing("no bundle was read")


@dataclass(frozen=True)
class Sources:
    """The commit's own content, as the plan needs it: digests and the resolved config."""

    code_tree: str
    config: Mapping[str, Any]
    config_source: str
    contract_path: str  # relative to the repository's top


def make_plan(
    *,
    contract: Contract,
    tree: WorkTree,
    sources: Sources,
    checkpoints: Checkpoints,
    siblings: StartSiblings,
    history: History,
    snapshot: Snapshot | Nothing = CLEAN,
    environment: Environment = EMPTY,
    bundle: BundleContent | Nothing | Unavailable = NO_BUNDLE,
) -> Plan:
    contract_path = sources.contract_path
    command, runtime = contract.command, contract.runtime
    return Plan(
        argv=Sourced(command.argv, contract_path),
        resume_argv=Sourced(command.resume_argv, contract_path),
        cwd=Sourced(command.cwd, contract_path),
        env=Sourced({**environment.values, **command.env}, f"{contract_path}, and {SHELL}"),
        secrets=Sourced(command.secrets, contract_path),
        commit=Sourced(tree.commit, "HEAD"),
        code_tree=Sourced(sources.code_tree, "the commit's file list"),
        patch=_patch(snapshot, contract_path),
        in_place=Sourced(contract.code.in_place, contract_path),
        bundle=_bundle(bundle, runtime.bundle, contract_path),
        container=Sourced(runtime.container, contract_path),
        packages=Sourced(runtime.packages, contract_path),
        data=Sourced(contract.data.manifests, contract_path),
        hardware=Sourced(contract.hardware.model_dump(exclude_none=True), contract_path),
        output_root=Sourced(contract.output.root.rstrip("/"), contract_path),
        temporary_root=Sourced(_strip_slashes(contract.output.temporary_root), contract_path),
        start=choose_start(contract, contract_path, checkpoints, siblings, history),
        final_step=final_step(contract, sources),
        tracker=_plan_tracker(contract, contract_path),
        scheduler=Sourced(
            {
                "kind": contract.scheduler.kind,
                "restarts": contract.scheduler.restarts,
                **contract.scheduler.options,
            },
            contract_path,
        ),
        retention=_retention(contract, contract_path),
        config=_config(contract, sources),
    )


def _bundle(
    content: BundleContent | Nothing | Unavailable, name: str | None, source: str
) -> Sourced[str | None]:
    """By its content, where that can be read: the same path may hold another one tomorrow."""
    if not isinstance(content, BundleContent):
        return Sourced(name, source)
    return Sourced(content.identity, f"{source}, and its content")


def _patch(snapshot: Snapshot | Nothing, source: str) -> Sourced[Patch | None]:
    if isinstance(snapshot, Nothing):
        return Sourced(None, source)
    return Sourced(
        Patch(snapshot.commit, snapshot.tree, snapshot.diff), "the approved edits of the work tree"
    )


def choose_start(
    contract: Contract,
    source: str,
    checkpoints: Checkpoints,
    siblings: StartSiblings,
    history: History,
) -> Sourced[StartPoint | None]:
    """What a run with a past continues from; otherwise what the contract names; otherwise none.

    That is its newest complete checkpoint that no finding excludes, or the one of its own that
    the contract names with a reason. None is ever chosen that is rejected, foreign or tainted.
    """
    own = own_start(contract, source, checkpoints, history) if history.instances else None
    if own:
        return own
    stated_path = contract.start.from_
    if stated_path is None:
        return Sourced(None, "from scratch: the contract names no start")
    checkpoint = Checkpoints(siblings.candidates).at(stated_path)
    step = checkpoint.step if checkpoint else None
    return Sourced(StartPoint(stated_path.rstrip("/"), step, contract.start.kind), source)


def own_start(
    contract: Contract, source: str, checkpoints: Checkpoints, history: History
) -> Sourced[StartPoint | None] | None:
    """The start among the run's own checkpoints; None where there is none to choose."""
    person = decided_on(contract, checkpoints.candidates)
    if person:
        return Sourced(StartPoint(person.path, person.step, contract.start.kind), source)
    own = acceptable(checkpoints.candidates, contract, history).newest
    return (
        Sourced(StartPoint(own.path, own.step), "newest complete checkpoint of this run")
        if own
        else None
    )


def final_step(contract: Contract, sources: Sources) -> Sourced[int | None]:
    """From the contract, or inferred from the config; never from display text."""
    return resolve_final_step(
        contract, sources.config, sources.config_source, sources.contract_path
    )


def _config(contract: Contract, sources: Sources) -> Sourced[Mapping[str, Any]]:
    """Without the keys that differ from launch to launch: two plans of one launch are one plan."""
    config, volatile = without_volatile(sources.config, contract.config)
    left_out = f", without its volatile keys {few(volatile, 5)}" if volatile else ""
    return Sourced(config, sources.config_source + left_out)


def _plan_tracker(contract: Contract, source: str) -> Sourced[TrackerRun]:
    tracker = contract.tracker
    identity = tracker.id or contract.slug
    run = TrackerRun(
        kind=tracker.kind,
        id=identity,
        name=tracker.name or identity,
        entity=tracker.entity,
        project=tracker.project,
        resume=tracker.resume,
        first_step=tracker.first_step,
        options=tracker.options,
    )
    return Sourced(run, source if tracker.id else "the slug", inferred=tracker.id is None)


def _retention(contract: Contract, source: str) -> Sourced[Retention]:
    checkpoints = contract.checkpoints
    every = checkpoints.temporary_every.total_seconds() if checkpoints.temporary_every else None
    stated_keys = {"permanent_every", "temporary_every", "keep"} & checkpoints.model_fields_set
    return Sourced(
        Retention(
            checkpoints.layout,
            checkpoints.permanent_every,
            every,
            checkpoints.keep,
            checkpoints.milestones,
        ),
        source if stated_keys else "the default of an ordinary run",
        inferred=not stated_keys,
    )


def _strip_slashes(path: str | None) -> str | None:
    return path.rstrip("/") if path else None
