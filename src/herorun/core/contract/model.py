"""The contract: all its tables together."""

from typing import Annotated, Any, Literal

from herorun.core.contract.babysit import BabysitTable, Budget, Phase
from herorun.core.contract.notify import Issue, Logbook, Notify
from herorun.core.contract.plan_tables import (
    CheckpointsTable,
    Code,
    Command,
    Config,
    Data,
    Hardware,
    OutputTable,
    Runtime,
    SchedulerTable,
    StartTable,
    TrackerTable,
)
from herorun.core.contract.policy import CompareTable, PolicyTable, SealTable, WaiverTable
from herorun.core.contract.remote import ChainTable, PatrolTable
from herorun.core.contract.values import SLUG, Table, Whole
from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_pydantic import AfterValidator, Field

HERO_FLOPS = 1e22  # the seed's rule of thumb for a hero run, in model FLOPs


def _specifier(value: str) -> str:
    from herorun.core.requirements import specifier_problem

    if not value.strip():
        raise ValueError("is blank: omit it to allow every version")
    if why := specifier_problem(value):
        raise ValueError(f'{why}: write a PEP 440 version specifier, such as "~=0.4"')
    return value


class Contract(Table):
    """The contract of a run. A wrong value raises pydantic's
    `ValidationError`, a ValueError.
    """

    schema_: Literal[1] = Field(1, alias="schema", description="Version of this file's form.")
    slug: str = Field(
        pattern=f"^{SLUG.pattern}$",
        description="The run's short name: a-z, 0-9 and -, at most 48 characters.",
    )
    goal: str = Field("", description="What the run is for.")
    herorun: Annotated[str, AfterValidator(_specifier)] | None = Field(
        None,
        description=(
            "Versions of herorun that may evaluate the run, as a PEP 440 specifier; by default "
            "every version."
        ),
    )
    dri: str | None = Field(
        None,
        min_length=1,
        description="Directly responsible individual; by default the launching user.",
    )
    stop_when: str = Field("", description="The conditions for stopping or escalating, as text.")
    final_step: Whole | str | None = Field(
        None,
        description="The step at the end, in completed updates: an integer, or a key of the "
        "resolved config.",
    )
    flops: float | None = Field(None, gt=0, description="Model FLOPs of the whole run.")
    params: float | None = Field(None, gt=0, description="Parameters of the model.")
    tokens: float | None = Field(
        None,
        gt=0,
        description="Training tokens. Without `flops`, the FLOPs are 6 x `params` x `tokens`.",
    )
    hero: bool | None = Field(
        None,
        description="States that the run is, or is not, a hero run; by default its FLOPs decide.",
    )
    command: Command
    code: Code = Code.model_construct()
    config: Config = Config.model_construct()
    data: Data = Data.model_construct()
    output: OutputTable
    checkpoints: CheckpointsTable = CheckpointsTable.model_construct()
    start: StartTable = StartTable.model_construct()
    tracker: TrackerTable = TrackerTable.model_construct()
    scheduler: SchedulerTable = SchedulerTable.model_construct()
    hardware: Hardware = Hardware.model_construct()
    runtime: Runtime = Runtime.model_construct()
    babysit: BabysitTable = BabysitTable.model_construct()
    budget: Budget = Budget.model_construct()
    phase: tuple[Phase, ...] = ()
    issue: Issue = Issue.model_construct()
    logbook: Logbook = Logbook.model_construct()
    notify: Notify = Notify.model_construct()
    compare: CompareTable = CompareTable.model_construct()
    patrol: PatrolTable = PatrolTable.model_construct()
    chain: ChainTable = ChainTable.model_construct()
    policy: PolicyTable = PolicyTable.model_construct()
    seal: SealTable = SealTable.model_construct()
    waiver: tuple[WaiverTable, ...] = ()

    @property
    def model_flops(self) -> float | None:
        """Stated, or 6 x parameters x tokens."""
        if self.flops is None and self.params and self.tokens:
            return 6 * self.params * self.tokens
        return self.flops

    @property
    def is_hero(self) -> bool:
        """As `hero` of the contract says; without it, from 1e22 model FLOPs on."""
        if self.hero is not None:
            return self.hero
        return (self.model_flops or 0) >= HERO_FLOPS

    @property
    def record_branch(self) -> str:
        return self.logbook.branch or f"herorun/{self.slug}"

    @property
    def record_ref(self) -> str:
        """The local ref that holds the record: the truth."""
        return f"refs/herorun/record/{self.slug}"

    @property
    def record_remote(self) -> str:
        return self.logbook.remote or self.code.remote

    @property
    def path(self) -> str:
        """Where the file lives, relative to the repository root."""
        return f"runs/{self.slug}.toml"

    def data_for_toml(self) -> dict[str, Any]:
        """The keys that were set, in the file's own words."""
        data: dict[str, Any] = self.model_dump(
            mode="json", by_alias=True, exclude_none=True, exclude_unset=True
        )
        return data


@dataclass(frozen=True)
class ContractFile:
    """Where the contract was read, relative to the repository's top, its text, and what HEAD holds
    there.
    """

    path: str
    text: str
    committed: str | None = None  # None: HEAD has no such file

    @property
    def is_reviewable(self) -> bool:
        """Whether people can have reviewed it: what is read is what is committed."""
        return self.committed == self.text


PLAN_TABLES = frozenset(
    {
        "command",
        "code",
        "config",
        "data",
        "output",
        "checkpoints",
        "start",
        "tracker",
        "scheduler",
        "hardware",
        "runtime",
    }
)


def plan_part(contract: Contract) -> dict[str, Any]:
    """The tables that enter the plan: what a babysitter may not let change under a running job."""
    return contract.model_dump(mode="json", include=set(PLAN_TABLES) | {"final_step"})
