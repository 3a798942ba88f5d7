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
    Shape,
)


class TickEntry(Shape):
    """What one tick saw and did."""

    run: RunState
    """`starting`: nothing shows yet that it trains; `healthy`: evidence of the present instance, read now, shows it."""
    monitor: Literal["fresh", "partial", "stale"]
    """Whether the monitoring itself is reliable."""
    progress: str
    """`~<reached>/<final step>`."""
    findings: Sequence[FindingEntry]
    alerts: Sequence[AlertEntry]
    actions: Sequence[Action]
    missing_evidence: Sequence[AwaitedEntry]
    """Evidence that is missing; empty for a run that is proven to train."""
    other_jobs: Sequence[OtherJob]


class StatusFields(TickEntry):
    """How a run stands."""

    doubts: Sequence[str]
    """What could not be determined."""
    contract: str
    """`as admitted`, or how it drifted."""
    pushed: bool
    """Whether the remote has the newest line of the record."""
