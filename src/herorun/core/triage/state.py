"""The state of reading a log: a reducer over the matches, of constant size."""

from collections.abc import Iterable
from dataclasses import replace

from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_regex import lazy_regex
from herorun.core.triage.classes import FailureClass, LineRole
from herorun.core.triage.match import (
    COMPLEX,
    SAVE_FAILED,
    SMALL,
    STORAGE_THROTTLED,
    UNREACHABLE,
    Match,
)
from herorun.core.triage.progress import can_survive

_BY_TYPE = (SMALL, COMPLEX)  # of an exception that no row knows
# Classes after which a job is relaunched without a question.
_RELAUNCH_CLASSES = (
    FailureClass.PREEMPTION,
    FailureClass.TIMEOUT,
    FailureClass.NODE_FAILURE,
    FailureClass.NETWORK_COLLECTIVE,
    FailureClass.BAD_ACCELERATOR,
    FailureClass.CAPACITY,
    FailureClass.HOST_CONTENTION,
    FailureClass.STORAGE,
)
_SERVICES = (UNREACHABLE, STORAGE_THROTTLED)
_NOT_FAILED = (FailureClass.NOT_A_FAILURE, FailureClass.BENIGN)
_CAUSES = 128  # exceptions that another may be raised from: two of each stream that is followed
_MESSAGES = 8  # of wrappers, each once
_CRASHES = ("crash", "abort")
_STACK_LINES = 40  # from a crash to the frame that explains it
_TEARDOWN_LINES = 40  # from the message that the training is done to the crash
_HANDLER_LINES = 3  # from an error that a trainer prints to what it does about it
_ENDED_STEP = lazy_regex(r"\bTerminating (?:job step |StepId=)(\d[\d.+]*)")
_CANCELLED_STEP = lazy_regex(r"\*\*\* STEP (\d[\d.+]*)")
_MESSAGE = lazy_regex(r"\b[A-Za-z_][\w.]{0,200}(?:Error|Exception): (.{8,})")
# What a library raises before it says which service did not answer.
_TIMED_OUT = lazy_regex(
    r"\b(?:TimeoutError|socket\.timeout): .{0,24}timed out\s*$|\bTimeoutError\s*$"
)


@dataclass(frozen=True, kw_only=True)
class AttemptLog:
    """What the log of the newest attempt shows."""

    attempt: int = 1
    began: int = 0  # the line of the restart marker
    root: Match | None = None
    cascade: Match | None = None
    confirmation: Match | None = None
    benign: Match | None = None
    survived: Match | None = None  # a root after which the training continued
    # by class, the root since the training last continued
    lately: tuple[Match, ...] = ()
    crowded: Match | None = None  # the newest line about a crowded host
    before: "AttemptLog | None" = None  # the attempt before this one
    loading: Match | None = None  # the newest line that says what was loaded
    retried: int = 0  # the newest line that says that something is tried again
    # the lines of exceptions that are not relaunched, or were raised from or during one
    bugs: tuple[int, ...] = ()
    # messages of the code around a bug: no cause, however often they are repeated
    wrapper_messages: tuple[str, ...] = ()
    ended_step: str = ""  # the newest Slurm step that srun itself ended
    suspect: Match | None = None  # the newest line that looks like a failure, and is not known
    success: Match | None = None  # what shows that it trains, or ended as it should
    end_message: Match | None = None  # the newest that says that it ended as it should


_STEPS = ("trains", "outlived")  # which no message is
_PARTIAL = ("trains", "last-step", "part-ended-well")  # of one rank, or one job


def see(log: AttemptLog, matches: Iterable[Match]) -> AttemptLog:
    """What is known after these, too."""
    for match in matches:
        log = _advance_attempt(log, match)
    return log


def _advance_attempt(log: AttemptLog, match: Match) -> AttemptLog:
    if match.role in (LineRole.ROOT, LineRole.CASCADE):
        is_wrapper = _wraps_bug(log, match)
        log = _with_bug(log, match)
        if is_wrapper:
            return _without_message(log, match)
        if _repeats_wrapper(log, match):
            return log
    match match.role:
        case LineRole.RESTART:
            return AttemptLog(
                attempt=log.attempt + 1, began=match.line, before=replace(log, before=None)
            )
        case LineRole.ROOT if not _ended_by_srun(log, match):
            log = replace(log, lately=_with(log.lately, match))
            if match.failure is FailureClass.HOST_CONTENTION:
                log = replace(log, crowded=match)
            return replace(log, root=match) if _explains(match, log.root) else log
        case LineRole.CASCADE:
            return _with_cascade(log, match)
        case LineRole.CONFIRMATION:
            confirmation = log.confirmation
            return (
                log if confirmation and confirmation.confirms else replace(log, confirmation=match)
            )
        case LineRole.PROGRESS:
            if match.signature == "batch-skipped":
                return _batch_skipped(log, match)
            return _mark_progressed(log) if match.signature == "progress" else _retry_succeeded(log)
        case LineRole.LOADING:
            return replace(log, loading=match)
        case LineRole.SUSPECT:
            return replace(log, suspect=match)
        case LineRole.SUCCESS if match.line > log.began:
            return _with_success(log, match)
        case LineRole.BENIGN:
            if match.signature == "retried":
                suspect = None if _is_handled(log.suspect, match) else log.suspect
                log = replace(log, retried=match.line, suspect=suspect)
            if match.signature == "crash-in-destructor":
                return _tidied_up(log, match)
            return log if log.benign else replace(log, benign=match)
    return log


def _with_cascade(log: AttemptLog, match: Match) -> AttemptLog:
    """The earliest, but a failed save counts before how other processes ended."""
    if step := _ENDED_STEP.search(match.excerpt):
        log = replace(log, ended_step=step[1])
    keeps = log.cascade and (log.cascade.signature == SAVE_FAILED or match.signature != SAVE_FAILED)
    return log if keeps else replace(log, cascade=match)


def _with_success(log: AttemptLog, match: Match) -> AttemptLog:
    """A step or the end of one process does not show that an error before it was harmless: other
    ranks continue for a while.
    """
    suspect = log.suspect
    if suspect and match.signature not in _PARTIAL and suspect.line <= match.line:
        suspect = None
    end_message = log.end_message if match.signature in _STEPS else match
    if match.signature == "outlived" and end_message and match.line > end_message.line:
        end_message = None  # it was of an earlier phase, or of an upload
    return replace(log, suspect=suspect, success=match, end_message=end_message)


def _ended_by_srun(log: AttemptLog, match: Match) -> bool:
    """srun names and cancels a step of which one task failed; a person cancels the job
    (SchedMD/slurm:src/srun/libsrun/launch.c).
    """
    step = _CANCELLED_STEP.search(match.excerpt)
    return match.signature == "stopped-by-hand" and step is not None and step[1] == log.ended_step


def _explains(match: Match, root: Match | None) -> bool:
    """The stronger one, otherwise the earlier; of two in one chain the one that ended it."""
    if root is None:
        return True
    if root.signature in _SERVICES and match.signature in _BY_TYPE and match.earlier < 0:
        return False  # the program's wrapper around it
    if match.strength > root.strength or _names_service(match, root):
        return True
    if match.earlier == -root.line:
        return _names_meaning(match, root)
    return match.strength == root.strength and match.earlier == root.line


def _names_service(match: Match, root: Match) -> bool:
    return (
        match.signature == UNREACHABLE
        and abs(match.earlier) == root.line
        and _TIMED_OUT.search(root.excerpt) is not None
    )


def _names_meaning(match: Match, root: Match) -> bool:
    """A program that raises one exception from another names what it means, which counts where a
    row knows it. Of two bare time-outs the later is nearer to the name of the service.
    """
    if _TIMED_OUT.search(root.excerpt) and _TIMED_OUT.search(match.excerpt):
        return True
    return root.signature in _BY_TYPE and match.signature not in _BY_TYPE


def _with_bug(log: AttemptLog, match: Match) -> AttemptLog:
    """A time-out that may be a service's is kept as negative."""
    is_cause = match.role is LineRole.ROOT and match.failure not in (
        *_RELAUNCH_CLASSES,
        *_NOT_FAILED,
    )
    if not is_cause and not _of_bug(log, match):
        return log
    line = -match.line if is_cause and _TIMED_OUT.search(match.excerpt) else match.line
    return replace(log, bugs=(*log.bugs, line)[-_CAUSES:])


def _of_bug(log: AttemptLog, match: Match) -> bool:
    """Whether a bug stands further up in its chain."""
    cause = abs(match.earlier)
    if not cause:
        return False
    return cause in log.bugs or (-cause in log.bugs and match.signature != UNREACHABLE)


def _wraps_bug(log: AttemptLog, match: Match) -> bool:
    """No bug is relaunched on the word of the code around it, however sure it sounds."""
    return (
        match.role is LineRole.ROOT and match.failure in _RELAUNCH_CLASSES and _of_bug(log, match)
    )


def _repeats_wrapper(log: AttemptLog, match: Match) -> bool:
    return match.failure in _RELAUNCH_CLASSES and any(
        message in match.excerpt for message in log.wrapper_messages
    )


def _without_message(log: AttemptLog, wrapper: Match) -> AttemptLog:
    """What the wrapper says is no cause, and is none where a logger printed it before."""
    inner = _MESSAGE.search(wrapper.excerpt)
    message = (inner[1] if inner else wrapper.excerpt).strip()
    others = (other for other in log.wrapper_messages if other != message)
    log = replace(log, wrapper_messages=(*others, message)[-_MESSAGES:])
    if log.root is None or not _repeats_wrapper(log, log.root):
        return log
    lately = tuple(match for match in log.lately if not _repeats_wrapper(log, match))
    return replace(log, root=_strongest(lately), lately=lately)


def _strongest(lately: tuple[Match, ...]) -> Match | None:
    root = None
    for match in lately:
        root = match if _explains(match, root) else root
    return root


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


def _tidied_up(log: AttemptLog, match: Match) -> AttemptLog:
    """A crash that a destructor explains is none of the training, right after that is done: further
    down, another training may have begun.
    """
    root, end_message = log.root, log.end_message
    if root is None or end_message is None or root.signature not in _CRASHES:
        return log
    if not 0 < root.line - end_message.line <= _TEARDOWN_LINES:
        return log
    if not root.line <= match.line <= root.line + _STACK_LINES:
        return log
    lately = tuple(other for other in log.lately if other.signature not in _CRASHES)
    suspect = log.suspect if log.suspect and log.suspect.line < end_message.line else None
    return replace(log, root=_strongest(lately), lately=lately, benign=match, suspect=suspect)


def _is_handled(before: Match | None, match: Match) -> bool:
    return before is not None and match.line - before.line <= _HANDLER_LINES


def _batch_skipped(log: AttemptLog, match: Match) -> AttemptLog:
    """The out-of-memory error that the trainer printed just before is the one that it handled; a
    traceback is perhaps of another rank.
    """
    root = log.root
    if (
        root is None
        or root.failure is not FailureClass.OOM_ACCELERATOR
        or root.where is not None
        or match.line - root.line > _HANDLER_LINES
    ):
        return log
    return _retry_succeeded(replace(log, retried=match.line))


def _mark_progressed(log: AttemptLog) -> AttemptLog:
    """What did not stop the training is not why it stopped; a save that failed stays on record."""
    cascade = log.cascade
    log = replace(log, lately=(), cascade=None, wrapper_messages=())
    if log.root and can_survive(log.root):
        return replace(log, root=None, survived=log.root)
    return replace(log, survived=cascade) if cascade and cascade.signature == SAVE_FAILED else log
