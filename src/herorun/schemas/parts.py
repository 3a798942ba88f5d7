"""What several documents hold."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from enum import Enum
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias

from herorun.core.canonical_json import plain
from herorun.core.lazy_pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    field_validator,
)
from herorun.core.redaction.scrub import scrub_tree

if TYPE_CHECKING:
    from pydantic import GetJsonSchemaHandler

Verdict: TypeAlias = Literal["clear", "blocked", "unknown"]
AlertState: TypeAlias = Literal["pending", "firing", "resolved", "ended-unresolved"]
RunState: TypeAlias = Literal["starting", "healthy", "degraded", "down", "finished", "unknown"]


_NONE = object()  # the source has no attribute of the name


class Schema(BaseModel):
    # Each command imports all schemas and uses a few: `defer_build` builds one when it is used.
    # A value of core is read by the names of its fields, so that nobody writes these names twice.
    model_config = ConfigDict(
        frozen=True, defer_build=True, from_attributes=True, populate_by_name=True
    )

    @classmethod
    def __get_pydantic_json_schema__(cls, core: Any, handler: "GetJsonSchemaHandler") -> Any:
        """With the string under each field as its description."""
        from herorun.schemas._field_docs import field_docs

        schema = handler(core)
        properties = handler.resolve_ref_schema(schema).get("properties", {})
        for name, text in field_docs(cls).items():
            key = cls.model_fields[name].serialization_alias or name
            if key in properties:
                properties[key].setdefault("description", text)
        return schema

    @classmethod
    def of(cls, *sources: Any, **others: Any) -> Self:
        """From the attributes of `sources` that have the names of fields, a later source before an
        earlier one, and from `others`.
        """
        values = {
            name: value
            for source in sources
            for name in cls.model_fields
            if (value := getattr(source, name, _NONE)) is not _NONE
        }
        return cls.model_validate({**values, **others})

    @field_validator("*", mode="before")
    @classmethod
    def _as_in_json(cls, value: Any) -> Any:
        if isinstance(value, PurePath):
            return str(value)
        return plain(value) if isinstance(value, Enum | datetime | timedelta) else value

    def as_json(self) -> dict[str, Any]:
        """What is printed: no secrets, and no key that was left out because it does not apply."""
        document: dict[str, Any] = scrub_tree(
            plain(self.model_dump(by_alias=True, exclude_unset=True))
        )
        return document


class Document(Schema):
    schema_: Literal[1] = Field(
        default=1, alias="schema", description="The version of these schemas."
    )

    def as_json(self) -> dict[str, Any]:
        return {"schema": 1, **super().as_json()}


class FailureDocument(Document):
    """Printed instead of the command's own document if the command failed or was interrupted.

    It is on one line. A stream of lines that fails ends with it; one that is interrupted just ends.
    """

    error: str
    """The message, which is also on standard error: what happened, where, and what to do next."""
    exit_code: Literal[1, 2, 3, 130]


class WaiverEntry(Schema):
    """The waiver that signs a finding."""

    check: str
    subject: str | None
    """The value that it covers; null if it covers every value."""
    reason: str
    approved_by: str
    expires: str
    """When it ends, in UTC."""


class CauseEntry(Schema):
    """The finding that another one follows from."""

    check: str
    subject: str


class FindingEntry(Schema):
    """What one check says about one subject."""

    check: str
    gate: Literal["launch", "checkin", "health", "seal"]
    outcome: Literal["pass", "fail", "unknown", "n/a"]
    response: Literal["info", "warn", "block", "refuse", "relaunch", "escalate", "stop"]
    subject: str
    """The file, metric, instance or value that the finding is about; empty if the check has only
    one subject. A step in it counts completed updates.
    """
    message: str
    """What the check found, as text. It numbers the steps of rows as the log does; steps that are
    compared with a checkpoint or the final step count completed updates.
    """
    details: Sequence[str]
    waiver: WaiverEntry | None
    why: str
    fix: str
    caused_by: CauseEntry | None
    """The finding that this one follows from, or whose reason it shares; fix that one first."""


class AlertEntry(Schema):
    """A finding of the health gate over time."""

    check: str
    severity: Literal["info", "warn", "critical"]
    subject: str
    state: AlertState
    """`ended-unresolved`: nothing showed that the condition is gone before the instance ended, or
    before three cadences passed in which its check could not judge it. `herorun ack` acknowledges
    it.
    """
    since: str
    message: str
    fix: str
    """What to do next; empty for a check that is gone, and for an alert that ended unresolved."""


class AwaitedEntry(Schema):
    """Evidence that a run has not given yet."""

    evidence: Literal["job", "receipt", "row", "log", "checkpoint"]
    message: str
    until: str | None
    """The time by which it must arrive; null if unknown."""


class UnjudgedEntry(Schema):
    """A metric that some checks cannot judge yet; until then their silence proves nothing."""

    metric: str
    checks: Sequence[str]
    reason: str
    until_row: int | None
    """The earliest row, counted from 1, at which they can judge it; null if more rows alone are
    not enough."""


class Action(Schema):
    """What the babysitter did."""

    action: str
    """`tell` (a notification), `relaunch`, `escalate`, `stop` or `delete node`."""
    key: str
    """Its key: an action is done once per key."""
    title: str
    """What is reported or asked, or which instance it concerns, as text: `tiny-1 as tiny-2` for a
    relaunch that was submitted."""
    why: str
    done: bool
    failed: str
    """Why the action failed; empty if it was done."""


class OtherJob(Schema):
    """A live job other than the current instance."""

    name: str
    job: str
    state: str
    kind: Literal["old attempt", "diagnostic"]


class SourcedEntry(Schema):
    """A value of the plan, and where it comes from."""

    value: Any
    source: str
    inferred: bool


class SubmissionEntry(Schema):
    """The exact request to the scheduler."""

    instance: str
    argv: Sequence[str]
    cwd: str
    env: Mapping[str, str]
    secrets: Sequence[str]
    """Only the names."""
    request: str
    """What the scheduler receives; empty if unknown here."""


class CandidateEntry(Schema):
    """A checkpoint that the run could start from."""

    path: str
    step: int
    temporary: bool
    state: Literal["complete", "incomplete", "unread", "unexamined"]
    is_start: bool
    """Whether the run would start from it."""
    refused: str
    """Why it was not chosen."""
    modified: str | None
    timestamp: str
    """The time that its trainer wrote, possibly without a time zone."""


class DiscardedEntry(Schema):
    """What is lost by a start from the chosen checkpoint."""

    steps: int | None
    accelerator_hours: float | None
    why: str


class Candidates(Schema):
    """The start checkpoint and the others in its folder, newest first."""

    start: str | None
    """The path of the start checkpoint; null where none was chosen."""
    candidates: Sequence[CandidateEntry]
    unexamined: int
    """How many checkpoints were listed and not examined."""
    discarded: DiscardedEntry | None
    unread: Sequence[str]
    """Why a root could not be read."""


class ResponsibleEntry(Schema):
    """What the run is for, and who decides."""

    goal: str
    stop_when: str
    dri: str
    contact: str
    """Who must be contacted before the launch, and how."""
    notifies: str
    """Where the DRI is notified while the run continues."""


class EstimateEntry(Schema):
    """What the run will take; null if nothing states it."""

    flops: float | None
    flops_source: str
    hero: bool
    why: str
    accelerator_hours: float | None
    cost: float | None
    wall_hours: float | None
    time_limit_hours: float | None


class InstanceEntry(Schema):
    """One launch of the run."""

    name: str
    job: str
    started: str
    """When it was submitted; its job may have waited in a queue since."""
    state: str | None = None
    """The job's state, as it was read now or when its end was recorded; null if it is unknown."""


class PauseEntry(Schema):
    until: str
    by: str
    reason: str


class Acked(Schema):
    """An alert that a person acknowledged."""

    alert: str
    by: str
    reason: str
