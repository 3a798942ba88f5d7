"""The run contract: what people signed, as `runs/<slug>.toml` or built in Python.

Unknown keys are errors. The tables of adapters (`tracker`, `scheduler`) take further keys, which the adapter's
own `Options` validate; `[babysit.thresholds]` is validated by each check's `Limits`.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    ValidationError,
    WithJsonSchema,
    field_validator,
    model_validator,
)

from herorun.core.compare.gate import parse_gate
from herorun.core.errors import WrongUse
from herorun.core.finding import Waiver as SignedWaiver
from herorun.core.git_names import branch_name, remote_name
from herorun.core.requirements import specifier_problem

SLUG = re.compile(r"[a-z0-9][a-z0-9-]{0,47}")
KIND = r"^[a-z][a-z0-9_]*$"
HERO_FLOPS = 1e22  # the seed's rule of thumb for a hero run, in model FLOPs
_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)")
_UNIT = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86400}


def parse_duration(value: object) -> object:
    """`"15m"`, `"570s"`, `"1.5h"`; a timedelta passes through.

    >>> parse_duration("15m")
    datetime.timedelta(seconds=900)
    """
    if isinstance(value, str):
        found = _DURATION.fullmatch(value.strip())
        if not found:
            raise ValueError(f'{value!r} is no duration: write it like "570s", "15m", "1.5h" or "2d"')
        try:
            return timedelta(seconds=float(found[1]) * _UNIT[found[2]])
        except OverflowError:
            raise ValueError("is longer than any run") from None
    if isinstance(value, (int, float)):
        raise ValueError(f'{value!r} has no unit: write it like "{value}s" or "{value}m"')
    return value


def say_duration(value: timedelta) -> str:
    """The shortest exact form: 15m, 570s, 2d.

    >>> say_duration(timedelta(seconds=570))
    '570s'
    """
    seconds = value.total_seconds()
    for unit, size in (("d", 86400), ("h", 3600), ("m", 60)):
        if seconds and seconds % size == 0:
            return f"{int(seconds // size)}{unit}"
    return f"{seconds:g}s"


def _positive(value: timedelta) -> timedelta:
    if value <= timedelta():
        raise ValueError("must be longer than zero")
    return value


Duration = Annotated[
    timedelta,
    Field(gt=timedelta()),
    BeforeValidator(parse_duration),
    PlainSerializer(say_duration, return_type=str),
    WithJsonSchema({"type": "string", "pattern": f"^{_DURATION.pattern}$", "examples": ["15m"]}),
]
Name = Annotated[str, Field(min_length=1)]


def _said(value: str) -> str:
    if not value.strip():
        raise ValueError("is blank: a person must fill it in")
    return value


Said = Annotated[str, Field(min_length=1), AfterValidator(_said)]


def _slow_enough(value: timedelta) -> timedelta:
    if value < timedelta(seconds=1):
        raise ValueError("is shorter than a second: a tick reads the scheduler, the tracker and the store")
    return value


Cadence = Annotated[Duration, AfterValidator(_slow_enough)]


def _no_nul(value: str) -> str:
    if "\0" in value:
        raise ValueError("holds a NUL character, which no command line or environment can")
    return value


def _variable(name: str) -> str:
    if not name or "=" in name:
        raise ValueError("is no name of an environment variable")
    return _no_nul(name)


Remote = Annotated[str, AfterValidator(remote_name)]
Argument = Annotated[str, Field(min_length=1), AfterValidator(_no_nul)]


def _pinned(value: str) -> str:
    if not value.rstrip("/"):
        raise ValueError("is the root of the file system: name a folder of this run's own")
    if not value.startswith("/") and "://" not in value:
        raise ValueError(
            "must be an absolute path or a URL: a relative one would lie in whatever folder the job starts in"
        )
    return value


Pinned = Annotated[str, Field(min_length=1), AfterValidator(_pinned)]
Whole = Annotated[int, Field(strict=True)]  # `keep = true` and `keep = "10"` are no numbers


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=False, populate_by_name=True)


class _OpenTable(_Table):
    """A table whose further keys belong to an adapter."""

    model_config = ConfigDict(extra="allow", frozen=True, populate_by_name=True)

    @property
    def options(self) -> dict[str, Any]:
        return dict(self.__pydantic_extra__ or {})


class Command(_Table):
    """What is run."""

    argv: tuple[Argument, ...] = Field(min_length=1, description="The exact command line, as a list.")
    resume_argv: tuple[Argument, ...] = Field(
        (),
        description="The command line of a launch that starts from a checkpoint; `{start}` is replaced by its path.",
    )
    cwd: str = Field(".", description="Working directory, relative to the repository root.")
    env: dict[Annotated[str, AfterValidator(_variable)], Annotated[str, AfterValidator(_no_nul)]] = Field(
        {}, description="Plain environment values. Never secrets."
    )
    secrets: tuple[Name, ...] = Field(
        (), description="Names of environment variables that are passed on by name."
    )


class Impact(StrEnum):
    IGNORE = "ignore"
    NOTICE = "notice"
    BLOCK = "block"


class Code(_Table):
    """Where the code is published, and which files can change the training."""

    remote: Remote = Field("origin", description="The git remote that counts as published.")
    refs: tuple[Name, ...] = Field(
        ("refs/heads/*",), description="Refs of the remote that count as published."
    )
    impact: dict[str, Impact] = Field(
        {}, description="Ordered globs, written as in .gitignore, before the shipped ones: the first decides."
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


class Config(_Table):
    """The resolved training configuration."""

    files: tuple[Name, ...] = Field((), description="TOML, JSON or YAML files, later ones win.")
    command: tuple[Name, ...] = Field((), description="A command that prints the resolved config as JSON.")
    volatile: tuple[Name, ...] = Field(
        (),
        description="Globs of keys that differ from launch to launch by nature; they do not enter the plan.",
    )
    classes: dict[str, KeyClass] = Field(
        {},
        description="Key globs, the first match wins: trajectory, resume-breaking, operational, cosmetic or volatile.",
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


def _identity(value: str) -> str:
    if not re.fullmatch(r"sha256:[0-9a-f]{64}|generation:.+", value):
        raise ValueError(
            'is no identity: write "sha256:" and 64 hex digits, or "generation:" and the store\'s word'
        )
    return value


class Data(_Table):
    """The data's identity."""

    manifests: dict[Name, Annotated[str, AfterValidator(_identity)]] = Field(
        {},
        description="Manifest path or URL to its digest (sha256:...) or store generation (generation:...).",
    )


class Output(_Table):
    """Where checkpoints go: explicit, no templating."""

    root: Pinned = Field(description="Absolute path or URL of the permanent output root.")
    temporary_root: Pinned | None = Field(
        None, description="Root of rolling temporary checkpoints, where it differs."
    )


class Checkpoints(_Table):
    """Retention: a hero run must state all three of permanent_every, temporary_every and keep."""

    layout: str = Field("levanter", pattern=KIND, description="How the trainer lays out its checkpoints.")
    permanent_every: Whole | None = Field(None, gt=0, description="Steps between checkpoints that are kept.")
    temporary_every: Duration | None = Field(None, description="Time between rolling checkpoints.")
    keep: Whole | None = Field(None, gt=0, description="How many previous checkpoints are kept for rollback.")
    milestones: tuple[Whole, ...] = Field((), description="Steps whose checkpoints are never deleted.")


class Start(_Table):
    """The checkpoint that the run starts from."""

    from_: Pinned | None = Field(None, alias="from", description="Path or URL of the checkpoint.")
    kind: Literal["full-state", "weights-only"] = Field(
        "full-state",
        description="Whether step, optimizer and data position come along, or the weights alone.",
    )
    source_run: str | None = Field(None, description="Slug of the run that wrote it.")
    rejected: tuple[Name, ...] = Field((), description="Lineages, as path prefixes, that are never chosen.")
    reason: str | None = Field(None, description="Why this checkpoint, where it is not the newest.")


class Tracker(_OpenTable):
    """What the run reports, and under which identity."""

    kind: str = Field("jsonl", pattern=KIND, description="Which tracker.")
    entity: str | None = Field(None, description="The account that it reports to.")
    project: str | None = Field(None, description="The project that it reports to.")
    id: str | None = Field(None, description="Run id; the slug where it is not given.")
    name: str | None = Field(None, description="Display name; the id where it is not given.")
    resume: Literal["allow", "must", "never", "auto"] = Field(
        "allow", description="What the tracker does with an id that it knows already."
    )
    metrics: dict[str, str] = Field({}, description="Our name (loss, step, grad_norm, ...) to the tracker's.")
    first_step: Literal[0, 1] = Field(0, description="The step number that the first update is logged under.")


class Scheduler(_OpenTable):
    """Where it runs."""

    kind: str = Field("local", pattern=KIND, description="Which scheduler.")
    restarts: Literal["herorun", "backend"] = Field("herorun", description="Who restarts a job that ended.")


class Hardware(_Table):
    """What it runs on."""

    accelerator: str | None = Field(None, description="Kind of accelerator, as its cluster calls it.")
    count: Whole | None = Field(None, gt=0, description="How many of them.")
    topology: str | None = Field(None, description="How they are connected, as the cluster calls it.")
    region: str | None = Field(None, description="Where they are.")


class Runtime(_Table):
    """Runtime identity, where it differs from the git commit."""

    container: str | None = Field(None, description="Image by digest.")
    packages: tuple[Name, ...] = Field((), description="PEP 508 requirements.")
    bundle: str | None = Field(None, description="Source bundle identity.")


class Budgets(_Table):
    """How often the babysitter may act without asking."""

    relaunches: Whole = Field(
        6, ge=0, description="Relaunches within the window; beyond them a person is asked."
    )
    window: Duration = Field(timedelta(hours=24), description="The time that relaunches are counted over.")
    infra: Whole = Field(6, ge=0, description="Of these, after a fault of the hardware, network or cluster.")
    unknown: Whole = Field(3, ge=0, description="Of these, after an end that nothing explains.")
    code_bug: Whole = Field(
        1, ge=0, description="Fix attempts by a person before the same error ends the matter."
    )
    oom: Whole = Field(0, ge=0, description="Of these, after running out of memory.")


class Recovery(StrEnum):
    RELAUNCH = "relaunch"
    ASK = "ask"
    OBSERVE = "observe"


class Babysit(_Table):
    """Who watches, how often, and what they may do."""

    cadence: Cadence = Field(timedelta(minutes=15), description="Time between two ticks, at least a second.")
    owner: str | None = Field(None, description="user@machine of the one monitoring owner.")
    recovery: Recovery = Field(
        Recovery.RELAUNCH,
        description="What follows a crash: a relaunch, a question to the DRI, or telling only.",
    )
    budgets: Budgets = Budgets()
    stop_on: tuple[Name, ...] = Field(
        (), description="Health checks whose firing alert stops a running job; without it nothing does."
    )
    tpu_bad_node: Literal["print", "delete"] = Field(
        "print",
        description="What is done about a bad TPU: the commands that replace its machine are printed, or run.",
    )
    tpu_zone: Name | None = Field(None, description="The zone of the TPU machines; `delete` needs it.")
    catalogue: Argument | None = Field(
        None,
        description="A TOML file of log signatures of your own, relative to the repository root; asked before ours.",
    )
    thresholds: dict[str, dict[str, Any]] = Field({}, description="Check name to its thresholds.")
    lease: Literal["root", "record"] = Field(
        "root",
        description="Where the one owner is written down: in the output root, or on the record's branch.",
    )
    declined: str | None = Field(
        None, min_length=1, description="Why nobody watches: the only way out of it."
    )

    @model_validator(mode="after")
    def _knows_the_zone(self) -> Self:
        if self.tpu_bad_node == "delete" and self.tpu_zone is None:
            raise ValueError('tpu_bad_node = "delete" needs tpu_zone, the zone that the machines are in')
        return self


class Budget(_Table):
    """What the run may cost."""

    accelerator_hours: float | None = Field(
        None, gt=0, description="Beyond it a relaunch becomes a question."
    )
    rate: float | None = Field(None, gt=0, description="Money for one accelerator-hour.")


class Phase(_Table):
    """A declared boundary at which curves may change their shape."""

    name: Name = Field(description="What begins here.")
    step: Whole = Field(ge=0, description="The step at which it begins.")
    kind: Literal["warm-up-end", "batch-size", "data-mixture", "learning-rate", "other"] = Field(
        "other", description="What changes."
    )


class Issue(_OpenTable):
    """Where people read about it."""

    kind: str = Field("local", pattern=KIND, description="Which notifier holds the run's page.")
    repo: str | None = Field(None, description="owner/name, where the issue lies in a repository.")
    number: Whole | None = Field(None, gt=0, description="An issue that is there already.")
    labels: tuple[Name, ...] = Field(("experiment", "agent-generated"), description="Labels of a new issue.")


class Logbook(_Table):
    """The durable record's home."""

    branch: Annotated[str, AfterValidator(branch_name)] | None = Field(
        None, description="Branch of the record; herorun/<slug> where it is not given."
    )
    remote: Remote | None = Field(
        None, description="Remote of the record; [code] remote where it is not given."
    )


def _channel(name: str) -> str:
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
        raise ValueError(
            "is no name of an environment variable: an address holds a secret, so put it into a variable and name that here"
        )
    return name


class Notify(_Table):
    """Whom we tell beyond the issue, and how often."""

    targets: tuple[Annotated[str, AfterValidator(_channel)], ...] = Field(
        (),
        description="Names of environment variables that hold apprise URLs; the first that takes a page has it.",
    )
    pages_per_hour: Whole = Field(
        6, gt=0, description="By one channel; beyond it repeats are counted and told of in the next page."
    )
    pages_per_day: Whole = Field(30, gt=0, description="The same of a day.")

    @field_validator("targets")
    @classmethod
    def _each_once(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if len(set(value)) < len(value):
            raise ValueError("names a variable twice")
        return value


def _gate(text: str) -> str:
    parse_gate(text)
    return text


class Compare(_Table):
    """What `herorun compare` goes by when this run is measured against another, set before anybody looks."""

    gates: tuple[Annotated[Name, AfterValidator(_gate)], ...] = Field(
        (),
        description="Bounds on differences, as in `loss mean <= +0.5%`: METRIC, mean | median | largest, <= | >= | within, size.",
    )


def _on_the_box(value: str) -> str:
    if not re.fullmatch(r"/[^\0\n]*[^/\0\n]", value):
        raise ValueError(
            "must be an absolute path on the machine where the job runs, without a slash at its end"
        )
    return value


def _pattern(value: str) -> str:
    try:
        re.compile(value)
    except re.error as error:
        raise ValueError(f"is no regular expression: {error}") from None
    if "\0" in value or "\n" in value:
        raise ValueError("is looked for in one line: it can hold no line break")
    return value


BoxPath = Annotated[str, AfterValidator(_on_the_box)]
Pattern = Annotated[str, Field(min_length=1), AfterValidator(_pattern)]


class Patrol(_Table):
    """What `herorun patrol` looks at, beyond the job itself, on the machine where it runs."""

    session: str | None = Field(
        None,
        pattern=r"^[A-Za-z0-9_-]+$",
        description="tmux session of a job that herorun did not start, by its whole name.",
    )
    socket: str = Field(
        "", pattern=r"^[A-Za-z0-9_-]*$", description="Name of that tmux server's socket (`tmux -L`)."
    )
    process: Pattern | None = Field(
        None,
        description="Regular expression on the command line of the job's process, where there is no session.",
    )
    slurm: str | None = Field(
        None, pattern=r"^[0-9]+(_[0-9]+)?$", description="Slurm job id, where herorun did not submit it."
    )
    log: BoxPath | None = Field(
        None,
        description="The run's own log, never a shared one; the scheduler's log of the job where absent.",
    )
    progress: Pattern | None = Field(
        None,
        description="Regular expression of a progress line; its first group is the step. Steps and epochs otherwise.",
    )
    done_words: Pattern | None = Field(
        None, description="Regular expression of the log's line that is printed at success, and never before."
    )
    markers: tuple[BoxPath, ...] = Field((), description="Files that appear at success, and never before.")
    results: tuple[BoxPath, ...] = Field((), description="Small text files whose content is the result.")
    copies: dict[BoxPath, Argument] = Field(
        {},
        description="Folder there to the local folder, relative to the repository root, that it is a copy of.",
    )
    disks: tuple[BoxPath, ...] = Field((), description="Further paths whose disks must have room.")
    memory: float = Field(0.9, gt=0, le=1, description="Share of the memory limit beyond which it is a risk.")
    gpu_seconds: float = Field(
        4.0, ge=0, le=15, description="Seconds over which the use of the GPUs is sampled; 0: not at all."
    )
    resume: Argument | None = Field(
        None, description="The exact command that resumes the job; `herorun relaunch` where absent."
    )


class Stage(_Table):
    """One step of the chain."""

    name: str = Field(
        pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,47}$",
        description="It names the marker `<folder>/<name>.DONE`.",
    )
    run: Argument = Field(description="Words of bash; any of its commands that fails ends the stage.")


class Chain(_Table):
    """What the box does by itself once the training is done: `herorun chain` writes the script."""

    folder: BoxPath | None = Field(
        None,
        description="Folder there for the script, its log and its markers, on a disk that outlives a restart.",
    )
    cwd: BoxPath | None = Field(
        None, description="Folder there in which the stages run; their own where absent."
    )
    after: BoxPath | None = Field(None, description="Marker file that must be there first.")
    after_words: Pattern | None = Field(
        None, description="Extended regular expression (`grep -E`) that must stand in `[patrol] log` first."
    )
    wait_at_most: Duration = Field(
        timedelta(days=7), description="Beyond it the chain gives up waiting, says so and ends."
    )
    every: Cadence = Field(timedelta(seconds=150), description="Time between two looks while it waits.")
    stage: tuple[Stage, ...] = Field(
        (), description="In their order; each begins only when the one before is done."
    )
    push: Argument | None = Field(
        None,
        description="Words of bash that tell somebody at the end, be it good or bad: `$HERORUN_SAYS` is what happened.",
    )

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        names = [stage.name for stage in self.stage]
        if len(set(names)) < len(names):
            raise ValueError("two stages have one name, and so one marker")
        if names and self.folder is None:
            raise ValueError("its stages need a `folder`, for their markers")
        return self

    def marker(self, stage: Stage) -> str:
        return f"{self.folder}/{stage.name}.DONE"


class Policy(_Table):
    """How strictly findings are acted on."""

    mode: Literal["enforce", "warn", "audit"] = Field(
        "enforce",
        description="Whether findings stop a launch, only warn, or are only written down. A hero run is enforced.",
    )


class Waiver(_Table):
    """A finding that a person accepts. Granting one is a commit."""

    check: Name = Field(description="The check's name.")
    subject: str | None = Field(None, description="The finding's exact subject; every one where absent.")
    reason: Said = Field(description="Why it is accepted.")
    approved_by: Said = Field(description="Who signs.")
    expires: datetime = Field(description="Until when it holds.")
    unknown: bool = Field(False, description="Whether it also covers 'we could not look'.")

    @field_validator("expires")
    @classmethod
    def _zoned(cls, value: datetime) -> datetime:
        if value.tzinfo is None:
            raise ValueError("needs a time zone: write it like 2026-12-01T12:00:00Z")
        return value

    def signed(self) -> SignedWaiver:
        return SignedWaiver(
            self.check, self.reason, self.approved_by, self.expires, self.subject, self.unknown
        )


def _specifier(value: str) -> str:
    if not value.strip():
        raise ValueError("is blank: leave it away to allow every version")
    if why := specifier_problem(value):
        raise ValueError(f'{why}: write a PEP 440 version specifier, such as "~=0.4"')
    return value


class Contract(_Table):
    """Everything that a launch is admitted under."""

    schema_: Literal[1] = Field(1, alias="schema", description="Version of this file's form.")
    slug: str = Field(
        pattern=f"^{SLUG.pattern}$", description="The run's short name: a-z, 0-9 and -, at most 48."
    )
    goal: str = Field("", description="What the run is for.")
    herorun: Annotated[str, AfterValidator(_specifier)] | None = Field(
        None,
        description="Versions of herorun that may judge the run, as a PEP 440 specifier; every version where absent.",
    )
    dri: str | None = Field(
        None, min_length=1, description="Directly responsible individual; the launching user where absent."
    )
    stop_when: str = Field("", description="What makes us stop or escalate, in words.")
    final_step: Whole | str | None = Field(
        None, description="Completed updates at the end: an integer, or a key of the resolved config."
    )
    flops: float | None = Field(None, gt=0, description="Model FLOPs of the whole run.")
    params: float | None = Field(None, gt=0, description="Parameters, for 6ND.")
    tokens: float | None = Field(None, gt=0, description="Training tokens, for 6ND.")
    hero: bool | None = Field(None, description="Insist that it is, or is not, a hero run.")
    command: Command
    code: Code = Code()
    config: Config = Config()
    data: Data = Data()
    output: Output
    checkpoints: Checkpoints = Checkpoints()
    start: Start = Start()
    tracker: Tracker = Tracker()
    scheduler: Scheduler = Scheduler()
    hardware: Hardware = Hardware()
    runtime: Runtime = Runtime()
    babysit: Babysit = Babysit()
    budget: Budget = Budget()
    phase: tuple[Phase, ...] = ()
    issue: Issue = Issue()
    logbook: Logbook = Logbook()
    notify: Notify = Notify()
    compare: Compare = Compare()
    patrol: Patrol = Patrol()
    chain: Chain = Chain()
    policy: Policy = Policy()
    waiver: tuple[Waiver, ...] = ()

    @property
    def model_flops(self) -> float | None:
        """Stated, or 6 x parameters x tokens."""
        if self.flops is None and self.params and self.tokens:
            return 6 * self.params * self.tokens
        return self.flops

    @property
    def is_hero(self) -> bool:
        """At least 1e22 model FLOPs, or the contract says so."""
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
    """Where the contract was read, relative to the repository's top, its text, and what HEAD holds there."""

    path: str
    text: str
    committed: str | None = None  # None: HEAD has no such file

    @property
    def signed(self) -> bool:
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


def parse_contract(text: str, where: str) -> Contract:
    """Read a contract's TOML; a `WrongUse` names the place and the mend."""
    try:
        return contract_from(tomllib.loads(text), where)
    except tomllib.TOMLDecodeError as error:
        raise WrongUse(f"{where} is not valid TOML: {error}.") from None
    except (RecursionError, ValueError):  # the second: a number of thousands of digits
        raise WrongUse(
            f"{where} is no contract: it is nested too deeply, or holds an endless number."
        ) from None


def contract_from(data: Mapping[str, Any], where: str) -> Contract:
    try:
        return Contract.model_validate(data)
    except ValidationError as error:
        raise WrongUse(f"{where}: {explain_errors(error)}") from None


def explain_errors(error: ValidationError) -> str:
    """Every fault of the input in one line each, by its key."""
    lines = []
    for fault in error.errors(include_url=False):
        key = ".".join(str(part) for part in fault["loc"])
        match fault["type"]:
            case "extra_forbidden":
                lines.append(f"unknown key `{key}`: remove it, or look for its name in `herorun schema`")
            case "missing":
                lines.append(f"missing key `{key}`")
            case _:
                message = fault["msg"].removeprefix("Value error, ").replace("valid tuple", "list")
                message = f"{message[:1].lower()}{message[1:]}"
                told = "" if "notify" in fault["loc"][:1] else f", not {fault['input']!r:.80}"
                lines.append(f"`{key}`: {message}{told}" if fault["loc"] else message)
    return "; ".join(lines) + "."
