"""The documents of the commands that show how runs stand."""

from collections.abc import Sequence
from typing import Literal

from herorun.core.run_summary import RunSummary
from herorun.schemas.parts import (
    Acked,
    AlertState,
    AwaitedEntry,
    Document,
    InstanceEntry,
    PauseEntry,
    RunState,
    Schema,
)
from herorun.schemas.tick import StatusFields


class PaceEntry(Schema):
    """The speed of the run."""

    name: str
    """`tokens/s`, `s/step` and the like."""
    now: float | str
    usual: float | str | None
    """The usual value earlier in the same attempt."""
    step_seconds: float | str | None
    ratio: float | str | None
    """Relative to the usual one: below 1 is slower, for speeds and for step times."""


class NewestCheckpoint(Schema):
    step: int
    age_seconds: float | str | None


class RunSummaryEntry(Schema):
    """The newest values of a run; null: not known."""

    step: int | None
    """Completed updates."""
    final_step: int | None
    remaining_seconds: float | None
    loss: float | str | None
    curve: str
    """The loss curve, drawn with block characters."""
    pace: PaceEntry | None
    rows_read_at: str | None
    """When loss, curve and pace were last read, if they could not be read now."""
    checkpoint: NewestCheckpoint | None
    next_tick: str | None
    last_seen: str | None

    @classmethod
    def of_summary(cls, run: RunSummary) -> "RunSummaryEntry":
        checkpoint = {"step": run.checkpoint_step, "age_seconds": run.checkpoint_age}
        return cls.of(
            run,
            remaining_seconds=run.time_left,
            checkpoint=checkpoint if run.checkpoint_step is not None else None,
            rows_read_at=run.rows_read_at and run.rows_read_at.replace(microsecond=0),
            next_tick=run.next_tick and run.next_tick.replace(microsecond=0),
            last_seen=run.seen_at and run.seen_at.replace(microsecond=0),
        )


class FailedLaunch(Schema):
    """A launch under which nothing was submitted."""

    instance: str
    at: str
    why: str


class StatusOf(StatusFields):
    """The state of one run, with what its record says."""

    monitor: Literal["fresh", "partial", "stale", "not-needed"]  # type: ignore[assignment]  # a tick's and one more
    """As in a tick; `not-needed`: nothing is left to monitor (the run is finished, stays down, is
    sealed or was never launched), no babysitter of this clone runs, and all evidence that there
    is was read.
    """
    slug: str
    stage: Literal["not initialised", "initialised", "launched", "sealed"]
    instances: Sequence[InstanceEntry]
    failed_launch: FailedLaunch | None
    """The newest launch, if nothing was submitted under it."""
    log: str
    """Where the newest instance's log is on this machine; empty if its scheduler does not say."""
    seal_tag: str | None
    """The tag of the newest seal; null if there is none."""
    record: str | None
    """The newest commit of the record."""
    branch: str
    """The record's branch."""
    babysitter: str
    """Which process monitors the run, as text."""
    unfinished_actions: Sequence[str]
    """Keys of actions that were started and have no outcome yet."""
    acting: bool
    """Whether a process of this machine is performing the `unfinished_actions` now. If not, it is
    unknown whether they were carried out."""
    paused: PauseEntry | None
    questions: Sequence[str]
    """What a person is asked."""
    answer: str | None
    """How a person answered the question about the newest instance, as text; null if nobody did."""
    acknowledgements: Sequence[Acked]
    forgotten_job: bool
    """Whether the scheduler no longer lists the newest instance's job: then `doubts` says how to
    record its end."""
    dri_decides: bool
    """Whether the run is down and herorun does not relaunch it by itself, so that the DRI decides
    about a relaunch that `next` names."""
    stopped_by: str | None
    """Who ordered the stop of the newest instance, also after its end: it stays down. Null if
    nobody did."""
    next: str
    """The next command; empty while monitoring is all that is needed. If the run is down, and
    `answer` is denied or `stopped_by` is set, it restarts against a person's decision. Whether to
    roll back is for the DRI to decide."""
    summary: RunSummaryEntry


class WatchedAlert(Schema):
    """An open alert, in short."""

    check: str
    severity: Literal["info", "warn", "critical"]
    state: AlertState
    message: str


class WatchedRunEntry(Schema):
    """One run, from the files of this machine's babysitter."""

    slug: str
    stage: Literal["not initialised", "initialised", "launched", "sealed"]
    run: RunState
    monitor: Literal["fresh", "partial", "stale"]
    missing_evidence: Sequence[AwaitedEntry]
    alerts: Sequence[WatchedAlert]
    summary: RunSummaryEntry


class Status(Document, StatusOf):
    pass


class NotRead(Schema):
    """A run, among several, that could not be read."""

    slug: str
    error: str


class UnreadDocument(Document, NotRead):
    """A line of a loop over several runs, for one that cannot be watched."""


class RunStatusEntry(StatusFields):
    """One run among several."""

    slug: str


class BabysitAll(Document):
    runs: Sequence[RunStatusEntry | NotRead]


class StatusAll(Document):
    runs: Sequence[StatusOf | NotRead]


class WatchDocument(Document):
    runs: Sequence[WatchedRunEntry | NotRead]
    """The worst first."""
