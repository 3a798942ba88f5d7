"""Starts an instance: record the intent, announce it, submit once, record the outcome. Launch and
relaunch share it.

Order: lease, intent (committed and pushed), issue comment, submission, outcome. A crash anywhere
leaves an intent that the next command settles by asking the scheduler for that instance.
"""

import time
from datetime import timedelta

from herorun.core.errors import (
    UNFORESEEN,
    Blocked,
    CouldNotLook,
    HerorunError,
    WrongUse,
    describe_error,
    sentence,
)
from herorun.core.event import Launched, Launching
from herorun.core.evidence import Job, JobState
from herorun.core.finding import unknown
from herorun.core.markdown import one_line
from herorun.core.ports import Absent, Found, Scheduler, Search, Unknown, tracker_traits
from herorun.core.record.render import instance_lines
from herorun.core.redaction.scrub import scrub
from herorun.operations.launch.admitted_plan import admitted_plan
from herorun.operations.launch.announce import announce, announce_retention, give_up
from herorun.operations.launch.intent import record_intent, where
from herorun.operations.launch.order import LaunchOrder
from herorun.operations.launch.snapshot import keep_snapshot
from herorun.operations.launch.submit import ALONE, other_live_jobs, submit
from herorun.runs import Run
from herorun.runs.admitted_contract import replace_contract
from herorun.runs.launch_history import launched_contract
from herorun.system.clock import now

SETTLING = 15.0  # seconds that a command waits for the scheduler's settle time


def start_instance(run: Run, order: LaunchOrder) -> Launched:
    """Start the next instance, or continue one that was intended and never submitted."""
    launching = record_intent(run, order)
    try:
        if not order.relaunch_of:  # a relaunch uses the snapshot of the first launch
            keep_snapshot(run, order.plan, launching)
        announce(run, order, launching)
        announce_retention(run, launching)
    except (HerorunError, OSError) as error:
        _not_submitted(run, launching, error)
        raise
    job = _adopt_job(run, launching) if launching.adopts else _submit_order(run, order, launching)
    return _confirm(run, order, launching, job)


def _submit_order(run: Run, order: LaunchOrder, launching: Launching) -> Job:
    try:
        return submit(run, order.plan, launching.instance, order.show_request)
    except WrongUse as error:  # refused before anything was started
        _not_submitted(run, launching, error)
        raise
    except (HerorunError, OSError) as error:
        return _find_after_error(run, launching, error)


def _adopt_job(run: Run, launching: Launching) -> Job:
    """The adopted job, read once more; if it cannot be read, the intent stays open."""
    answer = _search(run.scheduler, launching)
    if isinstance(answer, Found) and not answer.job.state.is_final:
        return answer.job
    if isinstance(answer, Unknown):
        raise CouldNotLook(
            f"Cannot tell whether the job of {launching.instance} still runs: "
            f"{sentence(answer.why)} Repeat the command."
        )
    blocked_reason = Blocked(f"The job of {launching.instance} ended before it was adopted.")
    _not_submitted(run, launching, blocked_reason)
    raise blocked_reason


def _not_submitted(run: Run, launching: Launching, error: Exception) -> None:
    give_up(run, launching, scrub(describe_error(error)))
    run.record.push()


def _find_after_error(run: Run, launching: Launching, error: Exception) -> Job:
    """Search for the job after a failed submission, which may have succeeded: only the scheduler's
    answer counts.
    """
    answer = _search(run.scheduler, launching)
    if isinstance(answer, Found):
        return answer.job
    if isinstance(answer, Absent):
        _not_submitted(run, launching, error)
    raise error


def _confirm(run: Run, order: LaunchOrder, launching: Launching, job: Job) -> Launched:
    from herorun.operations.record.registry import register_launch

    plan = order.plan
    launch_event = Launched(
        at=now(),
        instance=launching.instance,
        number=launching.number,
        job=job.id,
        plan_digest=plan.digest,
        output_root=plan.output_root.value,
        commit=plan.commit.value,
        entry={
            **instance_lines(
                plan,
                run.dri,
                order.babysitter,
                job.id,
                order.dirty,
                order.policy,
                tracker_label=tracker_traits(run.tracker).label,
            ),
            **(
                {"`initialize_from`": "not known: herorun did not start it"} if order.adopts else {}
            ),
            **{name: one_line(value) for name, value in order.facts.items()},
            "Live jobs": scrub(other_live_jobs(run, launching.instance) or ALONE),
        },
        relaunch_of=order.relaunch_of,
        babysitter=order.babysitter,
    )
    run.record.append(launch_event)
    run.record.push()
    register_launch(run, job, order.why)
    return launch_event


# --- an intent whose outcome is unknown -----------------------------------------------------------


def settle_launching(run: Run, babysitter: str, may_be_forgotten: bool = False) -> Launched | None:
    """Ask the scheduler for an instance that may have been submitted. None if it was not, so that
    it may be submitted now. With `may_be_forgotten` one that the scheduler has forgotten counts as
    submitted: what it wrote is the run's.
    """
    launching = run.record.memory().unsettled
    if launching is None:
        return None
    outcome = _ask_where_submitted(run, launching)
    if isinstance(outcome, Unknown):
        _must_be_signed(run, launching, outcome)
        return None
    run_there, answer = outcome
    is_earlier = run_there is not run and not may_be_forgotten
    if is_earlier and isinstance(answer, Unknown) and _is_signed(run, launching, answer):
        return None
    is_forgotten = isinstance(answer, Unknown) and answer.forgotten
    if (
        (isinstance(answer, Absent) or is_forgotten)
        and launching.where != where(run)
        and not run_there.scheduler.cluster_wide
    ):
        raise CouldNotLook(
            f"{launching.instance} may have been submitted from {launching.where}: only there can "
            "herorun find out. Launch there."
        )
    if is_forgotten and may_be_forgotten and not launching.adopts:
        answer = Found(Job(id="unknown", instance=launching.instance, state=JobState.GONE))
    if isinstance(answer, Unknown):
        raise _explain_undecided(run, launching, answer)
    if isinstance(answer, Found):
        return _continue(run_there, launching, babysitter, answer.job)
    return None


def _ask_where_submitted(run: Run, launching: Launching) -> tuple[Run, Search] | Unknown:
    """A scheduler's answer on the instance, and the run as connected to that scheduler; `Unknown`
    if the launch's own does not answer and the contract no longer names it.

    The present one may list the job then: it can be another login node of the same cluster. Not
    asked for an adopted job, whose id may be that of another process there.
    """
    run_at_launch = _as_submitted(run, launching)
    if isinstance(run_at_launch, Unknown):
        no_answer = run_at_launch
    else:
        answer = _search(run_at_launch.scheduler, launching)
        if run_at_launch is run or not isinstance(answer, Unknown):
            return run_at_launch, answer
        no_answer = answer
    if not launching.adopts:
        answer_now = _search(run.scheduler, launching)
        if isinstance(answer_now, Found):
            return run, answer_now
    # `stop` ends what was forgotten, but not a job that herorun did not submit
    if isinstance(run_at_launch, Unknown) or not no_answer.forgotten or launching.adopts:
        return no_answer
    return run_at_launch, no_answer


def _as_submitted(run: Run, launching: Launching) -> Run | Unknown:
    """The run by the contract that the intent was recorded under, or why its scheduler cannot be
    asked.

    The present contract may name another one since, such as another host because the first did not
    answer. That one knows no such job, which does not show that none runs.
    """
    try:
        contract = launched_contract(run.repository, launching)
        if contract.scheduler == run.contract.scheduler:
            return run
        run_at_launch = replace_contract(run, contract)
        cluster = getattr(run_at_launch.scheduler, "cluster", None)
    except UNFORESEEN as error:  # also of a package that is no longer installed
        return Unknown(describe_error(error))
    is_same = cluster is not None and cluster == getattr(run.scheduler, "cluster", None)
    return run if is_same else run_at_launch


def find_as_submitted(run: Run, launching: Launching) -> Search | None:
    """The answer of an earlier scheduler about an open launch; None if the contract's present one
    was asked.
    """
    run_at_launch = _as_submitted(run, launching)
    if run_at_launch is run or isinstance(run_at_launch, Unknown):
        return run_at_launch if isinstance(run_at_launch, Unknown) else None
    return _search(run_at_launch.scheduler, launching, seconds=0.0)


def _must_be_signed(run: Run, launching: Launching, answer: Unknown) -> None:
    """Raise if the scheduler of the launch does not answer, unless a waiver for this very instance
    signs that no such job runs.
    """
    name = launching.instance
    if _is_signed(run, launching, answer):
        return
    raise CouldNotLook(
        f"{name} may have been submitted under an earlier [scheduler] of {run.slug}, which does "
        f"not show whether it runs: {sentence(answer.why)} Make that scheduler answer, then repeat "
        "the command. If you know that no such job runs, sign that: "
        f"`herorun waive live-duplicate {run.slug} --subject {name} --unknown`."
    )


def _is_signed(run: Run, launching: Launching, answer: Unknown) -> bool:
    verdict = unknown(answer.why, subject=launching.instance)
    return any(
        waiver.subject == launching.instance and waiver.covers("live-duplicate", verdict, now())
        for waiver in run.waivers
    )


def _explain_undecided(run: Run, launching: Launching, answer: Unknown) -> CouldNotLook:
    """The error for an instance of which the scheduler does not say whether it was submitted."""
    way_on = (
        f"If you know that no such job runs: `herorun stop {run.slug}` records that."
        if answer.forgotten and not launching.adopts
        else "Repeat the command."
    )
    return CouldNotLook(
        f"Cannot tell whether {launching.instance} was submitted: {sentence(answer.why)} {way_on}"
    )


def _continue(run: Run, launching: Launching, babysitter: str, job: Job) -> Launched:
    """Record the outcome of an intent whose job was found, as the intent states it."""
    order = LaunchOrder(
        plan=admitted_plan(run, launching),
        why=launching.why,
        babysitter=babysitter,
        relaunch_of=launching.relaunch_of,
        dirty=launching.dirty,
        policy=launching.policy,
        given_up=launching.given_up,
        facts=launching.facts,
        adopts=launching.adopts,
    )
    # an adopted job existed before the intent, so finding it does not show what was done
    if order.adopts:
        return start_instance(run, order)
    return _confirm(run, order, launching, job)


def _search(scheduler: Scheduler, launching: Launching, seconds: float | None = None) -> Search:
    """The scheduler's answer, waiting a little for its settle time."""
    until = now() + timedelta(seconds=SETTLING if seconds is None else seconds)
    try:
        answer = scheduler.find(launching.instance, launching.at)
        while isinstance(answer, Unknown) and now() < until:
            time.sleep(0.5)
            answer = scheduler.find(launching.instance, launching.at)
    except UNFORESEEN as error:  # no answer either: a person may sign past it
        return Unknown(describe_error(error))
    return answer
