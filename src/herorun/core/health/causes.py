"""Names the cause of a symptom with it. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from herorun.core.check import Check, Topic
from herorun.core.finding import Finding, Outcome

MAX_CAUSES = 3  # causes that one symptom names


def with_causes(findings: Sequence[Finding], checks: Mapping[str, Check]) -> list[Finding]:
    """The findings; one of a non-finite number also names what is wrong with the resume before it.

    A learning rate of 16 times after a resume is why the loss is NaN, and a person who reads one
    alert must read both.
    """
    causes = [
        f"{f.check}: {f.verdict.message}" for f in findings if _fails(f, checks, Topic.LINEAGE)
    ]
    if not causes:
        return list(findings)
    causes_text = "; ".join(causes[:MAX_CAUSES])
    return [_add_cause(f, causes_text) if _fails(f, checks, Topic.NUMERIC) else f for f in findings]


def _fails(finding: Finding, checks: Mapping[str, Check], topic: Topic) -> bool:
    return finding.verdict.outcome is Outcome.FAIL and checks[finding.check].topic is topic


def _add_cause(finding: Finding, cause: str) -> Finding:
    verdict = finding.verdict
    return replace(
        finding, verdict=replace(verdict, message=f"{verdict.message}. Before it, {cause}")
    )
