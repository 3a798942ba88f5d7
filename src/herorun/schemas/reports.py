"""The document of `herorun report`."""

from collections.abc import Sequence
from typing import Any, Literal

from herorun.core.report.annotations import StepMark
from herorun.schemas.evaluations import GoodputOf
from herorun.schemas.parts import Document, Shape


class ProgressEntry(Shape):
    step: int | None
    """Completed updates."""
    final_step: int | None
    text: str


class Estimated(Shape):
    """The expected end as a range; null if there is no estimate."""

    earliest: str | None
    latest: str | None
    text: str
    why: str


class Saved(Shape):
    """The newest complete checkpoint."""

    step: int
    path: str
    at: str | None


class ChartEntry(Shape):
    title: str
    metrics: Sequence[str]
    newest: Any
    """The value of the highest step, or "not finite"."""
    points: int
    """How many are drawn."""
    not_finite: int
    why: str
    """Why the chart is empty."""


class IncidentEntry(Shape):
    """An alert that fired, once for all its ticks."""

    check: str
    subject: str
    severity: Literal["info", "warn", "critical", "unknown"]
    step: int | None
    """The first step at which it happened, from the data, or the one at which it was noticed, in
    completed updates.
    """
    last_step: int | None
    """The last step at which it happened."""
    noticed_step: int | None
    since: str
    state: Literal["firing", "resolved", "ended-unresolved", "superseded"]
    """`superseded`: it reported how an instance ended, and the next instance was launched since."""
    acknowledged: bool
    """Whether a person has acknowledged it."""
    resolved: str | None
    """Null until its end was observed."""
    message: str


class LaunchedEntry(Shape):
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


class ReportLink(Shape):
    """A page with more about the run."""

    name: str
    text: str
    url: str
    """The address of a web page; empty if unknown."""


class Recorded(Shape):
    commit: str | None
    pushed: bool


class ReportDocument(Document):
    run: str
    verdict: str
    """The state of the run in one line."""
    level: Literal["good", "warn", "bad", "unknown"]
    state: str
    stage: str
    monitor: str
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
    record: Recorded
    links: Sequence[ReportLink]
    """Tracker, issue, and the newest commit of the record that is pushed."""
    next: str
    notes: Sequence[str]
    file: str
    """Where the page is."""
