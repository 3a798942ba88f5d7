"""What was seen of an ended or running job in addition to the job itself."""

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
class Scene:
    """What was seen of an end besides the job itself. None: it was not read, or it could not be
    read.
    """

    triage: Triage | None = None
    root: RootAtEnd | None = None
    root_unread: str = ""  # why it is unknown whether its roots are there
    checkpoints: Checkpoints | None = None
    disks: Disks | None = None
    receipt_gone: bool = False  # looked for, and nowhere
    history: History = field(default_factory=History)


def scene_of(evidence: Evidence) -> Scene:
    """From what a tick read."""
    triage, root, checkpoints = (
        evidence.get(Triage),
        evidence.get(RootAtEnd),
        evidence.get(Checkpoints),
    )
    disks, history = evidence.get(Disks), evidence.get(History)
    return Scene(
        triage=triage if isinstance(triage, Triage) else None,
        root=root if isinstance(root, RootAtEnd) else None,
        root_unread=root.why if isinstance(root, Unavailable) else "",
        checkpoints=checkpoints if isinstance(checkpoints, Checkpoints) else None,
        disks=disks if isinstance(disks, Disks) else None,
        receipt_gone=isinstance(evidence.get(Receipt), Nothing),
        history=history if isinstance(history, History) else History(),
    )
