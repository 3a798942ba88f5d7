"""Starts an instance: record the intent, announce it, submit once, record the outcome. Launch and
relaunch share it.

Order: lease, intent (committed and pushed), issue comment, submission, outcome. A crash anywhere
leaves an intent that the next command settles by asking the scheduler for that instance.
"""

import time
from dataclasses import replace
from datetime import timedelta

from herorun.core.canonical_json import canonical, digest, timestamp
from herorun.core.errors import (
    Blocked,
    CouldNotLook,
    HerorunError,
    WrongUse,
    describe_error,
    sentence,
)
from herorun.core.event import Launched, Launching
from herorun.core.evidence import Job, JobState
from herorun.core.journal import as_json
from herorun.core.markdown import one_line
from herorun.core.plan import Plan
from herorun.core.ports import Absent, Found, Search, Unknown
from herorun.core.record.render import instance_lines
from herorun.core.redaction.scrub import scrub
from herorun.operations.launch.admitted_plan import admitted_plan
from herorun.operations.launch.announce import announce, announce_retention, give_up
from herorun.operations.launch.order import LaunchOrder
from herorun.operations.launch.snapshot import keep_snapshot, stored_diff
from herorun.operations.launch.submit import ALONE, other_live_jobs, submit
from herorun.operations.record.lease import take_lease
from herorun.runs import Run
from herorun.runs.launch_trust import note_own
from herorun.system.clock import now

SETTLING = 15.0  # seconds that a command waits for the scheduler's settle time


def start_instance(run: Run, order: LaunchOrder) -> Launched:
    """Start the next instance, or continue one that was intended and never submitted."""
    launching = _intend(run, order)
    try:
        if not order.relaunch_of:  # a relaunch uses the snapshot of the first launch
            keep_snapshot(run, order.plan, launching)
        announce(run, order, launching)
        announce_retention(run, launching)
    except (HerorunError, OSError) as error:
        _not_submitted(run, launching, error)
        raise
    job = _adopt_job(run, launching) if launching.adopts else _submitted(run, order, launching)
    return _confirm(run, order, launching, job)


def _submitted(run: Run, order: LaunchOrder, launching: Launching) -> Job:
    try:
        return submit(run, order.plan, launching.instance, order.show_request)
    except WrongUse as error:  # refused before anything was started
        _not_submitted(run, launching, error)
        raise
    except (HerorunError, OSError) as error:
        return _find_after_error(run, launching, error)


def _adopt_job(run: Run, launching: Launching) -> Job:
    """The adopted job, read once more; if it cannot be read, the intent stays open."""
    answer = _search(run, launching)
    if isinstance(answer, Found) and not answer.job.state.ended:
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
    answer = _search(run, launching)
    if isinstance(answer, Found):
        return answer.job
    if isinstance(answer, Absent):
        _not_submitted(run, launching, error)
    raise error


def _intend(run: Run, order: LaunchOrder) -> Launching:
    """Record the intent, hold the lease, and push before the submission, which cannot be undone."""
    take_lease(run)
    launching = _waiting(run, order) or _new_intent(run, order)
    push_result = run.record.push()
    stands = run.record.memory().launchings[launching.instance]
    if (stands.at, stands.where) != (launching.at, launching.where):
        raise Blocked(
            f"Nothing was submitted: another clone launches {launching.instance}, as {stands.by}."
        )
    if not push_result and run.record.remote and not order.relaunch_of:
        why = f"the record of the launch could not be pushed: {push_result.why}"
        give_up(run, launching, why)
        raise CouldNotLook(
            f"Nothing was submitted: {why}. Launch again once {run.record.branch} can be pushed to "
            f"{run.record.remote}."
        )
    return launching


def _waiting(run: Run, order: LaunchOrder) -> Launching | None:
    """The intent of an interrupted launch of the same plan; that of another plan is given up."""
    open_launch = run.record.memory().unsettled
    if open_launch is None or _intent_key(open_launch) == (
        order.plan.digest,
        _back(order),
        _adopts(order),
    ):
        return open_launch
    plan_changed = _adopts(open_launch) == _adopts(order)
    give_up(
        run,
        open_launch,
        f"{'the plan' if plan_changed else 'the order'} moved before the next attempt",
    )
    return None


def _intent_key(open_launch: Launching) -> tuple[str, int | None, str]:
    return open_launch.plan_digest, _back(open_launch), _adopts(open_launch)


def _adopts(order: Launching | LaunchOrder) -> str:
    return order.adopts.job if order.adopts else ""


def _back(order: Launching | LaunchOrder) -> int | None:
    """The step that a rollback goes back to; None for everything else."""
    return order.given_up.step if order.given_up else None


def _new_intent(run: Run, order: LaunchOrder) -> Launching:
    from herorun.operations.launch.admission import salted_secrets
    from herorun.operations.record.init import amendment

    number = run.record.memory().next_number
    launching = Launching(
        at=now(),
        instance=f"{run.slug}-{number}",
        number=number,
        plan=as_json(order.plan),
        plan_digest=order.plan.digest,
        why=order.why,
        contract_file=run.file.path,
        relaunch_of=order.relaunch_of,
        by=run.launcher.owner,
        dirty=order.dirty,
        where=where(run),
        foreign=order.foreign,
        policy=order.policy,
        overlooked=order.overlooked,
        given_up=order.given_up,
        facts=order.facts,
        adopts=order.adopts,
        secrets=salted_secrets(run, order.plan),
    )
    amendment_event = None if order.relaunch_of else amendment(run, order.plan, launching.instance)
    if amendment_event is not None:
        message = "; ".join(f"{name}: {change}" for name, change in amendment_event.lines.items())
        launching = replace(launching, facts={**launching.facts, "Contract amended": message})
    events = (amendment_event, launching) if amendment_event is not None else (launching,)
    if order.by_itself:
        _must_not_be_paused(run)
    # before it is in the record, so that this clone trusts it without proof
    note_own(run.repository, run.slug, launching)
    run.record.append(*events, files=_attached_files(run, order.plan))
    return launching


def _must_not_be_paused(run: Run) -> None:
    """`CouldNotLook` where a person paused the run after the babysitter decided to act."""
    ledger, at = run.record.memory().ledger, now()
    if ledger.pause is None or not ledger.paused(at):
        return
    pause = ledger.pause
    reason = f" ({pause.reason})" if pause.reason else ""
    raise CouldNotLook(
        f"Nothing was submitted: {pause.by} paused {run.slug} until {timestamp(pause.until)}"
        f"{reason}; `herorun resume {run.slug}` ends the pause."
    )


def _attached_files(run: Run, plan: Plan) -> dict[str, bytes]:
    """What another machine needs to evaluate this launch: the admitted contract, the resolved
    config, the edits.
    """
    config = canonical(plan.config.value) + "\n"
    contents = {"contract": (run.file.text, "toml"), "config": (config, "json")}
    return {
        f"{word}-{digest(text)[7:19]}.{end}": scrub(text).encode()
        for word, (text, end) in contents.items()
        if text
    } | stored_diff(run, plan)


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
            **instance_lines(plan, run.dri, order.babysitter, job.id, order.dirty, order.policy),
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
    memory = run.record.memory()
    launching = memory.unsettled
    if launching is None:
        return None
    answer = _search(run, launching)
    is_forgotten = isinstance(answer, Unknown) and answer.forgotten
    if (
        (isinstance(answer, Absent) or is_forgotten)
        and launching.where != where(run)
        and not run.scheduler.cluster_wide
    ):
        raise CouldNotLook(
            f"{launching.instance} may have been submitted from {launching.where}: only there can "
            "herorun find out. Launch there."
        )
    if is_forgotten and may_be_forgotten and not launching.adopts:
        answer = Found(Job("unknown", launching.instance, JobState.GONE))
    if isinstance(answer, Unknown):
        way_on = (
            f"If you know that no such job runs: `herorun stop {run.slug}` records that."
            if is_forgotten
            else "Repeat the command."
        )
        raise CouldNotLook(
            f"Cannot tell whether {launching.instance} was submitted: {sentence(answer.why)} "
            f"{way_on}"
        )
    if isinstance(answer, Found):
        plan = admitted_plan(run, launching)
        order = LaunchOrder(
            plan,
            launching.why,
            babysitter,
            launching.relaunch_of,
            launching.dirty,
            policy=launching.policy,
            given_up=launching.given_up,
            facts=launching.facts,
            adopts=launching.adopts,
        )
        # an adopted job existed before the intent, so finding it does not show what was done
        if order.adopts:
            return start_instance(run, order)
        return _confirm(run, order, launching, answer.job)
    return None


def where(run: Run) -> str:
    """The machine and state folder for which a local scheduler's answers are valid."""
    return f"{run.launcher.owner}:{run.state}"


def _search(run: Run, launching: Launching) -> Search:
    """The scheduler's answer, waiting a little for its settle time."""
    until = now() + timedelta(seconds=SETTLING)
    answer = run.scheduler.find(launching.instance, launching.at)
    while isinstance(answer, Unknown) and now() < until:
        time.sleep(0.5)
        answer = run.scheduler.find(launching.instance, launching.at)
    return answer
