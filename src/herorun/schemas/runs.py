"""The documents of the commands that begin, launch, watch and order a run."""

from collections.abc import Mapping, Sequence
from typing import Literal

from herorun.core.run_summary import RunSummary
from herorun.schemas.parts import (
    Acked,
    Action,
    AlertEntry,
    AlertState,
    AwaitedEntry,
    Candidates,
    Document,
    EstimateEntry,
    FindingEntry,
    InstanceEntry,
    OtherJob,
    PauseEntry,
    ResponsibleEntry,
    RunState,
    Shape,
    SourcedEntry,
    SubmissionEntry,
    UnjudgedEntry,
    Verdict,
)


class Init(Document):
    slug: str
    contract: str
    logbook: str | None
    """Its path on the record's branch; null while there is only a contract."""
    issue: str | None
    record: str | None
    """The commit of the record."""
    branch: str = ""
    """The record's branch; missing while there is only a contract."""
    warning: str
    """Why the record is not pushed; empty where it is."""
    unstable_keys: Sequence[str]
    """Keys of the resolved config that differ from one reading to the next."""
    advice: str
    created: Sequence[str]
    adopted: Sequence[str]
    """What was there before, as an issue that the contract names."""


class PreflightDocument(Document):
    verdict: Verdict
    verdict_if_enforced: Verdict
    """What it would be under `enforce`."""
    mode: Literal["enforce", "warn", "audit"]
    plan_digest: str | None
    plan: Mapping[str, SourcedEntry] | None
    """Every field of the plan; null where none could be made."""
    submission: SubmissionEntry | None
    checkpoints: Candidates
    estimate: EstimateEntry
    responsible: ResponsibleEntry | None
    findings: Sequence[FindingEntry]


class AdoptedJob(Shape):
    job: str
    """By the id that its scheduler gave it."""
    state: str
    user: str | None
    """Null where its scheduler does not tell."""
    command: Sequence[str] | None
    """What it runs; null where its scheduler does not tell."""
    unproven: Sequence[str]
    """What nobody can prove of a job that herorun did not submit."""


class LaunchDocument(PreflightDocument):
    instance: str | None
    """Null if nothing was launched."""
    job: str | None
    babysitter: str
    """Who watches, in words."""
    log: str
    """Where the job's log is."""
    warnings: Sequence[str]
    adopted: AdoptedJob | None
    """The job that `--adopt` took over, or was to; null otherwise."""


class TickEntry(Shape):
    """What one tick saw and did."""

    run: RunState
    """`starting`: nothing shows yet that it trains; `healthy`: evidence of the present instance, read now, shows it."""
    monitor: Literal["fresh", "partial", "stale"]
    """Whether the view itself can be relied on."""
    progress: str
    """`~<reached>/<final step>`."""
    findings: Sequence[FindingEntry]
    alerts: Sequence[AlertEntry]
    actions: Sequence[Action]
    missing_evidence: Sequence[AwaitedEntry]
    """Evidence that is missing; empty for a run that is proven to train."""
    other_jobs: Sequence[OtherJob]


class Standing(TickEntry):
    """How a run stands."""

    doubts: Sequence[str]
    """What could not be determined."""
    contract: str
    """`as admitted`, or how it drifted."""
    pushed: bool
    """Whether the remote has the newest line of the record."""


class BabysitDocument(Document, Standing):
    slug: str = ""
    """In the lines of a loop, and where several runs are watched."""


class JobCauseEntry(Shape):
    """The root of a failure."""

    failure: str
    """The class of `herorun triage`; empty where the log does not say why."""
    file: str
    line: int | None
    excerpt: str
    tasks: str
    """How its tasks ended, in words."""
    effort: Literal["small", "complex", ""]
    """How large the fix is; empty where nothing is to be changed."""
    advice: str


class BabysitJobDocument(Document, TickEntry):
    """Of a job without a contract."""

    job: str
    slug: str
    cause: JobCauseEntry | None = None
    """Of a failed job; null while it lives and where it ended well."""


class PaceEntry(Shape):
    """How fast it goes."""

    name: str
    """`tokens/s`, `s/step` and the like."""
    now: float | str
    usual: float | str | None
    """Of the same attempt before."""
    step_seconds: float | str | None
    ratio: float | str | None
    """Relative to the usual one: below 1 is slower, for speeds and for step times."""


class NewestCheckpoint(Shape):
    step: int
    age_seconds: float | str | None


class RunSummaryEntry(Shape):
    """What one sees at a glance; null: nobody saw it."""

    step: int | None
    """Completed updates."""
    final_step: int | None
    remaining_seconds: float | None
    loss: float | str | None
    curve: str
    """The loss as a line of blocks."""
    pace: PaceEntry | None
    checkpoint: NewestCheckpoint | None
    next_tick: str | None
    last_seen: str | None

    @classmethod
    def of_summary(cls, run: RunSummary) -> "RunSummaryEntry":
        saved = {"step": run.checkpoint_step, "age_seconds": run.checkpoint_age}
        return cls.of(
            run,
            remaining_seconds=run.left,
            checkpoint=saved if run.checkpoint_step is not None else None,
            next_tick=run.next_tick and run.next_tick.replace(microsecond=0),
            last_seen=run.seen and run.seen.replace(microsecond=0),
        )


class StatusOf(Standing):
    """How one run stands, with what its record says."""

    slug: str
    stage: Literal["not initialised", "initialised", "launched", "sealed"]
    instances: Sequence[InstanceEntry]
    log: str
    """Where the newest instance's log is on this machine; empty where its scheduler does not tell."""
    seal_tag: str | None
    """The tag."""
    record: str | None
    babysitter: str
    unfinished_actions: Sequence[str]
    """Keys of actions that were begun and have no outcome yet."""
    paused: PauseEntry | None
    questions: Sequence[str]
    """What a person is asked."""
    answer: str | None
    acknowledgements: Sequence[Acked]
    stopped_by: str | None
    """Who stopped the newest instance."""
    next: str
    """The command that comes next; empty while there is nothing to do but to watch."""
    summary: RunSummaryEntry
    unjudged: Sequence[UnjudgedEntry]
    """Metrics that have too few rows yet for some checks."""


class WatchedAlert(Shape):
    """An open alert, shortly."""

    check: str
    severity: Literal["info", "warn", "critical"]
    state: AlertState
    message: str


class WatchedRunEntry(Shape):
    """One run, as the babysitter of this machine keeps it."""

    slug: str
    stage: Literal["not initialised", "initialised", "launched", "sealed"]
    run: RunState
    monitor: Literal["fresh", "partial", "stale"]
    missing_evidence: Sequence[AwaitedEntry]
    alerts: Sequence[WatchedAlert]
    summary: RunSummaryEntry


class Status(Document, StatusOf):
    pass


class NotRead(Shape):
    """A run, among several, that could not be looked at."""

    slug: str
    error: str


class UnreadDocument(Document, NotRead):
    """A line of a loop over several runs, for one that cannot be watched."""


class StandingOf(Standing):
    """One run among several."""

    slug: str


class BabysitAll(Document):
    runs: Sequence[StandingOf | NotRead]


class StatusAll(Document):
    runs: Sequence[StatusOf | NotRead]


class WatchDocument(Document):
    runs: Sequence[WatchedRunEntry | NotRead]
    """The worst first."""


class ListEntry(Shape):
    slug: str
    stage: Literal["not initialised", "initialised", "launched", "sealed", "unknown"]
    run: str | None
    """At the newest look that the record has; null before the first."""
    monitor: str | None
    progress: str
    last_seen: str | None
    """When that look was."""
    instance: str | None
    error: str
    """Why the record cannot be read; empty where it can."""


class ListDocument(Document):
    runs: Sequence[ListEntry]


class LogsDocument(Document):
    """With --follow one of these for each part that is new, each on one line."""

    slug: str
    instance: str
    text: str
    """Scrubbed of secrets and of control characters."""


class Note(Document):
    slug: str
    commit: str
    """The record's, with the note."""
    pushed: bool
    queued: bool
    """The note is in this clone, and its remote does not have it yet: the command ends with 3, and `warning` says what delivers it."""
    warning: str


class OrderDocument(Document):
    slug: str
    message: str
    """What was done, in words."""
    warnings: Sequence[str]
    record: str | None
    facts: Sequence[str] = ()
    """Of a rollback and a fork: what it discards, rules out and keeps, line by line. Missing elsewhere."""


class Trust(Document):
    slug: str
    repository: str
    """Whose contracts are trusted with the items: this clone's."""
    items: Sequence[str]
    """What this machine would run, or send credentials to, and is not trusted with yet."""
    unproven: Sequence[str]
    """Launches and seals that the record tells of and nothing proves."""
    result: Literal["nothing", "trusted", "rejected"]
    file: str
