"""The contract's tables of the babysitter: cadence, permitted actions and budgets."""

from datetime import timedelta
from enum import StrEnum
from typing import Annotated, Any, ClassVar, Literal, Self, TypeAlias

from herorun.core.check_names import current_name
from herorun.core.contract.values import Argument, Cadence, Duration, Name, Table, Whole
from herorun.core.lazy_pydantic import AfterValidator, Field, model_validator

# A contract that uses a check's earlier name stays valid.
CheckName: TypeAlias = Annotated[Name, AfterValidator(current_name)]


class Budgets(Table):
    """How often the babysitter may act without asking."""

    relaunches: Whole = Field(
        6,
        ge=0,
        description="Relaunches within `window` for all causes together, without those after a "
        "preemption or a time limit. When they are used up, a person is asked.",
    )
    window: Duration = Field(
        timedelta(hours=24), description="Relaunches that are longer ago do not count."
    )
    infra: Whole = Field(
        6, ge=0, description="Relaunches after a fault of the hardware, network or cluster."
    )
    unknown: Whole = Field(3, ge=0, description="Relaunches after an end that nothing explains.")
    code_bug: Whole = Field(
        1,
        ge=0,
        description="Launches after a person's fix of one bug. herorun makes none; if the same "
        "error comes after that many, its question says so.",
    )
    oom: Whole = Field(0, ge=0, description="Relaunches after running out of memory.")


class Recovery(StrEnum):
    RELAUNCH = "relaunch"
    ASK = "ask"
    OBSERVE = "observe"


class BabysitTable(Table):
    """Who monitors the run, how often, and what herorun may do by itself."""

    RENAMED: ClassVar = {"catalogue": "signatures"}

    cadence: Cadence = Field(
        timedelta(minutes=15), description="Time between two ticks, at least a second."
    )
    owner: str | None = Field(None, description="The user@machine that monitors the run.")
    recovery: Recovery = Field(
        Recovery.RELAUNCH,
        description="What follows a crash: a relaunch, a question to the DRI, or only a "
        "notification.",
    )
    budgets: Budgets = Budgets.model_construct()
    stop_on: tuple[CheckName, ...] = Field(
        (),
        description=("Health checks whose firing alert stops a running job; by default none."),
    )
    tpu_bad_node: Literal["print", "delete"] = Field(
        "print",
        description=(
            "What happens after a bad TPU: herorun prints the commands that replace its machine, "
            "or runs them."
        ),
    )
    tpu_zone: Name | None = Field(
        None, description="The zone of the TPU machines; `delete` needs it."
    )
    signatures: Argument | None = Field(
        None,
        description=(
            "A TOML file of log signatures of your own, relative to the repository root; tested "
            "before the built-in ones."
        ),
    )
    thresholds: dict[CheckName, dict[str, Any]] = Field(
        {}, description="Check name to its thresholds."
    )
    lease: Literal["root", "record"] = Field(
        "root",
        description=("Where the lease is kept: in the output root, or on the record's branch."),
    )
    declined: str | None = Field(
        None,
        min_length=1,
        description="The reason why no babysitter monitors the run. If it is set, `herorun "
        "launch` starts none; for a hero run `no-babysitter` still warns.",
    )

    @model_validator(mode="after")
    def _knows_the_zone(self) -> Self:
        if self.tpu_bad_node == "delete" and self.tpu_zone is None:
            raise ValueError(
                'tpu_bad_node = "delete" needs tpu_zone, the zone that the machines are in'
            )
        return self


class Budget(Table):
    """What the run may cost."""

    accelerator_hours: float | None = Field(
        None, gt=0, description="Beyond it a relaunch becomes a question."
    )
    rate: float | None = Field(None, gt=0, description="Money for one accelerator-hour.")


class Phase(Table):
    """A declared boundary at which curves may change their shape."""

    name: Name = Field(description="What begins here.")
    step: Whole = Field(ge=0, description="The step at which it begins.")
    kind: Literal["warm-up-end", "batch-size", "data-mixture", "learning-rate", "other"] = Field(
        "other", description="What changes."
    )
