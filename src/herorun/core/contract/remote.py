"""The contract's tables of a remote machine: what a patrol inspects, and the chain."""

from datetime import timedelta
from typing import ClassVar, Self

from pydantic import Field, model_validator

from herorun.core.contract.values import Argument, BoxPath, Cadence, Duration, Pattern, Table


class PatrolTable(Table):
    """What `herorun box patrol` looks at, beyond the job itself, on the machine where it runs."""

    RENAMED: ClassVar = {
        "done_words": "success_pattern",
        "gpu_seconds": "gpu_sample_seconds",
        "memory": "memory_fraction",
        "resume": "resume_command",
        "slurm": "slurm_job",
    }

    session: str | None = Field(
        None,
        pattern=r"^[A-Za-z0-9_-]+$",
        description="tmux session of a job that herorun did not start, by its whole name.",
    )
    socket: str = Field(
        "",
        pattern=r"^[A-Za-z0-9_-]*$",
        description="Name of that tmux server's socket (`tmux -L`).",
    )
    process: Pattern | None = Field(
        None,
        description=(
            "Regular expression on the command line of the job's process, where there is no "
            "session."
        ),
    )
    slurm_job: str | None = Field(
        None,
        pattern=r"^[0-9]+(_[0-9]+)?$",
        description="Slurm job id, where herorun did not submit it.",
    )
    log: BoxPath | None = Field(
        None,
        description=(
            "The run's own log, never a shared one; the scheduler's log of the job where absent."
        ),
    )
    progress: Pattern | None = Field(
        None,
        description=(
            "Regular expression of a progress line; its first group is the step. Steps and epochs "
            "otherwise."
        ),
    )
    success_pattern: Pattern | None = Field(
        None,
        description=(
            "Regular expression of the log's line that is printed at success, and never before."
        ),
    )
    markers: tuple[BoxPath, ...] = Field(
        (), description="Files that appear at success, and never before."
    )
    results: tuple[BoxPath, ...] = Field(
        (), description="Small text files whose content is the result."
    )
    copies: dict[BoxPath, Argument] = Field(
        {},
        description=(
            "Folder there to the local folder, relative to the repository root, that it is a copy "
            "of."
        ),
    )
    disks: tuple[BoxPath, ...] = Field((), description="Further paths whose disks must have room.")
    memory_fraction: float = Field(
        0.9, gt=0, le=1, description="Share of the memory limit beyond which it is a risk."
    )
    gpu_sample_seconds: float = Field(
        4.0,
        ge=0,
        le=15,
        description="Seconds over which the use of the GPUs is sampled; 0: not at all.",
    )
    resume_command: Argument | None = Field(
        None, description="The exact command that resumes the job; `herorun relaunch` where absent."
    )


class ChainStage(Table):
    """One step of the chain."""

    name: str = Field(
        pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,47}$",
        description="It names the marker `<folder>/<name>.DONE`.",
    )
    run: Argument = Field(
        description="Words of bash; any of its commands that fails ends the stage."
    )


class ChainTable(Table):
    """What the box does by itself once the training is done: `herorun box chain` writes the script."""

    RENAMED: ClassVar = {"after_words": "after_pattern", "push": "notify_command"}

    folder: BoxPath | None = Field(
        None,
        description=(
            "Folder there for the script, its log and its markers, on a disk that outlives a "
            "restart."
        ),
    )
    cwd: BoxPath | None = Field(
        None, description="Folder there in which the stages run; their own where absent."
    )
    after: BoxPath | None = Field(None, description="Marker file that must be there first.")
    after_pattern: Pattern | None = Field(
        None,
        description=(
            "Extended regular expression (`grep -E`) that must stand in `[patrol] log` first."
        ),
    )
    wait_at_most: Duration = Field(
        timedelta(days=7), description="Beyond it the chain gives up waiting, says so and ends."
    )
    every: Cadence = Field(
        timedelta(seconds=150), description="Time between two looks while it waits."
    )
    stage: tuple[ChainStage, ...] = Field(
        (), description="In their order; each begins only when the one before is done."
    )
    notify_command: Argument | None = Field(
        None,
        description=(
            "Words of bash that tell somebody at the end, be it good or bad: `$HERORUN_SAYS` is "
            "what happened."
        ),
    )

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        names = [stage.name for stage in self.stage]
        if len(set(names)) < len(names):
            raise ValueError("two stages have the same name, and would share a marker")
        if names and self.folder is None:
            raise ValueError("its stages need a `folder`, for their markers")
        return self

    def marker(self, stage: ChainStage) -> str:
        return f"{self.folder}/{stage.name}.DONE"
