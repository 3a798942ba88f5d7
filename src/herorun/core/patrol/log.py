"""What the end of a run's own log shows. Pure."""

import re

from herorun.core.lazy_regex import lazy_regex
from herorun.core.patrol.observation import LogEnd
from herorun.core.redaction.scrub import scrub
from herorun.core.triage.classes import QUIET
from herorun.core.triage.incremental import OwnLog, follow, verdict_of_log
from herorun.core.triage.lines import without_escapes
from herorun.core.triage.progress import step_of
from herorun.core.triage.signatures import SignatureSet

_BREAK = lazy_regex(rb"[\r\n]+")  # progress bars write their lines over one another
MAX_LINE_LENGTH = 200  # characters of a line
_STEPS_AFTER = 2  # a single one may be another rank's last
_DIGITS = 16  # of a number that is a step


def own_log(
    signature_set: SignatureSet, end: bytes, progress: str | None, is_complete: bool
) -> LogEnd:
    """Its newest progress line, unchanged, and the failure that it reports. A first line cut in two
    is left out.
    """
    tail = without_escapes(end.decode("utf-8", "replace")).encode()
    lines = _BREAK.split(tail if is_complete else tail.partition(b"\n")[2] or tail)
    line, step = _progress(lines, re.compile(progress.encode()) if progress else None)
    verdict = verdict_of_log(
        signature_set, follow(signature_set, OwnLog(instance=""), b"\n".join(lines)), None
    )
    text = scrub(line.decode("utf-8", "replace").strip())[:MAX_LINE_LENGTH]
    if verdict.failure in QUIET or _trained_after(lines, verdict.line):
        return LogEnd(line=text, step=step)
    return LogEnd(
        line=text,
        step=step,
        failure=verdict.failure.value,
        excerpt=scrub(verdict.excerpt)[:MAX_LINE_LENGTH],
        advice=verdict.advice,
    )


def _trained_after(lines: list[bytes], at: int | None) -> bool:
    """Whether steps follow the failure: each attempt appends to one log."""
    steps = [step for line in lines[at or len(lines) :] if (step := step_of(line)) is not None]
    return len(steps) >= _STEPS_AFTER and steps[-1] > steps[0]


def _progress(lines: list[bytes], pattern: "re.Pattern[bytes] | None") -> tuple[bytes, int | None]:
    for line in reversed(lines):
        if pattern is None:
            if (step := step_of(line)) is not None:
                return line, step
        elif match := pattern.search(line):
            digits = match[1] if pattern.groups else b""
            return line, int(digits) if digits and digits.isdigit() and len(
                digits
            ) < _DIGITS else step_of(line)
    return b"", None
