"""The state of reading a log: a reducer over the matches, of constant size."""

from collections.abc import Iterable
from dataclasses import replace

from herorun.core.lazy_dataclass import dataclass
from herorun.core.triage.classes import FailureClass, LineRole
from herorun.core.triage.match import Match
from herorun.core.triage.progress import can_survive


@dataclass(frozen=True)
class AttemptLog:
    """What the newest attempt said."""

    attempt: int = 1
    began: int = 0  # the line of the restart marker
    root: Match | None = None
    cascade: Match | None = None
    confirmation: Match | None = None
    benign: Match | None = None
    survived: Match | None = None  # a root that the training went on after
    # of each class the root of what was said since the training last went on
    lately: tuple[Match, ...] = ()
    crowded: Match | None = None  # the newest line that speaks of a crowded host
    before: "AttemptLog | None" = None  # the attempt before this one
    loading: Match | None = None  # the newest line that says what was loaded
    retried: int = 0  # the newest line that says that something is tried again


def see(seen: AttemptLog, matches: Iterable[Match]) -> AttemptLog:
    """What is known after these, too."""
    for match in matches:
        seen = _advance_attempt(seen, match)
    return seen


def _advance_attempt(seen: AttemptLog, match: Match) -> AttemptLog:
    match match.role:
        case LineRole.RESTART:
            return AttemptLog(seen.attempt + 1, match.line, before=replace(seen, before=None))
        case LineRole.ROOT:
            seen = replace(seen, lately=_with(seen.lately, match))
            if match.failure is FailureClass.HOST_CONTENTION:
                seen = replace(seen, crowded=match)
            return replace(seen, root=match) if _explains(match, seen.root) else seen
        case LineRole.CASCADE:
            return seen if seen.cascade else replace(seen, cascade=match)
        case LineRole.CONFIRMATION:
            confirmation = seen.confirmation
            return (
                seen
                if confirmation and confirmation.confirms
                else replace(seen, confirmation=match)
            )
        case LineRole.PROGRESS:
            return _went_on(seen) if match.signature == "progress" else _retry_succeeded(seen)
        case LineRole.LOADING:
            return replace(seen, loading=match)
        case LineRole.BENIGN:
            if match.signature == "retried":
                seen = replace(seen, retried=match.line)
            return seen if seen.benign else replace(seen, benign=match)
    return seen


def _explains(match: Match, root: Match | None) -> bool:
    """The stronger one, else the earlier; of two in one chain the one that ended it."""
    if root is None or match.strength > root.strength:
        return True
    return match.strength == root.strength and match.earlier == root.line


def _with(lately: tuple[Match, ...], match: Match) -> tuple[Match, ...]:
    """A handful, since there are no more classes."""
    known = next((other for other in lately if other.failure is match.failure), None)
    if not _explains(match, known):
        return lately
    return (*(other for other in lately if other is not known), match)


def _retry_succeeded(seen: AttemptLog) -> AttemptLog:
    """What was tried again after the root, and then succeeded, was that root; what another process
    complained of and nobody tried again is not.
    """
    root = seen.root
    if root is None or seen.retried < root.line:
        return seen
    if root.failure in (FailureClass.NUMERIC, FailureClass.PREEMPTION):
        return seen
    lately = tuple(match for match in seen.lately if match.failure is not root.failure)
    return replace(seen, root=None, survived=root, lately=lately, retried=0)


def _went_on(seen: AttemptLog) -> AttemptLog:
    """What did not stop the training is not why it stopped."""
    seen = replace(seen, lately=())
    if seen.root and can_survive(seen.root):
        return replace(seen, root=None, cascade=None, survived=seen.root)
    return replace(seen, cascade=None)
