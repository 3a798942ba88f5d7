"""The verdict on a log: one root cause, in the newest attempt."""

from dataclasses import replace

from herorun.core.lazy_dataclass import dataclass
from herorun.core.triage.classes import QUIET, FailureClass, LineRole, LoadedState, RootStrength
from herorun.core.triage.match import CASCADE, PIPE_CLOSED, SAVE_FAILED, Match
from herorun.core.triage.signatures import SignatureSet
from herorun.core.triage.state import AttemptLog
from herorun.core.triage.tracebacks import Frame

_SIGNAL = 128


@dataclass(frozen=True, kw_only=True)
class TriageVerdict:
    """The class of one log. `line` and `excerpt` are the anchor's; a quiet log has none."""

    failure: FailureClass
    role: LineRole
    line: int | None
    excerpt: str
    fingerprint: str
    advice: str
    signature: str = ""
    where: Frame | None = None
    person: bool = False
    attempt: int = 1


def judge_log(
    signature_set: SignatureSet, log: AttemptLog, last_line: int, exit_code: int | None = None
) -> TriageVerdict:
    """`last_line` is the number of the last line that was not blank (`Scan.last_line`): a restart
    that nothing followed has no story yet. Of a log that nobody writes any more, ask `no_end`.
    """
    if log.before and last_line <= log.began:
        log = replace(log.before, attempt=log.attempt)
    code = exit_code if exit_code is None or exit_code >= 0 else _SIGNAL - exit_code
    if code == 0:
        return _ended_well(signature_set, log)
    root = log.root
    if root and root.strength > RootStrength.FAINT and code not in _SAYS_MORE:
        return _verdict_of(signature_set, root, log)
    return _settle_by_confirmation(signature_set, log, code) or _without_a_root(
        signature_set, log, code, last_line
    )


LONG_SILENCE = 60.0  # minutes; a trainer that runs writes at least a line in them
_SAYS_MORE = (78,)
# Cascades after which something may be missing that the program should have written.
_INCOMPLETE = (
    SAVE_FAILED,
    "interpreter-shutdown",
    "loader-worker",
    "launcher-end",
    CASCADE,
    PIPE_CLOSED,
)


def _settle_by_confirmation(
    signature_set: SignatureSet, attempt: AttemptLog, code: int | None
) -> TriageVerdict | None:
    """A faint end, or an exit code, that a confirmation explains."""
    confirmation = attempt.confirmation
    faint = {attempt.root.signature if attempt.root else "", f"exit-{code}"}
    if not confirmation or not faint & set(confirmation.confirms):
        return None
    anchor = attempt.root or confirmation
    verdict = _verdict_of(signature_set, anchor, attempt)
    return replace(
        verdict,
        failure=confirmation.failure,
        role=LineRole.ROOT,
        advice=f"{verdict.advice} {signature_set.signature(confirmation.signature).advice}"
        if attempt.root
        else verdict.advice,
    )


def _without_a_root(
    signature_set: SignatureSet, attempt: AttemptLog, code: int | None, last_line: int
) -> TriageVerdict:
    meaning = signature_set.exit_codes.get(code) if code is not None else None
    match = attempt.root or attempt.cascade or attempt.suspect
    if meaning:
        verdict = _verdict_of(signature_set, match, attempt) if match else _nothing(attempt)
        return replace(
            verdict, failure=meaning.failure, role=LineRole.ROOT, advice=meaning.advice, person=True
        )
    if match:
        return replace(_verdict_of(signature_set, match, attempt), failure=_faint(match))
    if code or not last_line:
        return replace(_nothing(attempt), advice=_EMPTY if not last_line else _NO_WORD, person=True)
    return _doubt_success(_quiet(signature_set, attempt), attempt)


def _doubt_success(verdict: TriageVerdict, attempt: AttemptLog) -> TriageVerdict:
    """That nothing in a log looks wrong is no success: the line that shows one may be missing."""
    if verdict.failure is not FailureClass.BENIGN or attempt.success:
        return verdict
    return replace(
        verdict,
        failure=FailureClass.UNKNOWN,
        role=LineRole.CASCADE,
        advice=f"{verdict.advice} {_NO_SUCCESS}",
    )


def _faint(match: Match) -> FailureClass:
    """What only follows from something else has no class of its own."""
    return match.failure if match.role is LineRole.ROOT else FailureClass.UNKNOWN


_SURVIVED_ADVICE = (
    "It did not end the training, which continued for many steps: investigate it later."
)
_NO_TEXT = "This is no text, so nothing can be read in it: name the job's own log, unpacked."
_NO_LOG = (
    "By its name this is a document or a program, and no log: name the job's own log, or pipe "
    "this into `herorun triage -`."
)
_EMPTY = (
    "The log is empty. If checkpoints or metrics advance, the output is block-buffered "
    "(PYTHONUNBUFFERED=1), not stuck."
)
_NO_SUCCESS = (
    "But neither a step at its end nor a message of success shows that it trained: give the exit "
    "code, or a longer part of the log."
)
_NO_END = (
    "But nothing was written for {:.0f} min, and no message says that it ended: it hangs, or "
    "something ended it. Look whether the job still runs, or give its exit code."
)
_NOT_THIS = "It ended with exit code 0, so this did not end it: verify the artefacts."
_OWN_LIMIT = (
    "The trainer's own time limit ended it, as it was set to. If the training is not done, raise "
    "that limit and launch it again."
)
_NO_WORD = (
    "It failed and the log does not say why: look at the scheduler's record, and at the other "
    "ranks' logs."
)


def _ended_well(signature_set: SignatureSet, attempt: AttemptLog) -> TriageVerdict:
    """Exit code 0 claims a success: what the log complains of did not end it, a preemption
    apart. Of what only follows from something else, tools print much in any log.
    """
    root, cascade = attempt.root, attempt.cascade
    if root and root.failure is FailureClass.PREEMPTION:
        return _verdict_of(signature_set, root, attempt)
    if root and root.failure is FailureClass.NOT_A_FAILURE:
        return replace(_verdict_of(signature_set, root, attempt), person=False)
    match = root or (cascade if cascade and cascade.signature in _INCOMPLETE else attempt.suspect)
    if match:
        advice = _OWN_LIMIT if match.signature == "trainer-time-limit" else _NOT_THIS
        return replace(
            _verdict_of(signature_set, match, attempt),
            failure=FailureClass.NOT_A_FAILURE,
            advice=advice,
            person=False,
        )
    return _quiet(signature_set, attempt)


def _verdict_of(signature_set: SignatureSet, match: Match, attempt: AttemptLog) -> TriageVerdict:
    row = {signature.id: signature for signature in signature_set.signatures}.get(match.signature)
    return TriageVerdict(
        failure=match.failure,
        role=match.role,
        line=match.line,
        excerpt=match.excerpt,
        fingerprint=_fingerprint_of(match),
        advice=row.advice if row else "The traceback is cut: look for its end in the other logs.",
        signature=match.signature,
        where=match.where,
        person=row.person if row else True,
        attempt=attempt.attempt,
    )


def _fingerprint_of(match: Match) -> str:
    """None for a suspect: it may be harmless, so it says of no two ends that they are the same
    failure, or that they are not.
    """
    return "" if match.role is LineRole.SUSPECT else match.fingerprint


def no_end(verdict: TriageVerdict, attempt: AttemptLog, silent_minutes: float) -> TriageVerdict:
    """The same of a log that was last written so long ago: that it trained at its end is no
    success, unless a message says that it ended.
    """
    is_quiet = verdict.failure is FailureClass.BENIGN and not attempt.end_message
    if not is_quiet or silent_minutes < LONG_SILENCE:
        return verdict
    message = _NO_END.format(silent_minutes)
    return replace(
        verdict,
        failure=FailureClass.UNKNOWN,
        role=LineRole.CASCADE,
        advice=f"{verdict.advice} {message}",
    )


def no_text(verdict: TriageVerdict) -> TriageVerdict:
    """The same of a file that is no text: that nothing was found in it says nothing."""
    if verdict.failure not in (FailureClass.BENIGN, FailureClass.UNKNOWN) or verdict.signature:
        return verdict
    return replace(
        verdict, failure=FailureClass.UNKNOWN, role=LineRole.CASCADE, advice=_NO_TEXT, person=True
    )


# Prose and code mention failures that did not happen.
DOCUMENTS = frozenset(
    {".md", ".markdown", ".rst", ".adoc", ".tex", ".html", ".htm", ".py", ".toml", ".ipynb"}
)


def part_read(verdict: TriageVerdict, unread_bytes: int) -> TriageVerdict:
    """The same of a log of which so many bytes in its middle were not read: that nothing was found
    says nothing.
    """
    message = (
        f"{unread_bytes / (1 << 20):.1f} MiB in the middle of the log were not read, because "
        "one reading has a limit: "
        "the root cause may be there. Split the log, and give `herorun triage` its parts."
    )
    partial = replace(
        verdict, advice=f"{verdict.advice} {message}" if verdict.line else message, person=True
    )
    if verdict.failure in QUIET:
        return replace(partial, failure=FailureClass.UNKNOWN, role=LineRole.CASCADE)
    return partial


def no_log(verdict: TriageVerdict) -> TriageVerdict:
    """The same of a document: what it mentions, it did not go through."""
    nothing = replace(_nothing(AttemptLog()), advice=_NO_LOG, person=True)
    return replace(nothing, attempt=verdict.attempt)


def _nothing(attempt: AttemptLog) -> TriageVerdict:
    return TriageVerdict(
        failure=FailureClass.UNKNOWN,
        role=LineRole.CASCADE,
        line=None,
        excerpt="",
        fingerprint="",
        advice="",
        attempt=attempt.attempt,
    )


def _quiet(signature_set: SignatureSet, attempt: AttemptLog) -> TriageVerdict:
    """Nothing ended it."""
    if (
        attempt.loading
        and signature_set.signature(attempt.loading.signature).loads is not LoadedState.RESUMED
    ):
        return _verdict_of(signature_set, attempt.loading, attempt)
    if attempt.survived:
        verdict = _verdict_of(signature_set, attempt.survived, attempt)
        return replace(
            verdict, failure=FailureClass.NOT_A_FAILURE, advice=_SURVIVED_ADVICE, person=False
        )
    if attempt.benign:
        return _verdict_of(signature_set, attempt.benign, attempt)
    return replace(
        _nothing(attempt),
        failure=FailureClass.BENIGN,
        role=LineRole.BENIGN,
        advice=f"Nothing in it looks wrong{_describe_success(attempt)}.",
    )


def _describe_success(attempt: AttemptLog) -> str:
    """The evidence behind the good news; "" if only the exit code claims it."""
    if attempt.end_message:
        return f", and its line {attempt.end_message.line} shows that it ended as it should"
    return f", and its line {attempt.success.line} shows that it trained" if attempt.success else ""
