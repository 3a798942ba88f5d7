"""Ask a gate: gather what its checks need, evaluate, waive, and give the verdict."""

from collections import ChainMap
from collections.abc import Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Any, cast

from herorun import discover
from herorun.core.check import AtRelaunch, Check, Gate, Mode, evaluate
from herorun.core.contract import Contract
from herorun.core.evidence import Evidence, Now, Sealing, WaiverUse
from herorun.core.finding import Finding, Outcome, few, waive
from herorun.core.gate_findings import (
    FindingCounts,
    FindingGroup,
    GateVerdict,
    group_findings,
    stands_in_the_way,
    tally,
    verdict_of,
)
from herorun.core.lazy_dataclass import dataclass
from herorun.core.seal.kinds import applies_to
from herorun.gather import gather
from herorun.runs import Run
from herorun.schemas.parts import FindingEntry
from herorun.source_index import Kind, Source
from herorun.system.clock import now

DEADLINE = 180.0  # seconds for all reads of a gate together


@dataclass(frozen=True)
class GateReport:
    """What a gate answered. `verdict` is what acts; `would_be` is the same without a lenient
    `[policy] mode`.
    """

    gate: Gate
    verdict: GateVerdict
    findings: Sequence[Finding]
    checks: Mapping[str, Check]
    evidence: Evidence
    mode: Mode = Mode.ENFORCE

    @property
    def would_be(self) -> GateVerdict:
        return verdict_of(self.findings, self.checks)

    @property
    def groups(self) -> list[FindingGroup]:
        """The open findings by root cause."""
        return group_findings(self.findings, self.checks)

    @property
    def tally(self) -> FindingCounts:
        """How many findings are of each kind."""
        return tally(self.findings, self.checks, self.mode)

    @property
    def blocking(self) -> list[Finding]:
        """The open findings that stand in the way, root causes first."""
        ordered_findings = [
            finding for group in self.groups for finding in (group.cause, *group.effects)
        ]
        return [
            f for f in ordered_findings if stands_in_the_way(f, self.checks[f.check], self.mode)
        ]

    @property
    def report_only_findings(self) -> list[Finding]:
        """The open findings that only `[policy] mode` keeps from standing in the way."""
        strict = [f for f in self.findings if stands_in_the_way(f, self.checks[f.check])]
        return [f for f in strict if not stands_in_the_way(f, self.checks[f.check], self.mode)]

    @property
    def summary(self) -> str:
        """The reasons in one line, each once: one store that is out of reach leaves many checks
        without an answer.
        """
        checks_by_message: dict[str, list[str]] = {}
        for finding in self.blocking:
            checks_by_message.setdefault(finding.verdict.message, []).append(finding.check)
        return "; ".join(
            f"{few(list(dict.fromkeys(names)))}: {why}" for why, names in checks_by_message.items()
        )

    @property
    def entries(self) -> list[FindingEntry]:
        """The findings as `--json` prints them."""
        contract = self.evidence.get(Contract)
        return finding_entries(
            self.findings, self.checks, contract.slug if isinstance(contract, Contract) else "RUN"
        )


def run_gate(
    run: Run,
    gate: Gate,
    extra: Sequence[Any] = (),
    inputs: Evidence | None = None,
    early_sources: Mapping[Kind, Source] = MappingProxyType({}),
) -> GateReport:
    """Every check of the gate. `extra` is evidence that the caller also needs; `early_sources` are
    those whose reads the caller began.
    """
    mode = run.mode if gate is Gate.LAUNCH else Mode.ENFORCE
    return _ask(
        run,
        gate,
        discover.checks(gate),
        extra,
        inputs or {},
        mode=mode,
        early_sources=early_sources,
    )


def run_seal_gate(
    run: Run, sealing: Sealing, extra: Sequence[Any] = (), inputs: Evidence | None = None
) -> GateReport:
    """The seal gate, with those of its checks that hold for the kind of seal."""
    seal_checks = [
        check for check in discover.checks(Gate.SEAL) if applies_to(check.name, sealing.kind)
    ]
    return _ask(run, Gate.SEAL, seal_checks, extra, {**(inputs or {}), Sealing: sealing})


def run_relaunch_gate(run: Run, inputs: Evidence, deadline: float = DEADLINE) -> GateReport:
    """The launch gate for a relaunch under a standing contract: nothing about the user's checkout
    is asked.

    It is enforced in every `[policy] mode`: nobody reads what an unattended launch would only
    print.
    """
    relaunch_checks = [
        check for check in discover.checks(Gate.LAUNCH) if check.at_relaunch is not AtRelaunch.SKIP
    ]
    report = _ask(run, Gate.LAUNCH, relaunch_checks, (), inputs, deadline=deadline)
    warn_only = {c.name for c in relaunch_checks if c.at_relaunch is AtRelaunch.WARN}
    counted_findings = [
        finding
        for finding in report.findings
        if not (finding.check in warn_only and finding.verdict.outcome is Outcome.UNKNOWN)
    ]
    return GateReport(
        Gate.LAUNCH,
        verdict_of(counted_findings, report.checks),
        report.findings,
        report.checks,
        report.evidence,
    )


def _ask(
    run: Run,
    gate: Gate,
    checks: Sequence[Check],
    extra: Sequence[Any],
    inputs: Evidence,
    *,
    mode: Mode = Mode.ENFORCE,
    deadline: float = DEADLINE,
    early_sources: Mapping[Kind, Source] = MappingProxyType({}),
) -> GateReport:
    at = now()
    needs = [*(need for check in checks for need in check.needs if need is not WaiverUse), *extra]
    evidence_before = {**run.base_evidence(run.record.memory()), Now: Now(at), **inputs}
    # not a new dict of all sources, which would import every file of them
    sources = ChainMap(dict(early_sources), cast("dict[Kind, Source]", discover.sources()))
    evidence = gather(needs, sources, evidence_before, deadline)
    findings = _evaluate_with_waivers(run, gate, checks, evidence, at)
    by_name = {check.name: check for check in checks}
    return GateReport(gate, verdict_of(findings, by_name, mode), findings, by_name, evidence, mode)


def _evaluate_with_waivers(
    run: Run, gate: Gate, checks: Sequence[Check], evidence: dict[Any, Any], at: datetime
) -> list[Finding]:
    """What the waivers signed is known once all other checks have answered; who asks about it is
    asked last.
    """
    from herorun.core.adoption import if_it_runs
    from herorun.core.waivers import waiver_use

    first = [check for check in checks if WaiverUse not in check.needs]
    findings = waive(if_it_runs(evaluate(first, evidence, run.limits), evidence), run.waivers, at)
    names = {check.name for check in checks}
    # without a waiver none is looked for elsewhere
    other_checks = discover.checks() if run.waivers else ()
    elsewhere = {
        check.name for check in other_checks if check.gate is not gate or check.name not in names
    }
    evidence[WaiverUse] = waiver_use(run.waivers, findings, names, elsewhere, at)
    last = [check for check in checks if WaiverUse in check.needs]
    findings += waive(evaluate(last, evidence, run.limits), run.waivers, at)
    order = [check.name for check in checks]
    return sorted(findings, key=lambda finding: order.index(finding.check))


def finding_entries(
    findings: Sequence[Finding], checks: Mapping[str, Check], slug: str = ""
) -> list[FindingEntry]:
    """The findings as `--json` prints them; `caused_by` names the one that a finding follows
    from.
    """
    groups = group_findings(findings, checks)
    causes = {id(effect): group.cause for group in groups for effect in group.effects}
    return [_finding_entry(f, checks[f.check], causes.get(id(f)), slug) for f in findings]


def _finding_entry(
    finding: Finding, check: Check, cause: Finding | None, slug: str
) -> FindingEntry:
    verdict = finding.verdict
    return FindingEntry.of(
        verdict,
        check=finding.check,
        gate=check.gate,
        response=check.response,
        waiver=finding.waiver,
        why=check.why,
        fix=check.next_action(slug, verdict.fix),
        caused_by={"check": cause.check, "subject": cause.verdict.subject} if cause else None,
    )
