"""Documents of the commands that evaluate: seals, the record, checks, checkpoints, logs and
curves.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal

from herorun.core.compare.join import CurveJoin
from herorun.core.compare.verdict import ComparisonAnswer, GateComparison
from herorun.core.goodput.latencies import Delays
from herorun.core.goodput.states import WallTimeState as TimeState
from herorun.core.goodput.totals import Range
from herorun.core.lazy_pydantic import Field
from herorun.core.recovery.classify import Cause
from herorun.core.replay import Replay
from herorun.core.retention import DeletableCheckpoint, KeptCheckpoint, RetentionPolicy
from herorun.schemas.parts import Document, FindingEntry, Schema, UnjudgedEntry, Verdict


class SealDocument(Document):
    verdict: Verdict
    tag: str | None
    """Null if nothing was tagged."""
    commit: str | None
    findings: Sequence[FindingEntry]
    statement: Mapping[str, Any] | None
    """The in-toto statement, as it stands in the record and in the tag."""
    tag_pushed: bool | None
    """Whether the remote has the tag; null if that is unknown, or nothing was tagged."""
    record_pushed: bool | None
    """Whether the remote has the newest line of the record; null if that is unknown."""


class VerifySeal(Document):
    verdict: Verdict
    tag: str
    proven: Sequence[str]
    faults: Sequence[str]
    unproven: Sequence[str]
    """What could not be checked from here."""
    notes: Sequence[str]


class LogbookShow(Document):
    slug: str
    commit: str
    logbook: str
    """Markdown, all its pages as one."""
    doubts: Sequence[str]
    """Seals in it that do not count, because no tag states them."""


class LogbookVerify(Document):
    verdict: Verdict
    entries: int
    faults: Sequence[str]
    notes: Sequence[str]


class CheckPage(Schema):
    """The page of a check."""

    check: str
    gate: str
    response: str
    severity: str
    always: bool
    """Whether it blocks in every `[policy] mode`."""
    problem: str
    why: str
    fix: str
    evidence: Sequence[str]


class ExplainList(Document):
    checks: Sequence[CheckPage]


class Explain(ExplainList):
    check: CheckPage
    """The first of `checks`; several gates can have a check of this name."""


class Waive(Document):
    check: str
    toml: str
    """The `[[waiver]]` blocks for a person to sign."""
    note: str


class ListedEntry(Schema):
    """A checkpoint under the run's roots."""

    path: str
    step: int
    state: Literal["complete", "incomplete", "unknown"]
    problem: str
    tainted: str
    """The alert that tainted it, and from which step; empty if it is not tainted."""
    refused: str
    """Why no relaunch starts from it; empty if nothing rules it out."""
    temporary: bool | None
    bytes: int | None
    files: int | None
    age_seconds: int | None


class CheckpointsList(Document):
    checkpoints: Sequence[ListedEntry]
    missing_roots: Sequence[str]
    """Roots that do not exist on this machine: perhaps not mounted, so more may be there."""
    unread_roots: Sequence[str]
    """Those of `missing_roots` that a job wrote to: then the exit code is 3."""


class CheckpointsPlan(Document):
    digest: str
    bytes: int
    """The size of all `victims` together."""
    slug: str
    policy: RetentionPolicy
    victims: Sequence[DeletableCheckpoint]
    remaining: Sequence[KeptCheckpoint]


class Left(Schema):
    path: str
    why: str


class CheckpointsPrune(Document):
    deleted: Sequence[str]
    not_deleted: Sequence[Left]
    bytes: int


class Failure(Schema):
    """What one log shows."""

    file: str
    class_: str = Field(
        alias="class",
        description=(
            "One of the classes in docs/triage.md; for a run also the scheduler's word, "
            "`output-root-gone`, `output-root-back`, `temporary-root-gone` or "
            "`temporary-root-back`."
        ),
    )
    role: str
    line: int | None
    """Counted from 1."""
    excerpt: str
    fingerprint: str
    """The same for every rank, node and attempt of one failure."""
    advice: str
    signature: str | None
    """The signature that matched."""
    frame: str | None
    """The innermost frame of the user's code."""
    needs_person: bool
    """Whether a person may be needed."""
    attempt: int
    """The number of the start in the log, from 1; for a run, the number of the instance."""


class TriageDocument(Document):
    files: Sequence[Failure]


class FiredEntry(Schema):
    """An alert that a backtest raises on a curve."""

    check: str
    severity: Literal["info", "warn", "critical"]
    subject: str
    row: int
    """The data row at which it fires, from 0."""
    step: int
    until_row: int | None
    message: str
    fix: str
    """What to do next."""


class Curve(Schema):
    """One file of a backtest."""

    file: str
    rows: int
    alerts: Sequence[FiredEntry]
    unjudged: Sequence[UnjudgedEntry]
    """What some checks could not judge up to the last row."""


class BacktestDocument(Document):
    files: Sequence[Curve]
    totals: Mapping[str, Any]
    """`files`, `rows` and `alerts` by severity; with `--labels` also what was found, missed and
    false.
    """


class CompareDocument(Document):
    a: str
    b: str
    kind: Literal["repeat", "resume", "change", "curves"]
    verdict: ComparisonAnswer
    window: Sequence[int | None]
    """The first and the last step."""
    metrics: Sequence[CurveJoin]
    gates: Sequence[GateComparison]
    untested: Sequence[str]
    """What could not be tested, because the window does not contain it."""
    notes: Sequence[str]
    config_differences: Sequence[str]
    """Config keys that differ, each with both values."""


class GoodputOf(Schema):
    """Times are in seconds."""

    run: str
    since: datetime | None
    """The time of the first intent to launch; null if nothing was launched."""
    until: datetime | None
    """The time of the run's successful end, or of the newest line or row."""
    wall_seconds: float
    states: Mapping[TimeState, float]
    """Seconds in every state; they add up to `wall_seconds`."""
    productive_fraction: Range
    """Productive time as a part of `wall_seconds`."""
    max_step: int
    """The largest number of completed updates of any instance."""
    lost_steps: int
    """Updates that were repeated, or must be repeated."""
    unknown_losses: int
    """Restarts whose cost in steps is unknown."""
    instances: int
    interruptions: Mapping[Cause, int]
    """How often an instance ended, by cause."""
    mtbf: float | None
    """Seconds of running time for each unintended interruption; null if there was none."""
    accelerator_hours: Mapping[str, float] | None
    """Accelerator-hours by state."""
    total_accelerator_hours: Range
    cost: Range
    delays: Delays
    rows: int
    notes: Sequence[str]


class GoodputDocument(Document, GoodputOf):
    pass


class ReplayAll(Document):
    slug: str
    since: datetime | None
    version: str
    """The version of herorun that judges it now."""
    rules: str
    """The digest of the rules that judge it now."""
    ticks: Sequence[Replay]
    totals: Mapping[str, int]
