"""The result of the launch gate for people: the plan, the exact submission, the findings and the
verdict.
"""

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from herorun import discover
from herorun.adapter_declarations import notified_by
from herorun.adopted_scheduler import without
from herorun.core.check import Gate, Mode
from herorun.core.contract import Contract
from herorun.core.errors import Blocked, CouldNotLook, HerorunError, WrongUse
from herorun.core.estimate import Estimate, estimate
from herorun.core.evidence import (
    Adoptee,
    ContractDrift,
    Evidence,
    FinalStep,
    History,
    IssuePage,
    Nothing,
    NotifiedBy,
    Offered,
    OpenLaunch,
    PriorLaunch,
    RemoteTips,
    SourceLaunches,
    Unavailable,
    Unfinished,
    WorkTree,
)
from herorun.core.gate_findings import GateVerdict
from herorun.core.journal import Memory
from herorun.core.lazy_dataclass import dataclass
from herorun.core.plan import Plan
from herorun.core.ports import Found, Scheduler, Submission, Unknown, submission_of
from herorun.core.redaction.scrub import scrub, scrub_argv
from herorun.core.responsible import Responsible, responsible
from herorun.gate import GateReport, run_gate
from herorun.gather import begin
from herorun.operations.launch.candidates import checkpoint_choice
from herorun.operations.launch.submit import request_text
from herorun.runs import Run, contract_drift, source_launches
from herorun.schemas.parts import SourcedEntry, SubmissionEntry
from herorun.system.git.commit_content import code_tree
from herorun.system.git.remote_refs import query_tips

if TYPE_CHECKING:
    from herorun.schemas.runs import PreflightDocument


@dataclass(frozen=True)
class PreflightOutcome:
    """The result of the launch gate, with the plan and the submission that it evaluated.

    `.plan` and `.submission` are None if a part of them could not be read.
    """

    report: GateReport
    plan: Plan | None
    submission: Submission | None
    request: str = ""  # what the scheduler will get; code and admission get paths at launch
    responsible: Responsible | None = None

    @property
    def verdict(self) -> GateVerdict:
        """The verdict under `[policy] mode`. Never clear without a plan, in every mode."""
        if self.plan is not None or self.report.verdict is not GateVerdict.CLEAR:
            return self.report.verdict
        strict = self.report.would_be
        return GateVerdict.UNKNOWN if strict is GateVerdict.CLEAR else strict

    @property
    def why(self) -> str:
        """Why the gate is not clear, in one line."""
        no_plan = self.why_no_plan
        return self.report.summary or (f"there is no plan: {no_plan}" if no_plan else "")

    @property
    def why_no_plan(self) -> str:
        """What kept the plan from being made; "" if there is one, or the reason is unknown."""
        plan = self.report.evidence.get(Plan)
        return plan.why if isinstance(plan, Unavailable | Nothing) else ""

    @property
    def policy(self) -> str:
        """What a lenient `[policy] mode` let pass; empty under `enforce`."""
        if self.report.mode is Mode.ENFORCE:
            return ""
        names = list(dict.fromkeys(finding.check for finding in self.report.report_only_findings))
        count = (
            f"{len(self.report.report_only_findings)} "
            f"finding{'s were' if len(self.report.report_only_findings) != 1 else ' was'} open"
        )
        return (
            f"{self.report.mode}; {count}: {', '.join(names)}"
            if names
            else f"{self.report.mode}; {count}"
        )

    @property
    def what_runs(self) -> str:
        """Which code a launch runs although the work tree is dirty; "" if it is clean."""
        waived_findings = [finding for finding in self.report.findings if finding.waiver]
        open_findings = [*self.report.report_only_findings, *waived_findings]
        if self.plan is None or all(finding.check != "dirty-tree" for finding in open_findings):
            return ""
        if self.plan.in_place.value:
            return "the job runs the work tree as it is, with the uncommitted changes"
        if self.plan.patch.value:
            return (
                f"the job runs the snapshot {self.plan.patch.value.commit:.9}: "
                f"{self.plan.commit.value:.9} with the uncommitted changes"
            )
        return f"the job runs commit {self.plan.commit.value:.9}, without the uncommitted changes"

    @property
    def estimate(self) -> Estimate:
        """Model FLOPs, accelerator-hours, cost (in the currency of `[budget] rate`) and wall hours;
        None for each that is unknown.
        """
        evidence = self.report.evidence
        return estimate(evidence[Contract], evidence.get(Offered, Nothing()))

    def raise_if_blocked(self) -> None:
        """Raise `Blocked` or `CouldNotLook`, naming every reason, unless the gate is clear."""
        if self.verdict is GateVerdict.BLOCKED:
            raise Blocked(
                f"The launch is blocked: {self.why} (`herorun explain {self._first_blocking}` "
                "shows how to fix it)"
            )
        if self.verdict is GateVerdict.UNKNOWN:
            raise CouldNotLook(
                f"The launch checks could not read everything: {self.why} "
                f"(`herorun preflight {self.report.evidence[Contract].slug}` shows why)"
            )

    @property
    def _first_blocking(self) -> str:
        return next((finding.check for finding in self.report.blocking), "CHECK")

    def document(self) -> "PreflightDocument":
        from herorun.schemas.runs import PreflightDocument

        return PreflightDocument.of(
            self,
            verdict_if_enforced=self.report.would_be,
            mode=self.report.mode,
            plan_digest=self.plan.digest if self.plan else None,
            plan=plan_entries(self.plan) if self.plan else None,
            submission=submission_entry(self.submission, self.request) if self.submission else None,
            checkpoints=checkpoint_choice(self.plan, self.report.evidence),
            findings=self.report.entries,
        )

    def as_json(self) -> dict[str, Any]:
        """The document of `--json`, as a table."""
        return self.document().as_json()


def preflight(run: Run, adoptee: Adoptee | None = None) -> PreflightOutcome:
    """Evaluate the launch gate, for a new job or for `adoptee`, a running one. Only reads."""
    # what takes longest, in a large repository, needs nothing of the remote's slow answer
    tree = begin(discover.sources()[WorkTree], run.repository, run.contract)
    head = run.repository.resolve("HEAD")
    if head is None:
        raise WrongUse(f"{run.repository.top} has no commit yet: commit the training code first.")
    begin(code_tree, run.repository, head, run.file.path)  # which remembers its answer
    fetched_evidence = _fetch_record(run)
    memory = run.record.memory()
    run.drift = contract_drift(run)
    inputs = {History: _history(run, memory), **_collect_inputs(run, adoptee), **fetched_evidence}
    report = run_gate(run, Gate.LAUNCH, extra=[Plan], inputs=inputs, early_sources={WorkTree: tree})
    plan = report.evidence[Plan]
    issue = memory.initialised.issue if memory.initialised else ""
    people = responsible(run.contract, run.dri, run.launched_by_dri, issue, notifies_nobody(report))
    if not isinstance(plan, Plan):
        return PreflightOutcome(report, None, None, responsible=people)
    submission = submission_of(plan, f"{run.slug}-{memory.next_number}")
    return PreflightOutcome(report, plan, submission, _request(run, submission), people)


def notifies_nobody(report: GateReport) -> bool:
    """Whether the contract names nobody whom alerts reach."""
    notifiers = report.evidence.get(NotifiedBy)
    return isinstance(notifiers, NotifiedBy) and not (notifiers.channels or notifiers.issue)


def _history(run: Run, memory: Memory) -> History:
    """The history, with the taints of the current instance's present rows. Before a first launch
    there are none, and the health checks are not imported.
    """
    if memory.current is None or memory.sealed:
        return memory.history
    from herorun.operations.health.taints import with_taints_now

    return with_taints_now(run, memory).history


def _fetch_record(run: Run) -> Evidence:
    """Fetch the record. If the code has the same remote, its answer is evidence, so that it is not
    queried again.

    If the remote does not answer, the evidence of the record is unavailable, not empty.
    """
    evidence: dict[Any, Any] = {}

    def ask(remote: str, timeout: float | None) -> Mapping[str, str]:
        tips = query_tips(run.repository, remote, timeout)
        evidence[RemoteTips] = RemoteTips(remote, tips)
        return tips

    try:
        run.record.fetch(ask if run.record.remote == run.contract.code.remote else None)
    except CouldNotLook as error:
        unavailable = Unavailable(str(error).rstrip("."), error.root)
        evidence |= dict.fromkeys(
            (History, Unfinished, PriorLaunch, FinalStep, IssuePage, ContractDrift), unavailable
        )
    return evidence


def _collect_inputs(run: Run, adoptee: Adoptee | None) -> Evidence:
    """Inputs for the gate. A job to adopt does not count as a live duplicate."""
    source = {
        SourceLaunches: source_launches(run.repository, run.contract),
        NotifiedBy: _notified_by(run),
        OpenLaunch: _open_launch(run),
    }
    if adoptee is None:
        return source
    return {**source, Adoptee: adoptee, Scheduler: without(run.scheduler, adoptee.job.id)}


def _open_launch(run: Run) -> OpenLaunch | Nothing:
    """The interrupted launch, if the contract names another scheduler since; the present one lists
    its own jobs.
    """
    launching = run.record.memory().unsettled
    if launching is None:
        return Nothing("no launch is open")
    from herorun.operations.launch.start_instance import find_as_submitted  # seldom needed

    match find_as_submitted(run, launching):
        case Unknown(why):
            return OpenLaunch(launching.instance, why=scrub(why))
        case Found(job) if not job.state.is_final:
            return OpenLaunch(launching.instance, job)
        case _:
            return Nothing("no job of it runs")


def _notified_by(run: Run) -> NotifiedBy:
    with run.naming_lines("notify"):
        return notified_by(run.contract)


def _request(run: Run, submission: Submission) -> str:
    """The exact request; empty if the adapter cannot build it here, which a check reports."""
    try:
        return request_text(run, submission, "<code>", "<admission.json>")
    except (HerorunError, OSError):
        return ""


def plan_entries(plan: Plan) -> dict[str, SourcedEntry]:
    """Every field of the plan, with the source of its value."""
    argv = replace(plan.argv, value=scrub_argv(plan.argv.value))
    values = {field.name: getattr(plan, field.name) for field in fields(plan)}
    return {name: SourcedEntry.of(value) for name, value in {**values, "argv": argv}.items()}


def plan_json(plan: Plan) -> dict[str, Any]:
    """The plan in the form of the plan file."""
    return {name: entry.as_json() for name, entry in plan_entries(plan).items()}


def submission_entry(submission: Submission, request: str) -> SubmissionEntry:
    return SubmissionEntry.of(submission, argv=scrub_argv(submission.argv), request=request)
