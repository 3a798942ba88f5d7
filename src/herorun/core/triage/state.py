"""The state of reading a log: a reducer over the matches, of constant size."""

from collections.abc import Iterable
from dataclasses import replace

from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_regex import lazy_regex
from herorun.core.triage.classes import FailureClass, LineRole
from herorun.core.triage.match import COMPLEX, SMALL, Match
from herorun.core.triage.progress import can_survive

_BY_TYPE = (SMALL, COMPLEX)  # of an exception that no row knows
_TASK_FAILED = lazy_regex(r"\bexit ?code:? [1-9]|ChildFailedError|\bTerminating (?:Job)?Step\w")


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
    crowded: Match | None = None  # the newest line about a crowded host
    before: "AttemptLog | None" = None  # the attempt before this one
    loading: Match | None = None  # the newest line that says what was loaded
    retried: int = 0  # the newest line that says that something is tried again


def see(log: AttemptLog, matches: Iterable[Match]) -> AttemptLog:
    """What is known after these, too."""
    for match in matches:
        log = _advance_attempt(log, match)
    return log


def _advance_attempt(log: AttemptLog, match: Match) -> AttemptLog:
    match match.role:
        case LineRole.RESTART:
            return AttemptLog(log.attempt + 1, match.line, before=replace(log, before=None))
        case LineRole.ROOT if not _ended_by_srun(log, match):
            log = replace(log, lately=_with(log.lately, match))
            if match.failure is FailureClass.HOST_CONTENTION:
                log = replace(log, crowded=match)
            return replace(log, root=match) if _explains(match, log.root) else log
        case LineRole.CASCADE:
            return log if log.cascade else replace(log, cascade=match)
        case LineRole.CONFIRMATION:
            confirmation = log.confirmation
            return (
                log if confirmation and confirmation.confirms else replace(log, confirmation=match)
            )
        case LineRole.PROGRESS:
            return _mark_progressed(log) if match.signature == "progress" else _retry_succeeded(log)
        case LineRole.LOADING:
            return replace(log, loading=match)
        case LineRole.BENIGN:
            if match.signature == "retried":
                log = replace(log, retried=match.line)
            return log if log.benign else replace(log, benign=match)
    return log


def _ended_by_srun(log: AttemptLog, match: Match) -> bool:
    """srun cancels a step of which one task failed; a person cancels the job
    (SchedMD/slurm:src/srun/libsrun/launch.c).
    """
    return (
        log.cascade is not None
        and match.signature == "stopped-by-hand"
        and "*** STEP " in match.excerpt
        and _TASK_FAILED.search(log.cascade.excerpt) is not None
    )


def _explains(match: Match, root: Match | None) -> bool:
    """The stronger one, else the earlier; of two in one chain the one that ended it. A program that
    raises one exception from another names what it means, which counts where a row knows it.
    """
    if root is None or match.strength > root.strength:
        return True
    if match.earlier == -root.line:
        return root.signature in _BY_TYPE and match.signature not in _BY_TYPE
    return match.strength == root.strength and match.earlier == root.line


def _with(lately: tuple[Match, ...], match: Match) -> tuple[Match, ...]:
    """A handful, since there are no more classes."""
    earlier = next((other for other in lately if other.failure is match.failure), None)
    if not _explains(match, earlier):
        return lately
    return (*(other for other in lately if other is not earlier), match)


def _retry_succeeded(log: AttemptLog) -> AttemptLog:
    """What was tried again after the root, and then succeeded, was that root; what another process
    complained of and nobody tried again is not.
    """
    root = log.root
    if root is None or log.retried < root.line:
        return log
    if root.failure in (FailureClass.NUMERIC, FailureClass.PREEMPTION):
        return log
    lately = tuple(match for match in log.lately if match.failure is not root.failure)
    return replace(log, root=None, survived=root, lately=lately, retried=0)


def _mark_progressed(log: AttemptLog) -> AttemptLog:
    """What did not stop the training is not why it stopped."""
    log = replace(log, lately=())
    if log.root and can_survive(log.root):
        return replace(log, root=None, cascade=None, survived=log.root)
    return replace(log, cascade=None)
