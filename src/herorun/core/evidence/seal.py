"""Evidence that only the seal gate needs."""

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from herorun.core.evidence.checkpoints import Candidate
from herorun.core.lazy_dataclass import dataclass
from herorun.core.seal.kinds import SealKind


@dataclass(frozen=True)
class Sealing:
    """Which seal is asked for."""

    kind: SealKind = SealKind.FINAL
    name: str = ""  # of the milestone, or the run that replaces this one
    # of the milestone, if it is stated; None: that of the newest permanent checkpoint
    step: int | None = None


@dataclass(frozen=True)
class MilestoneCheckpoint:
    """The checkpoint that a milestone's seal is about, examined; None: there is none."""

    candidate: Candidate | None = None


@dataclass(frozen=True)
class LaunchedEdits:
    """The edits that instances ran with, as the record names them."""

    # instance -> commit, tree, diff
    patches: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    unnamed: tuple[str, ...] = ()  # instances that ran a changed checkout, with unknown edits


@dataclass(frozen=True)
class RecordedEdits:
    """Where the edits of each instance are kept, and of which nothing is left."""

    places: Mapping[str, str] = field(default_factory=dict)  # instance -> where
    missing: Mapping[str, str] = field(default_factory=dict)  # instance -> why
