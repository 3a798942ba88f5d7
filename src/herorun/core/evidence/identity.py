"""The tracker's run: what is there under the identity that the contract states."""

from collections.abc import Mapping
from dataclasses import KW_ONLY, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from herorun.core.lazy_dataclass import dataclass


class TrackerState(StrEnum):
    """What the tracker says of an id. `unreachable` is no answer."""

    ABSENT = "absent"
    RUNNING = "running"
    FINISHED = "finished"
    CRASHED = "crashed"
    FAILED = "failed"
    DELETED = "deleted"
    UNREACHABLE = "unreachable"


@dataclass(frozen=True)
class TrackerIdentity:
    """The run under the contract's id, as the tracker knows it now."""

    state: TrackerState
    why: str = ""  # why it could not be reached
    id: str = ""
    _: KW_ONLY
    display_name: str = ""
    namesakes: tuple[str, ...] = ()  # ids of other runs in the project with the wanted display name
    last_step: int | None = None  # as logged
    heartbeat: str = ""  # ISO 8601, with its offset from UTC
    config: Mapping[str, Any] = field(default_factory=dict)
    url: str = ""  # the tracker's own address of the run
    # step, time and losses that its panel shows
    summary: Mapping[str, float] = field(default_factory=dict)
    parent: TrackerState | None = None  # of the run that is forked from
    parent_last_step: int | None = None
    service: str = ""  # what people call the tracker, where its adapter says so

    @property
    def tracker(self) -> str:
        """The tracker's name, for messages."""
        return self.service or "the tracker"


@dataclass(frozen=True)
class TrackerEnvironment:
    """Variables that the tracker's client would take over the contract, by name, from the job's
    environment.
    """

    variables: Mapping[str, str] = field(default_factory=dict)  # those that are not blank
    # variable -> why the run would report elsewhere than the contract states, and what to do
    problems: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class TrackerTraits:
    """What the run's tracker declares of itself, as attributes of these names. The defaults hold
    for an adapter that declares nothing: one whose rows no server keeps under an id.
    """

    progress_lines: str = ""  # whose progress lines it reads, where it reads the job's own log
    # its client resumes the run under its id as `[tracker] resume` says
    resumes_by_id: bool = False
    # of a step that a resumed run logs again, it keeps the first row and drops the second
    drops_past_steps: bool = False
    # part of the identity (id, project, entity) -> the pattern that it matches as a whole
    name_rules: Mapping[str, str] = field(default_factory=dict)
    id_variable: str = ""  # from which its client takes the run's id where the trainer gives none
    label: str = "Tracker"  # what the logbook, the issue and the seal call it: part of their format


@dataclass(frozen=True, kw_only=True)
class TrackerAlert:
    """What the trainer itself raised through its tracker."""

    number: int  # grows with each alert of the project
    attempt: str  # the execution that raised it
    title: str
    text: str
    level: str  # the tracker's own word: info, warn or error
    step: int | None  # as logged
    at: datetime | None  # None if it has no time with a zone


@dataclass(frozen=True)
class TrackerAlerts:
    """The run's alerts in its tracker, oldest first."""

    alerts: tuple[TrackerAlert, ...] = ()
