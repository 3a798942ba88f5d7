"""Records the intent of a launch: the lease is held, the plan and its files are in the journal, and
the record is pushed, before anything is submitted.
"""

from dataclasses import replace

from herorun.core.canonical_json import canonical, digest, timestamp
from herorun.core.errors import Blocked, CouldNotLook
from herorun.core.event import Launching
from herorun.core.journal import as_json
from herorun.core.plan import Plan
from herorun.core.redaction.scrub import scrub
from herorun.operations.launch.announce import give_up
from herorun.operations.launch.order import LaunchOrder
from herorun.operations.launch.snapshot import stored_diff
from herorun.operations.record.lease import take_lease
from herorun.runs import Run
from herorun.runs.launch_trust import note_own
from herorun.system.clock import now


def record_intent(run: Run, order: LaunchOrder) -> Launching:
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
        f"{'the plan' if plan_changed else 'the order'} changed before the next attempt",
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
    if ledger.pause is None or not ledger.is_paused(at):
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


def where(run: Run) -> str:
    """The machine and state folder for which a local scheduler's answers are valid."""
    return f"{run.launcher.owner}:{run.state}"
