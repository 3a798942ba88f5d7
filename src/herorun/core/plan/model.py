"""The plan itself."""

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from herorun.core.canonical_json import digest, plain
from herorun.core.evidence import Candidate, Sourced
from herorun.core.lazy_dataclass import dataclass
from herorun.core.plan.values import Patch, Retention, StartPoint, TrackerRun

PLAN_SCHEMA = 1


def argv_to_run(
    argv: Sequence[str], resume_argv: Sequence[str], start: str | None
) -> tuple[str, ...]:
    """`resume_argv` with the path of the start checkpoint, where there are both; otherwise `argv`.

    >>> argv_to_run(["train"], ["train", "--from={start}"], "/data/step-2")
    ('train', '--from=/data/step-2')
    """
    if start is None or not resume_argv:
        return tuple(argv)
    return tuple(part.replace("{start}", start) for part in resume_argv)


@dataclass(frozen=True, kw_only=True)
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
        """The argv that is run: `resume_argv` with `{start}` filled in where there is a start
        checkpoint.
        """
        start = self.start.value
        return argv_to_run(self.argv.value, self.resume_argv.value, start.path if start else None)

    def started_from(self, checkpoint: Candidate, source: str) -> "Plan":
        """The same plan with another start checkpoint: what a relaunch runs."""
        point = StartPoint(checkpoint.path, checkpoint.step)
        return replace(self, start=Sourced(point, source))
