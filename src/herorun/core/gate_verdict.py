"""The result of a gate's findings: clear, blocked or unknown."""

from collections.abc import Iterable, Mapping
from enum import StrEnum

from herorun.core.check import Check, Mode, Response
from herorun.core.finding import Finding, Outcome


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
