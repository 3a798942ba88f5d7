"""What the launch gate can say about a job that already runs, and what it cannot prove. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from herorun.core.evidence import Adoptee, Evidence
from herorun.core.finding import Finding, Outcome, not_applicable

# What these find is as it should be once the job runs: it has written to its root, and reports
# under its id.
BEFORE_IT_RUNS = frozenset(
    {
        "hidden-replay",
        "no-complete-checkpoint",
        "output-root-in-use",
        "scratch-with-history",
        "outdated-checkpoint-path",
        "start-checkpoint-not-newest",
        "tracker-identity",
    }
)
UNVERIFIED_JOB = "unverified-job"
# A job that already runs cannot be given other code: the work tree has to follow the job.
FIXES_OF_A_RUNNING_JOB = {
    "dirty-tree": (
        "check out the commit that the job was started from, without changes; commit and push the "
        "changes only if the job runs with them. If that is unknown, the DRI may accept the "
        "changes with a waiver (`herorun waive`)"
    )
}
_RUNS = "it already runs, so this is not verified: "


def if_it_runs(findings: Iterable[Finding], evidence: Evidence) -> list[Finding]:
    """The same findings; where a job is adopted, what makes sense only before it runs stops nothing
    and stays visible, and what to do fits a running job.

    What could not be read stays unknown.
    """
    if not isinstance(evidence.get(Adoptee), Adoptee):
        return list(findings)
    return [_visible(f) if f.check in BEFORE_IT_RUNS else _with_fix(f) for f in findings]


def _with_fix(finding: Finding) -> Finding:
    fix = FIXES_OF_A_RUNNING_JOB.get(finding.check, "")
    return replace(finding, verdict=replace(finding.verdict, fix=fix)) if fix else finding


def _visible(finding: Finding) -> Finding:
    verdict = finding.verdict
    if verdict.outcome is not Outcome.FAIL:
        return finding
    return replace(
        finding,
        verdict=not_applicable(
            f"{_RUNS}{verdict.message}", *verdict.details, subject=verdict.subject
        ),
    )


def unproven_facts(findings: Iterable[Finding]) -> tuple[str, ...]:
    """What could not be proved about the adopted job, signed for or not, each a sentence."""
    gaps = [
        f.verdict.message
        for f in findings
        if f.check == UNVERIFIED_JOB and f.verdict.outcome in (Outcome.FAIL, Outcome.UNKNOWN)
    ]
    moves = [
        f"{f.check}: {f.verdict.message.removeprefix(_RUNS)}"
        for f in findings
        if f.verdict.message.startswith(_RUNS)
    ]
    return (*gaps, *moves)


def runs(command: Sequence[str], argv: Sequence[str]) -> bool:
    """Whether a process' words are the contract's, perhaps with an interpreter or a wrapper before
    them.

    >>> runs(["/bin/sh", "./train.sh", "x"], ["./train.sh", "x"])
    True
    >>> runs(["sh", "other.sh"], ["sh", "train.sh"])
    False
    """
    return bool(argv) and list(command[-len(argv) :]) == list(argv)
