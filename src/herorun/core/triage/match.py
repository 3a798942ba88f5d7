"""What one line means: its signature, or the exception that it ends."""

import re

from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_regex import lazy_regex
from herorun.core.triage.classes import FailureClass, LineRole, RootStrength
from herorun.core.triage.fingerprint import fingerprint
from herorun.core.triage.lines import LogLine
from herorun.core.triage.signatures import LogSignature, SignatureSet
from herorun.core.triage.tracebacks import Frame, LoggedException

# the rows of exceptions that no row knows: a bug, or the end of another process
SMALL, COMPLEX, CASCADE = "code-bug-small", "code-bug-complex", "process-cascade"
PIPE_CLOSED = "pipe-closed"
CORRUPT = "corrupt-data"
SAVE_FAILED = "save-failed"
UNREACHABLE, STORAGE_THROTTLED = "service-unreachable", "storage-throttled"
SUSPECT = "unexplained-error"
# The levels of a logger's prefix; PyTorch and glog print a letter for the milder ones.
_SEVERE = lazy_regex(r"(?<![\w-])(?:ERROR|CRITICAL|FATAL)(?![\w-])")
_MILD = lazy_regex(r"(?<![\w-])(?:WARN(?:ING)?|INFO|DEBUG)(?![\w-])|\[[WI]\d{0,4} |\b[WI]\d{4} ")
_MILD_CONTENT = lazy_regex(
    r"^\W{0,4}(?:[WI] \S+[/.]|WARN|INFO\b|DEBUG\b|note\b"
    # libibverbs: Warning: couldn't load driver
    r"|(?:(?!\S*(?:error|fatal|critical|panic|fail|abort|crash|kill))\S{1,60}\s){1,2}"
    r"(?:(?-i:WARN(?:ING)?\b)|warn(?:ing)?:))",
    re.IGNORECASE,
)
_EXCERPT = 400


@dataclass(frozen=True, kw_only=True)
class Match:
    """One line that says something."""

    signature: str
    failure: FailureClass
    role: LineRole
    strength: RootStrength
    line: int  # of the log, from 1
    excerpt: str
    fingerprint: str
    where: Frame | None = None  # in the user's code
    # the line of the exception that was being handled; of one that it was raised from, negative
    earlier: int = 0
    confirms: tuple[str, ...] = ()


def of_line(signature_set: SignatureSet, line: LogLine, number: int) -> list[Match]:
    """All that the line matches, in the order of the signatures; a benign row keeps the others
    quiet, and any other row a suspicion.
    """
    signatures = _candidates(signature_set, line.content)
    hits = _hits(signature_set, line.content, signatures) or _suspicions(
        signature_set, line, signatures
    )
    return [_match(signature, start, line, number) for signature, start in hits]


def _suspicions(
    signature_set: SignatureSet, line: LogLine, signatures: list[LogSignature]
) -> list[tuple[LogSignature, int]]:
    """An error by the level that its logger gave it, or else by its words."""
    severe = _SEVERE.search(line.stream) is not None
    suspects = [signature for signature in signatures if signature.role is LineRole.SUSPECT]
    if not (severe or suspects):
        return []
    if _MILD.search(line.stream) or _MILD_CONTENT.match(line.content):
        return []
    if signature_set.source_text.match(line.content):
        return []
    hedge = signature_set.hedges.search(line.content)
    hits = _matches(
        suspects, line.content, line.content[: hedge.start()] if hedge else line.content
    )
    return hits or ([(signature_set.signature(SUSPECT), 0)] if severe else [])


def of_exception(
    signature_set: SignatureSet, line: LogLine, number: int, exception: LoggedException
) -> list[Match]:
    """The signature of the exception's own line, if there is one; otherwise what its type shows."""
    candidates = _candidates(signature_set, line.content)
    hits = [
        signature
        for signature, _ in _hits(signature_set, line.content, candidates)
        if signature.role in (LineRole.ROOT, LineRole.CASCADE)
    ]
    if not hits or exception.peer_left:
        hits = [_by_type(signature_set, exception)]
    return [_match_exception(hit, line, number, exception) for hit in hits]


def failed_save(
    signature_set: SignatureSet, line: LogLine, number: int, exception: LoggedException
) -> Match:
    """An exception that ended nothing, but a save."""
    return _match_exception(signature_set.signature(SAVE_FAILED), line, number, exception)


def _match_exception(
    hit: LogSignature, line: LogLine, number: int, exception: LoggedException
) -> Match:
    site = exception.where.site if exception.where else ""
    return Match(
        signature=hit.id,
        failure=hit.failure,
        role=hit.role,
        strength=_strength(hit, exception),
        line=number,
        excerpt=line.text[:_EXCERPT],
        fingerprint=fingerprint(hit.id, exception.exception, site, exception.message),
        where=exception.where,
        earlier=exception.earlier,
    )


def match_torn_traceback(traceback_line: int, where: Frame | None, text: str) -> Match:
    """A traceback whose end was never written."""
    mark = fingerprint("torn", "", where.site if where else "", "")
    unknown = FailureClass.UNKNOWN
    return Match(
        signature="torn-traceback",
        failure=unknown,
        role=LineRole.CASCADE,
        strength=RootStrength.FAINT,
        line=traceback_line,
        excerpt=text,
        fingerprint=mark,
        where=where,
    )


def _candidates(signature_set: SignatureSet, content: str) -> list[LogSignature]:
    """The rows that have a keyword in the line."""
    return [signature_set.signatures[row] for row in signature_set.gate.rows(content)]


def _hits(
    signature_set: SignatureSet, content: str, candidates: list[LogSignature]
) -> list[tuple[LogSignature, int]]:
    signatures = [each for each in candidates if each.role is not LineRole.SUSPECT]
    if not signatures or signature_set.source_text.match(content):
        return []
    hedge = signature_set.hedges.search(content)
    plain_content = content[: hedge.start()] if hedge else content
    quiet = [signature for signature in signatures if signature.role is LineRole.BENIGN]
    loading = [signature for signature in signatures if signature.role is LineRole.LOADING]
    others = [
        signature
        for signature in signatures
        if signature.role not in (LineRole.BENIGN, LineRole.LOADING)
    ]
    # a warning, which ends nothing, may still say what was loaded
    return [
        *(_matches(quiet, content, plain_content) or _matches(others, content, plain_content)),
        *_matches(loading, content, content),
    ]


def _matches(
    signatures: list[LogSignature], content: str, plain_content: str
) -> list[tuple[LogSignature, int]]:
    return [
        (s, match.start())
        for s in signatures
        if (match := s.pattern.search(content if s.hedged else plain_content))
    ]


def _match(signature: LogSignature, start: int, line: LogLine, number: int) -> Match:
    mark = fingerprint(signature.id, "", "", line.content[start:])
    return Match(
        signature=signature.id,
        failure=signature.failure,
        role=signature.role,
        strength=signature.strength,
        line=number,
        excerpt=_around(line, start),
        fingerprint=mark,
        confirms=signature.confirms,
    )


def _around(line: LogLine, start: int) -> str:
    """The line, or of a long one the part that matched."""
    at = line.text.find(line.content[start : start + 40]) if start > _EXCERPT // 2 else 0
    return line.text[max(at, 0) :][:_EXCERPT]


def _by_type(signature_set: SignatureSet, exception: LoggedException) -> LogSignature:
    name = exception.exception.rpartition(".")[2]
    exceptions = signature_set.exceptions
    if exception.peer_left:
        return signature_set.signature(PIPE_CLOSED)
    if exception.decodes and name not in exceptions.small:
        return signature_set.signature(CORRUPT)
    if name in exceptions.cascade:
        return signature_set.signature(CASCADE)
    small = name in exceptions.small or (
        name in exceptions.small_in_one_file and exception.one_file
    )
    return signature_set.signature(SMALL if small else COMPLEX)


def _strength(hit: LogSignature, exception: LoggedException) -> RootStrength:
    """An exception's line without its traceback may have been caught: it explains less."""
    if hit.strength is not RootStrength.BUG or exception.traced:
        return hit.strength
    return (
        RootStrength.FAINT
        if hit.id == COMPLEX and not hit.pattern.search(exception.message)
        else RootStrength.SYMPTOM
    )
