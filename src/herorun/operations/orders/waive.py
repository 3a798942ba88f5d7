"""Prints a waiver for a person to sign. It never signs, and edits no file."""

from collections.abc import Callable, Collection
from datetime import timedelta
from pathlib import Path

from herorun import discover
from herorun.core.approvals import requires_committed_approval
from herorun.core.check import Gate
from herorun.core.check_names import current_name
from herorun.core.errors import WrongUse
from herorun.core.finding import Outcome
from herorun.core.lazy_dataclass import dataclass
from herorun.core.redaction.scrub import scrub
from herorun.core.waivers import waiver_toml
from herorun.gate import GateReport
from herorun.operations.launch.preflight import preflight
from herorun.runs import Run, open_run
from herorun.system.clock import now


@dataclass(frozen=True)
class WaiverProposal:
    """`toml` has one block for each finding; `note` says what a person must do with it."""

    check: str  # its present name
    toml: str
    note: str


def propose(
    check: str,
    name: str | None,
    start: Path,
    *,
    subject: str | None,
    reason: str,
    days: int,
    unknown: bool,
    seal_report: Callable[[Run], GateReport] | None = None,
) -> WaiverProposal:
    """The waivers for a check. For an unknown check, `WrongUse` names similar ones.

    `seal_report` asks the seal gate; without it, a check of that gate gets one block for all of its
    findings.
    """
    check = current_name(check)
    _must_be_in_order(check, name)
    gates = {each_check.gate for each_check in discover.checks_named(check)}
    run = open_run(name, start) if name else None
    report = _report_of(run, gates, seal_report) if run and subject is None else None
    each_check = _open(report, check) if report else [(subject, False)]
    expires = now() + timedelta(days=days)
    blocks = [
        waiver_toml(check, each, reason, expires, unknown or is_unknown)
        for each, is_unknown in each_check or [(subject, False)]
    ]
    note = _note(run, check, reason, is_open=bool(each_check))
    return WaiverProposal(check, "\n".join(blocks), note)


def _must_be_in_order(check: str, name: str | None) -> None:
    names = {each.name for each in discover.checks()}
    if name and current_name(name) in names and check not in names:
        raise WrongUse(f"The check comes first, and then the run: `herorun waive {name} {check}`.")


def _report_of(
    run: Run, gates: Collection[Gate], seal_report: Callable[[Run], GateReport] | None
) -> GateReport | None:
    """The gate that has the check, asked now; None if it cannot be, as before the first launch."""
    if Gate.LAUNCH in gates:
        return preflight(run).report
    if Gate.SEAL in gates and seal_report and run.record.memory().instances:
        return seal_report(run)
    return None


def _open(report: GateReport, check: str) -> list[tuple[str | None, bool]]:
    """The subject of each open finding, and whether it is open because it could not be checked."""
    return [
        (scrub(f.verdict.subject) or None, f.verdict.outcome is Outcome.UNKNOWN)
        for f in report.findings
        if f.check == check and f.open
    ]


def _note(run: Run | None, check: str, reason: str, is_open: bool) -> str:
    where = run.file.path if run else "runs/<slug>.toml"
    now_open = (
        ""
        if is_open
        else f"{check} is not open now, so nothing needs this waiver. Commit it only if you expect "
        "the finding before the waiver expires; until then it is reported as unused. "
    )
    why = "" if reason else " and state the reason"
    return (
        f"{now_open}{'Add' if is_open else 'To commit it, add'} this at the end of {where}{why}. "
        f"{_who_signs(run)}. Nothing is waived before the commit is pushed. To undo it, "
        "delete the block and commit."
    )


def _who_signs(run: Run | None) -> str:
    """Who fills in `approved_by`, and who must be the author of the commit that adds the block."""
    if run is None:
        return (
            "approved_by must name the DRI or one of [policy] approvers; for a hero run, or if "
            '[policy] approvals is "committed", that person must also commit it'
        )
    contract = run.contract
    approvers = [name for name in (contract.dri, *contract.policy.approvers) if name]
    person = " or ".join(approvers) or "the person who accepts the finding"
    commit = (
        "that person must also commit it, because a commit by anyone else blocks the launch"
        if requires_committed_approval(contract)
        else "ask that person first; anyone may commit it"
    )
    return f"approved_by must name {person}; {commit}"
