"""The tables that enter the plan: what runs, on what, and where its results go."""

import re
from enum import StrEnum
from typing import Annotated, Literal

from herorun.core.contract.values import (
    KIND,
    CommandLine,
    Duration,
    Name,
    OpenTable,
    Pinned,
    Remote,
    Table,
    Text,
    Variable,
    Whole,
)
from herorun.core.lazy_pydantic import AfterValidator, Field


class Command(Table):
    """The command to run."""

    argv: CommandLine = Field(min_length=1, description="The exact command line, as a list.")
    resume_argv: CommandLine = Field(
        (),
        description=(
            "The whole command line of a launch that starts from a checkpoint; `{start}` is "
            "replaced by its path. Without it, the script must load the path in `HERORUN_START`."
        ),
    )
    cwd: str = Field(".", description="Working directory, relative to the repository root.")
    env: dict[Variable, Text] = Field({}, description="Plain environment values. Never secrets.")
    secrets: tuple[Name, ...] = Field(
        (),
        description="Names of environment variables that hold secrets: the job gets the values, "
        "the plan only the names.",
    )


class Impact(StrEnum):
    IGNORE = "ignore"
    NOTICE = "notice"
    BLOCK = "block"


class Code(Table):
    """Where the code is published, and which files can change the training."""

    remote: Remote = Field("origin", description="The git remote that counts as published.")
    refs: tuple[Name, ...] = Field(
        ("refs/heads/*",), description="Refs of the remote that count as published."
    )
    impact: dict[str, Impact] = Field(
        {},
        description=(
            "Globs as in .gitignore; the first match decides, and these come before the built-in "
            "ones."
        ),
    )
    in_place: bool = Field(
        False, description="Run from the checkout itself, not from an exported copy of the commit."
    )
    snapshot_max_mb: Whole = Field(
        50, gt=0, description="Megabytes that the snapshot of an approved dirty tree may hold."
    )


class KeyClass(StrEnum):
    """What a changed key of the config means for the run."""

    TRAJECTORY = "trajectory"  # it trains otherwise from here on: another run
    RESUME_BREAKING = "resume-breaking"  # the state of the earlier instance does not fit it
    OPERATIONAL = "operational"  # it runs otherwise and trains the same
    COSMETIC = "cosmetic"  # it is only shown otherwise
    VOLATILE = "volatile"  # it differs from launch to launch by nature


class Config(Table):
    """The resolved training configuration."""

    files: tuple[Name, ...] = Field((), description="TOML, JSON or YAML files, later ones win.")
    command: tuple[Name, ...] = Field(
        (), description="A command that prints the resolved config as JSON."
    )
    volatile: tuple[Name, ...] = Field(
        (),
        description=(
            "Globs of keys that differ from launch to launch by nature; they do not enter the plan."
        ),
    )
    classes: dict[str, KeyClass] = Field(
        {},
        description=("The class of a config key, by glob; the first match wins."),
    )
    batch_size: Name | None = Field(
        None, description="Key of the config that holds the global batch size, in sequences."
    )
    sequence_length: Name | None = Field(
        None, description="Key of the config that holds the tokens of one sequence."
    )
    horizon: Name | None = Field(
        None,
        description="Key of the config that holds the total steps of the learning-rate schedule.",
    )


def _check_identity(value: str) -> str:
    if not re.fullmatch(r"sha256:[0-9a-f]{64}|generation:.+", value):
        raise ValueError(
            'is not an identity: write "sha256:" and 64 hex digits, or "generation:" and the '
            "generation that the store reports"
        )
    return value


class Data(Table):
    """The data's identity."""

    manifests: dict[Name, Annotated[str, AfterValidator(_check_identity)]] = Field(
        {},
        description=(
            "Maps a manifest's path or URL to its digest (sha256:...) or store generation "
            "(generation:...)."
        ),
    )
    order: Literal["deterministic", "unknown"] = Field(
        "unknown",
        description=(
            "deterministic: each step sees the same data in every instance, so after a resume the "
            "losses of one step must agree to 0.002. unknown: they must agree within the noise of "
            "the run's own rows."
        ),
    )


class OutputTable(Table):
    """Where checkpoints go. Write full paths: variables and templates are not expanded."""

    root: Pinned = Field(description="Absolute path or URL of the permanent output root.")
    temporary_root: Pinned | None = Field(
        None, description="Root of rolling temporary checkpoints, if it is not `root`."
    )


class CheckpointsTable(Table):
    """Retention: a hero run must state all three of permanent_every, temporary_every and keep."""

    layout: str = Field(
        "levanter", pattern=KIND, description="How the trainer lays out its checkpoints."
    )
    permanent_every: Whole | None = Field(
        None, gt=0, description="Steps between checkpoints that are kept."
    )
    temporary_every: Duration | None = Field(None, description="Time between rolling checkpoints.")
    keep: Whole | None = Field(
        None, gt=0, description="How many previous checkpoints are kept for rollback."
    )
    milestones: tuple[Whole, ...] = Field(
        (), description="Steps whose checkpoints are never deleted."
    )


class StartTable(Table):
    """The checkpoint that the run starts from."""

    from_: Pinned | None = Field(None, alias="from", description="Path or URL of the checkpoint.")
    kind: Literal["full-state", "weights-only"] = Field(
        "full-state",
        description="full-state: weights, optimizer, step and data position; weights-only: the "
        "weights.",
    )
    source_run: str | None = Field(None, description="Slug of the run that wrote the checkpoint.")
    rejected: tuple[Name, ...] = Field(
        (),
        description="Path prefixes: a checkpoint below one of them is never chosen.",
    )
    reason: str | None = Field(None, description="Why this checkpoint, if it is not the newest.")


class TrackerTable(OpenTable):
    """What the run reports, and under which identity."""

    kind: str = Field("jsonl", pattern=KIND, description="Which tracker.")
    entity: str | None = Field(None, description="The account that the run reports to.")
    project: str | None = Field(None, description="The project that the run reports to.")
    id: str | None = Field(None, description="Run id; by default the slug.")
    name: str | None = Field(None, description="Display name; by default the id.")
    resume: Literal["allow", "must", "never", "auto"] = Field(
        "allow", description="What the tracker does with an id that exists already."
    )
    metrics: dict[str, str] = Field(
        {},
        description="Maps herorun's name of a metric (loss, step, grad_norm, ...) to the "
        "tracker's.",
    )
    first_step: Literal[0, 1] = Field(
        0, description="The step number that the first update is logged under."
    )


class SchedulerTable(OpenTable):
    """Where the run's jobs run."""

    kind: str = Field("local", pattern=KIND, description="Which scheduler.")
    restarts: Literal["herorun", "backend"] = Field(
        "herorun", description="Who restarts a job that ended."
    )


class Hardware(Table):
    """What the run's jobs run on."""

    accelerator: str | None = Field(
        None, description="Kind of accelerator, as its cluster calls it."
    )
    count: Whole | None = Field(None, gt=0, description="How many accelerators.")
    topology: str | None = Field(
        None, description="How the accelerators are connected, as the cluster calls it."
    )
    region: str | None = Field(None, description="Where the accelerators are.")


class Runtime(Table):
    """Runtime identity, if it differs from the git commit."""

    container: str | None = Field(None, description="Image by digest.")
    packages: tuple[Name, ...] = Field((), description="PEP 508 requirements.")
    bundle: str | None = Field(
        None,
        description="Archive of the source that runs, as a path or URL "
        '(.tar, .tar.gz, .tgz, .zip); or "tree:" and the digest that preflight prints as '
        "`code_tree`: `tree:sha256:...`.",
    )
