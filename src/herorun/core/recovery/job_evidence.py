"""Evidence about an ended or running job, besides the job itself."""

from dataclasses import field

from herorun.core.evidence import (
    Checkpoints,
    Disks,
    Evidence,
    History,
    Nothing,
    Receipt,
    RootAtEnd,
    Triage,
    Unavailable,
)
from herorun.core.lazy_dataclass import dataclass


@dataclass(frozen=True, kw_only=True)
class EndContext:
    """Evidence about an end, besides the job itself. None: not read, or unreadable."""

    triage: Triage | None = None
    root: RootAtEnd | None = None
    root_unread: str = ""  # why it is unknown whether its roots exist
    checkpoints: Checkpoints | None = None
    disks: Disks | None = None
    receipt_gone: bool = False  # searched for, and not found
    history: History = field(default_factory=History)


def end_context_of(evidence: Evidence) -> EndContext:
    """The scene, from a tick's evidence."""
    triage, root, checkpoints = (
        evidence.get(Triage),
        evidence.get(RootAtEnd),
        evidence.get(Checkpoints),
    )
    disks, history = evidence.get(Disks), evidence.get(History)
    return EndContext(
        triage=triage if isinstance(triage, Triage) else None,
        root=root if isinstance(root, RootAtEnd) else None,
        root_unread=root.why if isinstance(root, Unavailable) else "",
        checkpoints=checkpoints if isinstance(checkpoints, Checkpoints) else None,
        disks=disks if isinstance(disks, Disks) else None,
        receipt_gone=isinstance(evidence.get(Receipt), Nothing),
        history=history if isinstance(history, History) else History(),
    )
