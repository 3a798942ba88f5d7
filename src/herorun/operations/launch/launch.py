"""Launch: the reviewed plan and nothing else, submitted once, monitored from the first minute."""

from typing import Any

from herorun.core.adoption import unproven_facts
from herorun.core.check import Mode
from herorun.core.durations import format_duration
from herorun.core.errors import HerorunError, describe_error
from herorun.core.event import Adopted, Launched
from herorun.core.evidence import Adoptee, Checkpoints, LiveJobs, Nothing, PriorLaunch
from herorun.core.gate_findings import GateVerdict
from herorun.core.identity.intent import identity_of, prior_identity
from herorun.core.lazy_dataclass import dataclass
from herorun.core.proposed_commands import elsewhere, in_tmux
from herorun.core.redaction.scrub import scrub
from herorun.operations.health.replaced_instance import record_before_replacing
from herorun.operations.launch.adopt import adopted_instance, adopted_job, facts_of, find_adoptee
from herorun.operations.launch.config_stability import must_be_stable
from herorun.operations.launch.dirty_tree_line import dirty_tree_line
from herorun.operations.launch.order import LaunchOrder
from herorun.operations.launch.plan_file import moved_since, must_be
from herorun.operations.launch.preflight import PreflightOutcome, preflight
from herorun.operations.launch.start_babysitter import start_babysitter
from herorun.operations.launch.start_instance import settle_launching, start_instance
from herorun.operations.launch.submit import ALONE, ShowRequest, ignore_request
from herorun.operations.launch.write_probe import probe_roots
from herorun.operations.record.heartbeat import ring
from herorun.operations.record.lease import hand_lease
from herorun.runs import Run, apply_proof, log_of
from herorun.schemas.runs import LaunchDocument
from herorun.system.files import hold_lock, is_locked


@dataclass(frozen=True, kw_only=True)
class LaunchOutcome:
    """The result of a launch. `launched` is None if the gate was not clear."""

    preflight: PreflightOutcome  # the result of the launch gate
    launched: Launched | None  # the instance and the job
    babysitter: str = ""  # what monitors the run, as text; empty: nothing was launched
    log: str = ""  # the path of the job's log; empty: its scheduler reports none
    warnings: tuple[str, ...] = ()  # problems that did not stop the launch
    unwatched: str = ""  # why no babysitter was started although one was requested
    adopted: Adoptee | None = None  # the job that was, or would have been, taken over

    @property
    def unproven(self) -> tuple[str, ...]:
        """One sentence for each thing that could not be proved about an adopted job."""
        return unproven_facts(self.preflight.report.findings) if self.adopted else ()

    @property
    def running(self) -> tuple[str, ...]:
        """The live instances that prevented the submission."""
        if self.launched is not None:
            return ()
        live = self.preflight.report.evidence.get(LiveJobs)
        return (
            tuple(job.instance for job in live.jobs if job.state.live)
            if isinstance(live, LiveJobs)
            else ()
        )

    @property
    def exit_code(self) -> int:
        """That of the command: 0; 1 blocked; 3 unknown, or launched and not monitored."""
        if self.launched is not None:
            return 3 if self.unwatched else 0
        return 1 if self.preflight.verdict is GateVerdict.BLOCKED else 3

    def document(self) -> LaunchDocument:
        launch_facts = self.launched
        return LaunchDocument.of(
            self.preflight.document(),
            instance=launch_facts.instance if launch_facts else None,
            job=launch_facts.job if launch_facts else None,
            babysitter=self.babysitter,
            log=self.log,
            warnings=self.warnings,
            adopted=adopted_job(self.adopted, self.preflight.report) if self.adopted else None,
        )

    def as_json(self) -> dict[str, Any]:
        """The document of `--json`, as a table."""
        return self.document().as_json()


def launch(
    run: Run,
    reviewed_plan: dict[str, Any] | None = None,
    *,
    babysit: bool = True,
    show_request: ShowRequest = ignore_request,
    adopt: str = "",
) -> LaunchOutcome:
    """Preflight, record, submit once, start the babysitter.

    With `adopt`, the id of a job that runs already, that job is taken over and nothing is
    submitted.
    """
    run.prepare()
    with hold_lock(run.lock("act")):
        run.record.fetch()
        run.record.must_understand()
        apply_proof(run, run.contract)
        run.must_be_proven()
        earlier_launch = (
            _adopted_before(run, babysit, adopt) if adopt else _continue_launch(run, babysit)
        )
        adoptee = find_adoptee(run, adopt) if adopt and earlier_launch is None else None
        this_launch, answer = earlier_launch or _fresh(
            run, reviewed_plan, babysit, show_request, adoptee
        )
    differences = _changes_since_review(reviewed_plan, this_launch, answer) if reviewed_plan else ()
    if adopt and earlier_launch:
        differences = (
            *differences,
            (
                f"job {adopt} is {earlier_launch[0].instance} of this run already: "
                "nothing new was recorded"
            ),
        )
    if this_launch is None:
        return LaunchOutcome(preflight=answer, launched=None, warnings=differences, adopted=adoptee)
    push_result = run.record.push()
    push_problem = "" if push_result else f"the record is not pushed: {push_result.why}"
    watcher, watch_problem = start_watch(run, babysit)
    live = this_launch.entry.get("Live jobs", ALONE)
    crowd = "" if live == ALONE else f"{this_launch.instance} runs, and {live}"
    warnings = tuple(
        warning for warning in (*differences, crowd, push_problem, watch_problem) if warning
    )
    return LaunchOutcome(
        preflight=answer,
        launched=this_launch,
        babysitter=watcher,
        log=log_of(run, this_launch.instance),
        warnings=warnings,
        unwatched=watch_problem,
        adopted=adoptee,
    )


def _changes_since_review(
    reviewed_plan: dict[str, Any], earlier_one: Launched | None, answer: PreflightOutcome
) -> tuple[str, ...]:
    """What differs from the review without preventing the launch."""
    if earlier_one is not None and earlier_one.plan_digest != reviewed_plan["plan_digest"]:
        return (
            (
                f"{earlier_one.instance} was submitted before this review, under plan "
                f"{earlier_one.plan_digest}"
            ),
        )
    note = moved_since(reviewed_plan, answer)
    return (note,) if note else ()


def start_watch(run: Run, babysit: bool) -> tuple[str, str]:
    """Start the monitoring. Returns what monitors the run, and why nothing does, if so: the job
    runs, so the error must not hide what was launched.
    """
    section = run.contract.babysit
    try:
        if is_locked(run.lock("babysitter")):
            ring(run)  # one that runs already, whose next tick may be due in hours
        if run.other_babysit_owner:
            hand_lease(run, run.other_babysit_owner)
        elif babysit and not section.declined:
            return start_babysitter(run), ""
    except (HerorunError, OSError) as error:
        return "not running", describe_error(error)
    return _describe_monitor(run, babysit), ""


def _continue_launch(run: Run, babysit: bool) -> tuple[Launched, PreflightOutcome] | None:
    """An interrupted launch whose job exists: the launch is completed, not repeated."""
    settled_launch = settle_launching(run, _describe_monitor(run, babysit))
    if settled_launch is None:
        return None
    return settled_launch, preflight(run)


def _adopted_before(run: Run, babysit: bool, job: str) -> tuple[Launched, PreflightOutcome] | None:
    """The instance that this job already is, so that a job is adopted once. An interrupted adoption
    is settled first.
    """
    settle_launching(run, _describe_monitor(run, babysit))
    this_launch = adopted_instance(run, job)
    return (this_launch, preflight(run)) if this_launch else None


def _fresh(
    run: Run,
    reviewed_plan: dict[str, Any] | None,
    babysit: bool,
    show_request: ShowRequest,
    adoptee: Adoptee | None = None,
) -> tuple[Launched | None, PreflightOutcome]:
    answer = preflight(run, adoptee)
    if answer.verdict is not GateVerdict.CLEAR or answer.plan is None:
        return None, answer
    if reviewed_plan is not None:
        must_be(reviewed_plan, answer.plan, run.slug)
    if run.mode is Mode.ENFORCE:
        must_be_stable(run, answer.plan)
    if adoptee is None:  # a job that already writes there shows that it can be written
        probe_roots(run)
    dirty = dirty_tree_line(list(answer.report.findings), answer.plan)
    order = LaunchOrder(
        plan=answer.plan,
        why=f"job {adoptee.job.id} is adopted" if adoptee else "launched by hand",
        babysitter=_describe_monitor(run, babysit),
        dirty=dirty,
        foreign=_foreign(run, answer, adoptee),
        policy=answer.policy,
        overlooked=tuple(
            scrub(f"{f.check}: {f.verdict.message}") for f in answer.report.report_only_findings
        ),
        show_request=show_request,
        adopts=Adopted(adoptee.job.id, adoptee.since) if adoptee else None,
        facts={
            **identity_facts(run, answer),
            **(facts_of(adoptee, answer.report) if adoptee else {}),
        },
    )
    record_before_replacing(run)
    return start_instance(run, order), answer


def identity_facts(run: Run, answer: PreflightOutcome) -> dict[str, str]:
    """If a new tracker identity was signed: the reason, both identities with their code, and what
    differs.
    """
    signed_facts = next(
        (f for f in answer.report.findings if f.check == "changed-identity" and f.waiver), None
    )
    before = run.record.memory().current
    if signed_facts is None or signed_facts.waiver is None or answer.plan is None or before is None:
        return {}
    prior = answer.report.evidence.get(PriorLaunch, Nothing())
    facts = {
        "Reason": f"{signed_facts.waiver.reason} (signed by {signed_facts.waiver.approved_by})",
        "Old identity": (
            f"{identity_of(prior_identity(prior))}, root {before.output_root}, commit "
            f"{before.commit}"
        ),
        "New identity": (
            f"{signed_facts.verdict.subject}, root {answer.plan.output_root.value}, commit "
            f"{answer.plan.commit.value}"
        ),
        "Differs": "; ".join(signed_facts.verdict.details)
        or f"nothing else differs from {before.name}",
    }
    return {name: scrub(value) for name, value in facts.items()}


def _foreign(run: Run, answer: PreflightOutcome, adoptee: Adoptee | None) -> tuple[str, ...]:
    """Checkpoints in the roots that are not this run's: before the first launch all of them, except
    those that an adopted job saved since its start.
    """
    checkpoints = answer.report.evidence.get(Checkpoints)
    if run.record.memory().instances or not isinstance(checkpoints, Checkpoints):
        return ()
    since = adoptee.since if adoptee else None
    return tuple(
        c.path
        for c in checkpoints.candidates
        if since is None or c.modified is None or c.modified < since
    )


def _describe_monitor(run: Run, babysit: bool) -> str:
    """What monitors the run, for the instance's entry in the logbook."""
    section = run.contract.babysit
    if section.declined:
        return f"declined: {section.declined}"
    every = format_duration(section.cadence)
    if run.other_babysit_owner:
        return (
            f"{run.other_babysit_owner}, every {every}: none is started here; start it there, "
            f"{in_tmux(elsewhere(f'herorun babysit {run.slug}'))}"
        )
    if babysit:
        return f"started by launch, {run.launcher.owner}, every {every}"
    return f"none: nothing monitors the run; start it {in_tmux(f'`herorun babysit {run.slug}`')}"
