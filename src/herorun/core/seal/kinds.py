"""The kinds of a seal, and which of the seal gate's checks each of them asks."""

from collections.abc import Mapping
from enum import StrEnum


class SealKind(StrEnum):
    """What a seal says of its run."""

    FINAL = "final"  # it is done
    MILESTONE = "milestone"  # it has reached this checkpoint, and continues
    ABORTED = "aborted"  # it was given up
    SUPERSEDED = "superseded"  # another run continues in its place

    @property
    def ends(self) -> bool:
        """Whether nothing of the run continues after it."""
        return self is not SealKind.MILESTONE


_ALL = frozenset(SealKind)
_ENDS = frozenset(kind for kind in SealKind if kind.ends)
_FINAL = frozenset({SealKind.FINAL})
_MILESTONE = frozenset({SealKind.MILESTONE})

# A check that is not named here, as one of a plug-in, holds for every kind.
HOLDS: Mapping[str, frozenset[SealKind]] = {
    "job-not-succeeded": _FINAL,
    "surviving-job": _ENDS,
    "short-of-final-step": _FINAL,
    "incomplete-final-checkpoint": _FINAL,
    "incomplete-milestone-checkpoint": _MILESTONE,
    "unfinished-tracker-run": _FINAL,
    "missing-final-metrics": _FINAL,
    "open-alerts": frozenset({SealKind.FINAL, SealKind.MILESTONE}),
    "not-checked-in": frozenset({SealKind.FINAL, SealKind.MILESTONE}),
    "babysitter-still-running": _ENDS,
    "unrecorded-patch": _ALL,
    "no-remote": _ALL,
    "unpushed-record": _ALL,
    "unused-waiver": _ALL,
}


def applies_to(check: str, kind: SealKind) -> bool:
    """Whether a check of the seal gate is asked of a seal of that kind.

    >>> applies_to("job-not-succeeded", SealKind.MILESTONE)
    False
    >>> applies_to("a-check-of-a-plug-in", SealKind.MILESTONE)
    True
    """
    return kind in HOLDS.get(check, _ALL)
