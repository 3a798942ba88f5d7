"""The document of `herorun report`."""

from collections.abc import Sequence
from typing import Any, Literal

from herorun.core.report.annotations import StepMark
from herorun.schemas.evaluations import GoodputOf
from herorun.schemas.parts import Document, Schema


class ProgressEntry(Schema):
    step: int | None
    """Completed updates."""
    final_step: int | None
    text: str


class Estimated(Schema):
    """The expected end as a range; null if there is no estimate."""

    earliest: str | None
    latest: str | None
    text: str
    why: str


class Saved(Schema):
    """The newest complete checkpoint."""

    step: int
    path: str
    at: str | None


class ChartEntry(Schema):
    title: str
    metrics: Sequence[str]
    newest: Any
    """The value of the highest step, or "not finite"."""
    points: int
    """How many are drawn."""
    not_finite: int
    why: str
    """Why the chart is empty."""


class IncidentEntry(Schema):
    """An alert that fired, once for all its ticks."""

    check: str
    subject: str
    severity: Literal["info", "warn", "critical", "unknown"]
    step: int | None
    """The first step at which it happened; if the data do not show it, the step at which it was
    noticed. Both count completed updates.
    """
    last_step: int | None
    """The last step at which it happened."""
    noticed_step: int | None
    """The run's step when it was noticed."""
    since: str
    state: Literal["firing", "resolved", "ended-unresolved", "superseded"]
    """`superseded`: the alert was about the end of an instance, and the next one was launched."""
    acknowledged: bool
    """Whether a person has acknowledged it."""
    resolved: str | None
    """Null until its end was observed."""
    message: str


class LaunchedEntry(Schema):
    """One instance, and what differs between it and the one before."""

    name: str
    kind: str
    why: str
    job: str
    commit: str
    command: str
    """The command of the plan, without secrets; empty for an adopted job."""
    log: str
    """The command that prints its log."""
    log_place: str
    """Where its log is: a path, with the host if it is on another machine; empty if unknown."""
    log_url: str
    """The web page that shows its log; empty if unknown."""
    started: str
    ended: str | None
    end_state: str
    diagnosis: str
    """Why it ended; empty if it succeeded or the cause is unknown."""
    steps: int | None
    changes: Any


class ReportLink(Schema):
    """A page with more about the run."""

    name: str
    text: str
    url: str
    """The address of a web page; empty if unknown."""


class Recorded(Schema):
    commit: str | None
    pushed: bool | None


class ReportDocument(Document):
    run: str
    verdict: str
    """The state of the run in one line."""
    level: Literal["good", "warn", "bad", "unknown"]
    """How good or bad the verdict is; the page's colour."""
    state: str
    """`run` of `status`."""
    stage: str
    """`stage` of `status`."""
    monitor: str
    """`monitor` of `status`."""
    generated_at: str
    version: str
    goal: str
    dri: str
    progress: ProgressEntry
    eta: Estimated
    checkpoint: Saved | None
    charts: Sequence[ChartEntry]
    annotations: Sequence[StepMark]
    alerts: Sequence[IncidentEntry]
    instances: Sequence[LaunchedEntry]
    goodput: GoodputOf
    babysitter: str
    """Which process monitors the run, as text."""
    record: Recorded
    links: Sequence[ReportLink]
    """Tracker, issue, and the newest commit of the record that is pushed."""
    next: str
    """The next command to type; empty while monitoring is all that is needed."""
    notes: Sequence[str]
    """Where the rows come from, what the charts leave out, and what could not be determined."""
    file: str
    """Where the page is."""
