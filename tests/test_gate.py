"""What a gate says in one line."""

from herorun.core.check import Gate
from herorun.core.finding import Finding, failed, unknown
from herorun.core.gate_findings import GateVerdict
from herorun.discover import checks
from herorun.gate import GateReport

OUT_OF_REACH = unknown("gs://kept/tiny: 403 Forbidden")
EDIT_MESSAGE = "1 file was edited"


def test_one_reason_of_many_findings_is_reported_once() -> None:
    findings = [
        Finding("output-root-in-use", OUT_OF_REACH),
        Finding("wrong-lineage", OUT_OF_REACH),
        Finding("wrong-lineage", OUT_OF_REACH),
        Finding("dirty-tree", failed(EDIT_MESSAGE, subject="train.py")),
    ]
    by_name = {check.name: check for check in checks(Gate.LAUNCH)}
    summary = GateReport(Gate.LAUNCH, GateVerdict.BLOCKED, findings, by_name, {}).summary
    edit, blind = summary.split("; ")
    assert edit == f"dirty-tree: {EDIT_MESSAGE}"
    assert blind == f"output-root-in-use, wrong-lineage: {OUT_OF_REACH.message}"
