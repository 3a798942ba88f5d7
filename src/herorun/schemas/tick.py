"""What a tick says of a run: the part that several documents share."""

from collections.abc import Sequence
from typing import Literal

from herorun.schemas.parts import (
    Action,
    AlertEntry,
    AwaitedEntry,
    FindingEntry,
    OtherJob,
    RunState,
    Schema,
    UnjudgedEntry,
)


class TickEntry(Schema):
    """What one tick saw and did."""

    run: RunState
    """`starting`: no evidence yet that the run trains; `healthy`: evidence of the current instance,
    read now, shows that it does.
    """
    monitor: Literal["fresh", "partial", "stale"]
    """Whether the monitoring itself is reliable. `fresh`: all evidence was read. `partial`: some
    could not be read. `stale`: neither the job nor its metrics could be read, or a babysitter that
    the run needs has stopped.
    """
    progress: str
    """`~<step>/<final step>`, as the newest tick read them."""
    findings: Sequence[FindingEntry]
    alerts: Sequence[AlertEntry]
    actions: Sequence[Action]
    missing_evidence: Sequence[AwaitedEntry]
    """Evidence that has not arrived; empty once it is proven that the run trains."""
    other_jobs: Sequence[OtherJob]
    unread: Sequence[str] = ()
    """The evidence that could not be read, as `type: reason`; `all: reason` if only the record was
    read.
    """
    unjudged: Sequence[UnjudgedEntry] = ()
    """Metrics that some checks cannot judge yet."""


class StatusFields(TickEntry):
    """How a run stands."""

    doubts: Sequence[str]
    """What could not be determined."""
    contract: str
    """`as admitted`, or how it drifted."""
    pushed: bool | None
    """Whether the remote has the newest line of the record; null if a part of it was pushed, and
    whether the remote still has its branch could not be read."""
