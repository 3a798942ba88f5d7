"""The documents of the commands that begin, launch, watch and order a run."""

from collections.abc import Mapping, Sequence
from typing import Literal

from herorun.schemas.parts import (
    Candidates,
    Document,
    EstimateEntry,
    FindingEntry,
    ResponsibleEntry,
    Schema,
    SourcedEntry,
    SubmissionEntry,
    Verdict,
)
from herorun.schemas.tick import StatusFields, TickEntry


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
    """Why the record is not pushed; empty if it is."""
    unstable_keys: Sequence[str]
    """Keys of the resolved config that differ from one reading to the next."""
    advice: str
    created: Sequence[str]
    adopted: Sequence[str]
    """What existed already and is used, such as an issue that the contract names."""


class PreflightDocument(Document):
    verdict: Verdict
    verdict_if_enforced: Verdict
    """The verdict that `[policy] mode = "enforce"` would give."""
    mode: Literal["enforce", "warn", "audit"]
    plan_digest: str | None
    plan: Mapping[str, SourcedEntry] | None
    """Every field of the plan; null if no plan could be made."""
    submission: SubmissionEntry | None
    checkpoints: Candidates
    estimate: EstimateEntry
    responsible: ResponsibleEntry | None
    findings: Sequence[FindingEntry]


class AdoptedJob(Schema):
    job: str
    """The id that its scheduler gave it."""
    state: str
    user: str | None
    """Null if its scheduler does not say."""
    command: Sequence[str] | None
    """What the job runs; null if its scheduler does not say."""
    unproven: Sequence[str]
    """What cannot be proved about a job that herorun did not submit."""


class LaunchDocument(PreflightDocument):
    instance: str | None
    """Null if nothing was launched."""
    job: str | None
    babysitter: str
    """Which process monitors the run, as text."""
    log: str
    """Where the job's log is."""
    warnings: Sequence[str]
    adopted: AdoptedJob | None
    """The job that `--adopt` took over or would have taken over; otherwise null."""


class BabysitDocument(Document, StatusFields):
    slug: str = ""
    """Only in the output of a loop, and if several runs are monitored."""


class JobCauseEntry(Schema):
    """The root of a failure."""

    failure: str
    """The class that `herorun triage` gives; empty if the log does not show a cause."""
    file: str
    line: int | None
    excerpt: str
    tasks: str
    """How its tasks ended, as text."""
    effort: Literal["small", "complex", ""]
    """How large the fix is; empty if there is nothing to change."""
    advice: str


class BabysitJobDocument(Document, TickEntry):
    """For a job without a contract."""

    job: str
    slug: str
    cause: JobCauseEntry | None = None
    """Why the job failed; null while it runs and if it succeeded."""


class ListEntry(Schema):
    slug: str
    stage: Literal["not initialised", "initialised", "launched", "sealed", "unknown"]
    run: str | None
    """The state at the newest tick in the record; null before the first."""
    monitor: str | None
    progress: str
    last_seen: str | None
    """The time of that tick."""
    instance: str | None
    error: str
    """Why the record cannot be read; empty if it was read."""


class ListDocument(Document):
    runs: Sequence[ListEntry]


class LogsDocument(Document):
    """With `--follow`, one document per line for each new part of the log."""

    slug: str
    instance: str
    text: str
    """Scrubbed of secrets and of control characters."""


class Note(Document):
    slug: str
    commit: str
    """The commit of the record that contains the note."""
    pushed: bool
    queued: bool
    """True if only this clone has the note: the command exits with 3, and `warning` says what
    delivers it.
    """
    warning: str


class OrderDocument(Document):
    slug: str
    message: str
    """What was done, as text."""
    warnings: Sequence[str]
    record: str | None
    facts: Sequence[str] = ()
    """For a rollback or a fork: what it discards, rules out and keeps, line by line. Other commands
    omit it.
    """


class Trust(Document):
    slug: str
    repository: str
    """The clone whose contracts are trusted with these items."""
    items: Sequence[str]
    """Programs that this machine would run, and addresses that it would send credentials to, which
    are not trusted yet.
    """
    unproven: Sequence[str]
    """Launches and seals in the record that nothing proves."""
    result: Literal["nothing", "trusted", "rejected"]
    file: str
