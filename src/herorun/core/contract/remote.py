"""The contract's tables of a remote machine: what a patrol inspects, and the chain."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, ClassVar, Self

from herorun.core.contract.values import (
    KIND,
    Argument,
    BoxPath,
    Cadence,
    Duration,
    Pattern,
    Table,
    present_keys,
)
from herorun.core.lazy_pydantic import Field, model_validator


class PatrolTable(Table):
    """What `herorun box patrol` inspects on the job's machine, in addition to the job itself."""

    RENAMED: ClassVar = {
        "done_words": "success_pattern",
        "gpu_seconds": "gpu_sample_seconds",
        "memory": "memory_fraction",
        "resume": "resume_command",
        "slurm": "job",
        "slurm_job": "job",
    }

    session: str | None = Field(
        None,
        pattern=r"^[A-Za-z0-9_-]+$",
        description="tmux session of a job that herorun did not start, by its full name.",
    )
    socket: str = Field(
        "",
        pattern=r"^[A-Za-z0-9_-]*$",
        description="Name of that tmux server's socket (`tmux -L`).",
    )
    process: Pattern | None = Field(
        None,
        description=(
            "Regular expression on the command line of the job's process, if there is no session."
        ),
    )
    job: str | None = Field(
        None,
        pattern=r"^[^\x00\n]+$",
        description="Id of a job that herorun did not submit, in the form of the option `--job`.",
    )
    job_scheduler: str | None = Field(
        None,
        pattern=KIND,
        description="The scheduler of that job, as `--scheduler`; none: that of `[scheduler]`.",
    )
    log: BoxPath | None = Field(
        None,
        description=(
            "The run's own log, never a shared one; by default the scheduler's log of the job."
        ),
    )
    progress: Pattern | None = Field(
        None,
        description=(
            "Regular expression of a progress line; its first group is the step. By default steps "
            "and epochs are recognised."
        ),
    )
    success_pattern: Pattern | None = Field(
        None,
        description=("Regular expression of a line of the log that is printed only at success."),
    )
    markers: tuple[BoxPath, ...] = Field((), description="Files that appear only at success.")
    results: tuple[BoxPath, ...] = Field(
        (), description="Small text files whose content is the result."
    )
    copies: dict[BoxPath, Argument] = Field(
        {},
        description=(
            "Maps a folder on that machine to the local folder that it copies, relative to the "
            "repository root."
        ),
    )
    disks: tuple[BoxPath, ...] = Field(
        (), description="Further paths whose disks must have free space."
    )
    memory_fraction: float = Field(
        0.9, gt=0, le=1, description="Share of the memory limit above which memory use is a risk."
    )
    gpu_sample_seconds: float = Field(
        4.0,
        ge=0,
        le=15,
        description="Seconds over which GPU utilisation is sampled; 0: not at all.",
    )
    resume_command: Argument | None = Field(
        None, description="The exact command that resumes the job; by default `herorun relaunch`."
    )

    @model_validator(mode="before")
    @classmethod
    def _with_present_names(cls, data: Any) -> Any:
        """The earlier names of `job` meant a job of Slurm, whatever submits the run's own."""
        if not isinstance(data, Mapping):
            return data
        is_of_slurm = not data.keys().isdisjoint(("slurm", "slurm_job"))
        table = present_keys(data, cls.RENAMED)
        return {"job_scheduler": "slurm", **table} if is_of_slurm else table


class ChainStage(Table):
    """One step of the chain."""

    name: str = Field(
        pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,47}$",
        description="It names the marker `<folder>/<name>.DONE`.",
    )
    run: Argument = Field(description="Bash commands; the first one that fails ends the stage.")


class ChainTable(Table):
    """What the remote machine does after the training without you, by the script of `herorun box
    chain`.
    """

    RENAMED: ClassVar = {"after_words": "after_pattern", "push": "notify_command"}

    folder: BoxPath | None = Field(
        None,
        description=(
            "Folder on that machine for the script, its log and its markers, on a disk that "
            "survives a restart."
        ),
    )
    cwd: BoxPath | None = Field(
        None, description="Folder on that machine in which the stages run; by default `folder`."
    )
    after: BoxPath | None = Field(None, description="Marker file that must exist first.")
    after_pattern: Pattern | None = Field(
        None,
        description=(
            "Extended regular expression (`grep -E`) that must match in `[patrol] log` first."
        ),
    )
    wait_at_most: Duration = Field(
        timedelta(days=7),
        description="After this time the chain stops waiting, reports it and ends.",
    )
    every: Cadence = Field(
        timedelta(seconds=150), description="Time between two tests while it waits."
    )
    stage: tuple[ChainStage, ...] = Field(
        (), description="In their order; each begins only after the previous one has succeeded."
    )
    notify_command: Argument | None = Field(
        None,
        description=(
            "Bash commands that notify a person at the end, good or bad: `$HERORUN_SAYS` says what "
            "happened."
        ),
    )

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        names = [stage.name for stage in self.stage]
        if len(set(names)) < len(names):
            raise ValueError(
                "two stages have the same name, so they would share a marker file: rename one"
            )
        if names and self.folder is None:
            raise ValueError("needs `folder`, where its stages write their marker files")
        return self

    def marker(self, stage: ChainStage) -> str:
        return f"{self.folder}/{stage.name}.DONE"
