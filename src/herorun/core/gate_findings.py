"""The result of a gate: its verdict, and its findings by meaning and root cause, counted. Pure.

One problem can leave many checks without an answer: a config that is in no commit leaves no plan. A
finding names its cause in `Verdict.causes`, and what it explains in `Verdict.explains`.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from enum import StrEnum

from herorun.core.check import Check, Mode, Response
from herorun.core.finding import Finding, Outcome
from herorun.core.lazy_dataclass import dataclass


class GateVerdict(StrEnum):
    CLEAR = "clear"
    BLOCKED = "blocked"
    UNKNOWN = "unknown"


BLOCKING = frozenset({Response.BLOCK, Response.REFUSE})


def stands_in_the_way(finding: Finding, check: Check, mode: Mode = Mode.ENFORCE) -> bool:
    """Whether an open finding stops what the gate is asked for."""
    return finding.open and check.response in BLOCKING and (mode is Mode.ENFORCE or check.always)


def verdict_of(
    findings: Iterable[Finding], checks: Mapping[str, Check], mode: Mode = Mode.ENFORCE
) -> GateVerdict:
    """Any open blocking FAIL: blocked; otherwise any open blocking UNKNOWN: unknown; otherwise
    clear.
    """
    open_outcomes = {
        finding.verdict.outcome
        for finding in findings
        if stands_in_the_way(finding, checks[finding.check], mode)
    }
    if Outcome.FAIL in open_outcomes:
        return GateVerdict.BLOCKED
    return GateVerdict.UNKNOWN if Outcome.UNKNOWN in open_outcomes else GateVerdict.CLEAR


class FindingMark(StrEnum):
    """What a finding means for the reader, in the order of display."""

    FAIL = "fail"
    UNKNOWN = "unknown"
    WARN = "warn"
    WAIVED = "waived"
    OK = "ok"
    NOT_APPLICABLE = "n/a"


_ORDER = tuple(FindingMark)
MILD = frozenset({Response.WARN, Response.INFO})


def mark_of(finding: Finding, check: Check) -> FindingMark:
    if finding.waiver is not None:
        return FindingMark.WAIVED
    match finding.verdict.outcome:
        case Outcome.PASS:
            return FindingMark.OK
        case Outcome.NOT_APPLICABLE:
            return FindingMark.NOT_APPLICABLE
        case Outcome.UNKNOWN:
            return FindingMark.UNKNOWN
        case Outcome.FAIL:
            return FindingMark.WARN if check.response in MILD else FindingMark.FAIL


@dataclass(frozen=True)
class FindingGroup:
    """A finding, and those that follow from it or share its reason."""

    cause: Finding
    effects: tuple[Finding, ...] = ()


def group_findings(findings: Iterable[Finding], checks: Mapping[str, Check]) -> list[FindingGroup]:
    """The open findings by root cause: failures first, then what is unknown; the cause of most
    comes first.
    """
    open_findings = [finding for finding in findings if finding.open]
    parents = _parents(open_findings)
    effects: dict[int, list[Finding]] = {}
    for index, finding in enumerate(open_findings):
        if (root := _root(index, parents)) != index:
            effects.setdefault(root, []).append(finding)
    groups = [
        FindingGroup(finding, tuple(effects.get(index, ())))
        for index, finding in enumerate(open_findings)
        if parents.get(index) is None
    ]
    return sorted(
        groups,
        key=lambda g: (_ORDER.index(mark_of(g.cause, checks[g.cause.check])), -len(g.effects)),
    )


def _parents(findings: Sequence[Finding]) -> dict[int, int]:
    """Index of a finding -> index of the one that it follows from: a failure that explains it,
    otherwise the first unknown one with the same reason."""
    index_by_cause: dict[str, int] = {}
    for index, finding in enumerate(findings):
        if finding.verdict.outcome is Outcome.FAIL:
            for key in finding.verdict.explains:
                index_by_cause.setdefault(key, index)
    first: dict[str, int] = {}
    parents: dict[int, int] = {}
    for index, finding in enumerate(findings):
        parent = next(
            (index_by_cause[key] for key in finding.verdict.causes if key in index_by_cause), index
        )
        if parent == index and finding.verdict.outcome is Outcome.UNKNOWN:
            parent = first.setdefault(_unknown_cause(finding), index)
        if parent != index and _root(parent, parents) != index:
            parents[index] = parent
    return parents


def _root(index: int, parents: Mapping[int, int]) -> int:
    while (parent := parents.get(index)) is not None:
        index = parent
    return index


def _unknown_cause(finding: Finding) -> str:
    """What makes it unknown, without its own subject: one dead store hides many things in one
    way.
    """
    verdict = finding.verdict
    return "; ".join(verdict.causes) or verdict.message.removeprefix(f"{verdict.subject}: ")


@dataclass(frozen=True)
class FindingCounts:
    """How many findings of a gate are of each kind.

    >>> marks = {FindingMark.FAIL: 1, FindingMark.WARN: 2, FindingMark.OK: 31}
    >>> str(FindingCounts(marks, not_enforced=0))
    '1 blocking, 2 warnings, 31 passed'
    """

    marks: Mapping[FindingMark, int] = field(default_factory=dict)
    not_enforced: int = 0  # failures that only `[policy] mode` keeps from blocking

    def __str__(self) -> str:
        blocking = self.marks.get(FindingMark.FAIL, 0) - self.not_enforced
        warnings = self.marks.get(FindingMark.WARN, 0)
        counts = (
            (blocking, "blocking"),
            (self.not_enforced, "failed and not enforced"),
            (self.marks.get(FindingMark.UNKNOWN, 0), "unknown"),
            (warnings, "warning" if warnings == 1 else "warnings"),
            (self.marks.get(FindingMark.WAIVED, 0), "waived"),
            (self.marks.get(FindingMark.OK, 0), "passed"),
            (self.marks.get(FindingMark.NOT_APPLICABLE, 0), "not applicable"),
        )
        return ", ".join(f"{count} {name}" for count, name in counts if count)


def tally(
    findings: Iterable[Finding], checks: Mapping[str, Check], mode: Mode = Mode.ENFORCE
) -> FindingCounts:
    """Each finding once, by its mark."""
    marks: dict[FindingMark, int] = {}
    not_enforced = 0
    for finding in findings:
        check = checks[finding.check]
        mark = mark_of(finding, check)
        marks[mark] = marks.get(mark, 0) + 1
        not_enforced += mark is FindingMark.FAIL and not stands_in_the_way(finding, check, mode)
    return FindingCounts(marks, not_enforced)
