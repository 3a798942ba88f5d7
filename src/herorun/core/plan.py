"""The plan: everything that identifies a launch, each value with its source.

The digest covers the values alone. Tracker state, free disk, the lease and the instance number are evidence,
never plan: they change while the plan stands.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from herorun.core.canonical import digest, plain
from herorun.core.contract import Contract
from herorun.core.evidence import Candidate, Checkpoints, History, Sourced, StartSiblings, WorkTree

PLAN_SCHEMA = 1


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
    patch: Sourced[str | None]
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
    """What differs between two plans' values, one line a field."""
    return tuple(
        f"{name}: {before.get(name)!r} -> {after.get(name)!r}"
        for name in sorted(before.keys() | after.keys())
        if before.get(name) != after.get(name)
    )


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
        patch=Sourced(None, said),
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
        config=Sourced(sources.config, sources.config_source),
    )


def choose_start(
    contract: Contract, said: str, checkpoints: Checkpoints, siblings: StartSiblings, history: History
) -> Sourced[StartPoint | None]:
    """The run's own newest complete checkpoint if it has run before; else what the contract names; else none."""
    own = _accepted(contract, checkpoints).newest if history.instances else None
    if own:
        return Sourced(StartPoint(own.path, own.step), "newest complete checkpoint of this run")
    named = contract.start.from_
    if named is None:
        return Sourced(None, "from scratch: the contract names no start")
    found = Checkpoints(siblings.candidates).at(named)
    step = found.step if found else None
    return Sourced(StartPoint(named.rstrip("/"), step, contract.start.kind), said)


def _accepted(contract: Contract, checkpoints: Checkpoints) -> Checkpoints:
    return Checkpoints(
        tuple(c for c in checkpoints.candidates if not is_rejected(c.path, contract.start.rejected))
    )


def is_rejected(path: str, rejected: tuple[str, ...]) -> bool:
    """Whether a path is, or lies under, one of the rejected lineages."""
    return any(path == r.rstrip("/") or path.startswith(r.rstrip("/") + "/") for r in rejected)


def final_step(contract: Contract, sources: Sources) -> Sourced[int | None]:
    """From the contract, as an integer or a key of the resolved config; never from display text."""
    wanted = contract.final_step
    if wanted is None:
        return Sourced(None, "the contract states no final_step")
    if isinstance(wanted, int):
        return Sourced(wanted, sources.contract_path)
    value = look_up(sources.config, wanted)
    if isinstance(value, bool) or not isinstance(value, int):
        return Sourced(
            None, f"{wanted} is {'missing' if value is None else repr(value)} in {sources.config_source}"
        )
    return Sourced(value, f"{wanted} in {sources.config_source}")


def look_up(config: Mapping[str, Any], key: str) -> Any:
    """`trainer.num_train_steps` in nested tables, or as a flat key; None where it is absent."""
    if key in config:
        return config[key]
    value: Any = config
    for part in key.split("."):
        if not isinstance(value, Mapping) or part not in value:
            return None
        value = value[part]
    return value


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
