"""What a check says about a run, and the waivers that people grant."""

from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY, replace
from datetime import datetime
from enum import StrEnum

from herorun.core.check_names import current_name
from herorun.core.lazy_dataclass import dataclass

# Begins what says that nothing was read: the check's fix is for what was, and is left out.
NOT_READ = "could not check: "


class Outcome(StrEnum):
    PASS = "pass"
    FAIL = "fail"
    UNKNOWN = "unknown"  # we could not look: neither healthy nor broken
    NOT_APPLICABLE = "n/a"


@dataclass(frozen=True)
class Verdict:
    """The result of a check for one subject, which is the exact value, file, metric or node."""

    outcome: Outcome
    message: str
    subject: str = ""
    details: tuple[str, ...] = ()
    _: KW_ONLY
    steps: tuple[int, int] | None = None  # first and last step of the data that it happened at
    taints_from: int | None = None  # checkpoints of this step and later ones are not to be trusted
    # what it follows from, as keys: `file config.toml`, `remote origin`
    causes: tuple[str, ...] = ()
    explains: tuple[str, ...] = ()  # such keys, of which this failure is the root
    fix: str = ""  # what to do, where the check's own advice does not apply


def passed(message: str, *details: str, subject: str = "") -> Verdict:
    return Verdict(Outcome.PASS, message, subject, details)


def failed(
    message: str,
    *details: str,
    subject: str = "",
    steps: tuple[int, int] | None = None,
    taints_from: int | None = None,
) -> Verdict:
    return Verdict(Outcome.FAIL, message, subject, details, steps=steps, taints_from=taints_from)


def unknown(message: str, *details: str, subject: str = "") -> Verdict:
    return Verdict(Outcome.UNKNOWN, message, subject, details)


def not_applicable(message: str, *details: str, subject: str = "") -> Verdict:
    return Verdict(Outcome.NOT_APPLICABLE, message, subject, details)


def few(names: Sequence[str], most: int = 3) -> str:
    """Some names for a message.

    >>> few(["a", "b", "c", "d", "e"])
    'a, b, c and 2 more'
    """
    remaining = len(names) - most
    return ", ".join(names[:most]) + (f" and {remaining} more" if remaining > 0 else "")


def count(number: float, noun: str, plural: str = "") -> str:
    """A number with its noun, in the right form; every message that counts goes through here.

    >>> count(0, "step"), count(1, "step"), count(2, "half hour"), count(1, "branch", "branches")
    ('0 steps', '1 step', '2 half hours', '1 branch')
    """
    text = number if isinstance(number, int) else f"{number:g}"
    return f"{text} {noun if number == 1 else plural or f'{noun}s'}"


# the check of who approved: no waiver covers it, or it would approve itself
UNAPPROVED_WAIVER = "unapproved-waiver"


@dataclass(frozen=True)
class Waiver:
    """A person's recorded decision to accept one finding, for a reason and for a time."""

    check: str
    reason: str
    approved_by: str
    expires: datetime
    subject: str | None = None  # None: every subject of that check
    unknown: bool = False  # whether it also covers "we could not look"

    def covers(self, check: str, verdict: Verdict, now: datetime) -> bool:
        return (
            current_name(self.check) == check != UNAPPROVED_WAIVER
            and now < self.expires
            and self.subject in (None, verdict.subject)
            and (verdict.outcome is not Outcome.UNKNOWN or self.unknown)
        )


@dataclass(frozen=True)
class Finding:
    """A verdict with its check's name on it, and the waiver that covers it, if any."""

    check: str
    verdict: Verdict
    waiver: Waiver | None = None

    @property
    def open(self) -> bool:
        return self.verdict.outcome in (Outcome.FAIL, Outcome.UNKNOWN) and self.waiver is None


def waive(findings: Iterable[Finding], waivers: Sequence[Waiver], now: datetime) -> list[Finding]:
    """Mark what people accepted; a waiver never hides a finding, it signs it."""
    if not waivers:
        return list(findings)

    def signed(finding: Finding) -> Finding:
        if not finding.open:
            return finding
        covering = (w for w in waivers if w.covers(finding.check, finding.verdict, now))
        return replace(finding, waiver=next(covering, None))

    return [signed(finding) for finding in findings]


def describe_item(item: str, message: str) -> str:
    """One item of a check-in receipt.

    >>> describe_item("start", "is /b, but /a was admitted"), describe_item("start", "as admitted")
    ('start is /b, but /a was admitted', 'start: as admitted')
    """
    return f"{item}{'' if message.startswith('is ') else ':'} {message}"
