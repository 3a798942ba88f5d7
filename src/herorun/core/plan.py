"""The plan: everything that identifies a launch, each value with its source.

The digest covers the values alone. Tracker state, free disk, the lease and the instance number are evidence,
never plan: they change while the plan stands.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from herorun.core.canonical import canonical, digest, plain
from herorun.core.config.diff import without_volatile
from herorun.core.config.final_step import resolve_final_step
from herorun.core.config.known_keys import look_up as look_up
from herorun.core.contract import Contract
from herorun.core.evidence import (
    Candidate,
    Checkpoints,
    History,
    Nothing,
    Snapshot,
    Sourced,
    StartSiblings,
    WorkTree,
)
from herorun.core.finding import few
from herorun.core.lineage import acceptable, decided_on

PLAN_SCHEMA = 1
CLEAN = Nothing("the commit is run as it is")


@dataclass(frozen=True)
class Patch:
    """The identity of an approved dirty tree: the commit that holds it, and what it can be known by."""

    commit: str
    tree: str
    diff: str  # digest of the canonical binary diff against the plan's commit

    def __str__(self) -> str:
        return f"tree:{self.tree} diff:{self.diff}"


def snapshot_ref(slug: str, tree: str) -> str:
    """Where an approved dirty tree is kept, here and on the remote."""
    return f"refs/herorun/snapshots/{slug}/{tree}"


@dataclass(frozen=True)
class StartPoint:
    """The checkpoint that the trainer is told to load."""

    path: str
    step: int | None
    kind: str = "full-state"


@dataclass(frozen=True)
class TrackerRun:
    """The identity under which the run reports."""

    kind: str
    id: str
    name: str
    entity: str | None
    project: str | None
    resume: str
    first_step: int
    options: Mapping[str, Any]


@dataclass(frozen=True)
class Retention:
    layout: str
    permanent_every: int | None  # steps
    temporary_every: float | None  # seconds
    keep: int | None
    milestones: tuple[int, ...] = ()

    def __str__(self) -> str:
        permanent = f"every {self.permanent_every} steps" if self.permanent_every else "the final one only"
        temporary = f"every {self.temporary_every:g} s" if self.temporary_every else "rolling"
        keep = f"keep {self.keep}" if self.keep else "keep the newest"
        return f"permanent {permanent}, temporary {temporary}, {keep}"


@dataclass(frozen=True)
class Plan:
    """Every value that decides what will run, where, from what, and under which name."""

    argv: Sourced[tuple[str, ...]]
    resume_argv: Sourced[tuple[str, ...]]
    cwd: Sourced[str]
    env: Sourced[Mapping[str, str]]
    secrets: Sourced[tuple[str, ...]]
    commit: Sourced[str]
    code_tree: Sourced[str]  # digest of the commit's file list, without the contract file
    patch: Sourced[Patch | None]
    in_place: Sourced[bool]
    bundle: Sourced[str | None]
    container: Sourced[str | None]
    packages: Sourced[tuple[str, ...]]
    data: Sourced[Mapping[str, str]]
    hardware: Sourced[Mapping[str, Any]]
    output_root: Sourced[str]
    temporary_root: Sourced[str | None]
    start: Sourced[StartPoint | None]
    final_step: Sourced[int | None]
    tracker: Sourced[TrackerRun]
    scheduler: Sourced[Mapping[str, Any]]
    retention: Sourced[Retention]
    config: Sourced[Mapping[str, Any]]

    @property
    def values(self) -> dict[str, Any]:
        return {field.name: plain(getattr(self, field.name).value) for field in fields(self)}

    @property
    def digest(self) -> str:
        return digest({"schema": PLAN_SCHEMA, **self.values})

    @property
    def code_commit(self) -> str:
        """The commit that is exported and run: that of the approved snapshot where there is one."""
        return self.patch.value.commit if self.patch.value else self.commit.value

    @property
    def roots(self) -> tuple[str, ...]:
        """The output roots, permanent first."""
        temporary = self.temporary_root.value
        return (self.output_root.value, *([temporary] if temporary else []))

    @property
    def command_line(self) -> tuple[str, ...]:
        """The argv that is run: `resume_argv` with `{start}` filled in where there is a start checkpoint."""
        start = self.start.value
        if start is None or not self.resume_argv.value:
            return self.argv.value
        return tuple(part.replace("{start}", start.path) for part in self.resume_argv.value)

    def started_from(self, checkpoint: Candidate, source: str) -> "Plan":
        """The same plan with another start checkpoint: what a relaunch runs."""
        point = StartPoint(checkpoint.path, checkpoint.step)
        return replace(self, start=Sourced(point, source))


def moved(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[str, ...]:
    """What differs between two plans' values, one line a value, in words."""
    return tuple(
        f"{name}: {_words(old)} -> {_words(new)}" for name, old, new in _different(before, after, "")
    )


def _different(
    before: Mapping[str, Any], after: Mapping[str, Any], at: str
) -> Iterator[tuple[str, Any, Any]]:
    for name in sorted(before.keys() | after.keys()):
        old, new = before.get(name, _ABSENT), after.get(name, _ABSENT)
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            yield from _different(old, new, f"{at}{name}.")
        elif type(old) is not type(new) or old != new:  # true is not 1
            yield f"{at}{name}", old, new


_ABSENT = object()


def _words(value: Any) -> str:
    match value:
        case None:
            return "none"
        case str():
            return value or "(empty)"
        case Mapping():
            return ", ".join(f"{key} {_words(item)}" for key, item in value.items()) or "none"
        case list() | tuple():
            return f"[{', '.join(_words(item) for item in value)}]"
    return "absent" if value is _ABSENT else canonical(value)


@dataclass(frozen=True)
class Sources:
    """The commit's own content, as the plan needs it: digests and the resolved config."""

    code_tree: str
    config: Mapping[str, Any]
    config_source: str
    contract_path: str  # relative to the repository's top


def make_plan(
    contract: Contract,
    tree: WorkTree,
    sources: Sources,
    checkpoints: Checkpoints,
    siblings: StartSiblings,
    history: History,
    snapshot: Snapshot | Nothing = CLEAN,
) -> Plan:
    said = sources.contract_path
    command, runtime = contract.command, contract.runtime
    return Plan(
        argv=Sourced(command.argv, said),
        resume_argv=Sourced(command.resume_argv, said),
        cwd=Sourced(command.cwd, said),
        env=Sourced(command.env, said),
        secrets=Sourced(command.secrets, said),
        commit=Sourced(tree.commit, "HEAD"),
        code_tree=Sourced(sources.code_tree, "the commit's file list"),
        patch=_patch(snapshot, said),
        in_place=Sourced(contract.code.in_place, said),
        bundle=Sourced(runtime.bundle, said),
        container=Sourced(runtime.container, said),
        packages=Sourced(runtime.packages, said),
        data=Sourced(contract.data.manifests, said),
        hardware=Sourced(contract.hardware.model_dump(exclude_none=True), said),
        output_root=Sourced(contract.output.root.rstrip("/"), said),
        temporary_root=Sourced(_unslashed(contract.output.temporary_root), said),
        start=choose_start(contract, said, checkpoints, siblings, history),
        final_step=final_step(contract, sources),
        tracker=_tracker(contract, said),
        scheduler=Sourced(
            {
                "kind": contract.scheduler.kind,
                "restarts": contract.scheduler.restarts,
                **contract.scheduler.options,
            },
            said,
        ),
        retention=_retention(contract, said),
        config=_config(contract, sources),
    )


def _patch(snapshot: Snapshot | Nothing, said: str) -> Sourced[Patch | None]:
    if isinstance(snapshot, Nothing):
        return Sourced(None, said)
    return Sourced(
        Patch(snapshot.commit, snapshot.tree, snapshot.diff), "the approved edits of the work tree"
    )


def choose_start(
    contract: Contract, said: str, checkpoints: Checkpoints, siblings: StartSiblings, history: History
) -> Sourced[StartPoint | None]:
    """What a run with a past goes on from; else what the contract names; else none.

    That is its newest complete checkpoint that nothing speaks against, or the one of its own that the contract names
    with a reason. None is ever chosen that is rejected, foreign or tainted.
    """
    own = own_start(contract, said, checkpoints, history) if history.instances else None
    if own:
        return own
    named = contract.start.from_
    if named is None:
        return Sourced(None, "from scratch: the contract names no start")
    found = Checkpoints(siblings.candidates).at(named)
    step = found.step if found else None
    return Sourced(StartPoint(named.rstrip("/"), step, contract.start.kind), said)


def own_start(
    contract: Contract, said: str, checkpoints: Checkpoints, history: History
) -> Sourced[StartPoint | None] | None:
    """The start among the run's own checkpoints; None where there is none to choose."""
    person = decided_on(contract, checkpoints.candidates)
    if person:
        return Sourced(StartPoint(person.path, person.step, contract.start.kind), said)
    own = acceptable(checkpoints.candidates, contract, history).newest
    return Sourced(StartPoint(own.path, own.step), "newest complete checkpoint of this run") if own else None


def final_step(contract: Contract, sources: Sources) -> Sourced[int | None]:
    """From the contract, or inferred from the config; never from display text."""
    return resolve_final_step(contract, sources.config, sources.config_source, sources.contract_path)


def _config(contract: Contract, sources: Sources) -> Sourced[Mapping[str, Any]]:
    """Without the keys that differ from launch to launch: two plans of one launch are one plan."""
    kept, volatile = without_volatile(sources.config, contract.config)
    left_out = f", without its volatile keys {few(volatile, 5)}" if volatile else ""
    return Sourced(kept, sources.config_source + left_out)


def _tracker(contract: Contract, said: str) -> Sourced[TrackerRun]:
    told = contract.tracker
    identity = told.id or contract.slug
    run = TrackerRun(
        kind=told.kind,
        id=identity,
        name=told.name or identity,
        entity=told.entity,
        project=told.project,
        resume=told.resume,
        first_step=told.first_step,
        options=told.options,
    )
    return Sourced(run, said if told.id else "the slug", inferred=told.id is None)


def _retention(contract: Contract, said: str) -> Sourced[Retention]:
    told = contract.checkpoints
    every = told.temporary_every.total_seconds() if told.temporary_every else None
    stated = {"permanent_every", "temporary_every", "keep"} & told.model_fields_set
    return Sourced(
        Retention(told.layout, told.permanent_every, every, told.keep, told.milestones),
        said if stated else "the default of an ordinary run",
        inferred=not stated,
    )


def _unslashed(path: str | None) -> str | None:
    return path.rstrip("/") if path else None
