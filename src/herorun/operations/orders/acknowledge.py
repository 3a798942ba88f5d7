"""Acknowledges alerts, and answers whether a run is relaunched or a changed herorun version may
act.
"""

from collections.abc import Iterable, Sequence

from herorun import discover
from herorun.core.babysit.action_key import parse_key
from herorun.core.babysit.alert import Alert
from herorun.core.check import Gate
from herorun.core.contract import Recovery
from herorun.core.durations import format_span
from herorun.core.errors import Blocked, HerorunError, WrongUse
from herorun.core.event import Word
from herorun.core.evidence import LeaseSeen
from herorun.core.health.run_health import RunHealth
from herorun.core.journal import Memory
from herorun.core.notify.escalation_policy import all_answered
from herorun.core.recovery.decision import FINAL
from herorun.core.suggestions import did_you_mean
from herorun.operations.health.evaluate import evaluate
from herorun.operations.orders.order import (
    OrderOutcome,
    babysitter_runs,
    memory_for_orders,
    order,
    push_warning,
    unwatched_warnings,
)
from herorun.operations.orders.questions import continuation_command, open_questions
from herorun.runs import MonitoredRun, Run
from herorun.system.clock import now


def acknowledge(run: MonitoredRun, name: str = "", reason: str = "") -> OrderOutcome:
    """Acknowledge an open alert, or all, including those that ended unresolved: none is
    repeated.
    """
    memory = memory_for_orders(run)
    open_alerts = (*memory.alerts.values(), *memory.unacknowledged_alerts)
    if not open_alerts:
        _refuse_unrecorded(run, memory)
    alerts = _select_alerts(run, open_alerts, name)
    fresh = [alert for alert in alerts if alert.key not in memory.acked]
    if not fresh:
        names = ", ".join(alert.name for alert in alerts)
        message = f"already acknowledged: {names}" if names else "no open alert is recorded"
        return OrderOutcome(run, message, warnings=push_warning(run))
    ended_keys = [alert.key for alert in memory.unacknowledged_alerts]
    warnings = order(run, Word.ACK, [alert.key for alert in fresh], reason)
    return OrderOutcome(
        run,
        _describe_effect(fresh, ended_keys),
        warnings=(*warnings, *filter(None, [_consequence_while_down(run, memory)])),
    )


def _refuse_unrecorded(run: MonitoredRun, memory: Memory) -> None:
    """Raise if an alert is open now that no tick has recorded, and `status` shows."""
    if memory.current is None:
        return
    try:
        result, evidence = evaluate(run, memory=memory)
    except (HerorunError, OSError):
        return  # then nothing is stated about the present
    alerts = (*result.ended, *(alert for alert in result.alerts.values() if alert.firing))
    if alerts:
        names = ", ".join(dict.fromkeys(alert.name for alert in alerts))
        message = "Nothing is acknowledged, because no tick has recorded the alerts of"
        lease = evidence.get(LeaseSeen)
        if isinstance(lease, LeaseSeen) and not lease.mine:
            raise Blocked(
                f"{message} {run.slug} yet: {names}. The clone of {lease.owner} holds the lease: "
                "only its next tick records them."
            )
        command = run.status_command.replace(" status ", " babysit ", 1)
        raise Blocked(
            f"{message} {run.slug} yet: {names}. `{command} --once` records them; then repeat this "
            "command."
        )


def _consequence_while_down(run: MonitoredRun, memory: Memory) -> str:
    """What an acknowledgement does not do, and whether it ends the monitoring; "" for a run that
    was not down.
    """
    if memory.last_decided is None or memory.last_decided.run != RunHealth.DOWN:
        return ""
    message = (
        f"{run.slug} was down at its last tick, and this command does not start it: "
        f"`{run.status_command}` "
        "shows what does"
    )
    if run.ends_with_job:
        return message
    current = memory.current.name if memory.current else ""
    answer = memory.answers.get(current)
    needs_person = (
        run.contract.babysit.recovery is not Recovery.RELAUNCH
        or open_questions(memory)
        or current in memory.stopped_instances
        or (answer is not None and not answer.yes)
    )
    if needs_person:
        return f"{message}. {_monitoring_then(run)}"
    who = "the babysitter" if babysitter_runs(run) else "a babysitter, if one runs,"
    when = "once the pause is over" if memory.ledger.is_paused(now()) else "at its next tick"
    return (
        f"{run.slug} was down at its last tick, and {who} may relaunch it {when}; to "
        f"prevent that: `herorun stop {run.slug}`"
    )


def _monitoring_then(run: MonitoredRun) -> str:
    """Whether a run that is down is still monitored after the order that was just recorded."""
    return end_of_monitoring(run) or (
        "Monitoring continues: another critical alert still needs a person"
    )


def end_of_monitoring(run: MonitoredRun) -> str:
    """That nothing monitors a run that stays down; "" while a critical alert needs a person."""
    memory = run.record.memory()
    checks = {check.name: check for check in discover.checks(Gate.HEALTH)}
    alerts = [alert for alert in memory.alerts.values() if alert.check in checks]
    if not all_answered(alerts, checks, memory.ledger):
        return ""
    when = " once the pause is over" if memory.ledger.is_paused(now()) else ""
    return (
        f"The babysitter ends{when}, because no critical alert needs an answer now: nothing "
        f"monitors {run.slug} until you launch or relaunch it"
    )


def _describe_effect(alerts: Sequence[Alert], ended_keys: Sequence[str]) -> str:
    """What the order does: it closes an alert that ended unresolved, and only silences another."""
    effects = {
        "no more reminders; a later tick closes it once the problem is over": [
            a.name for a in alerts if a.key not in ended_keys
        ],
        "closed": [a.name for a in alerts if a.key in ended_keys],
    }
    return "; ".join(
        f"acknowledged {', '.join(names)}: {effect}" for effect, names in effects.items() if names
    )


def _select_alerts(run: MonitoredRun, alerts: Iterable[Alert], name: str) -> list[Alert]:
    """The alerts with this name, which is a check, `check[subject]` or a complete key; all if the
    name is empty.
    """
    every = list(alerts)
    if not name:
        return every
    matches = [alert for alert in every if name in (alert.check, alert.name, alert.key)]
    if matches:
        return matches
    names = sorted({alert.check for alert in every})
    hint = did_you_mean(name, names) or f" Open alerts: {', '.join(names) or 'none'}."
    raise WrongUse(f"No alert {name} of {run.slug} is open.{hint}")


def answer(run: Run, yes: bool, reason: str = "") -> OrderOutcome:
    """Answer the question about a relaunch. An approved relaunch happens at the next tick, through
    the launch gate.
    """
    memory = memory_for_orders(run)
    if _is_version_question(memory, yes):
        return _answer_for_judge(run, memory, yes, reason)
    current = memory.current
    questions = open_questions(memory)
    if current is None or not questions:
        return _nothing_open(run, memory, yes)
    final = [key for key in questions if parse_key(key).last in FINAL]
    if yes and run.contract.babysit.recovery is Recovery.OBSERVE:
        raise Blocked(
            'The contract says recovery = "observe": the babysitter relaunches nothing, even '
            f"after an approval. To continue the run: `{_continuation_command(run, memory)}`."
        )
    if yes and final:
        raise Blocked(
            f"{current.name} is not relaunched ({parse_key(final[0]).last}) even if approved. "
            f"To continue the run: `{_continuation_command(run, memory)}`."
        )
    warnings = order(run, Word.APPROVE if yes else Word.DENY, questions, reason)
    if problem := _overtaken_by(run, current.name, yes):
        return OrderOutcome(run, problem, code=1, warnings=warnings)
    if not yes:
        message = (
            f"denied: herorun will not relaunch {current.name}. {_monitoring_then(run)}. To "
            f"relaunch after all: `herorun status {run.slug}` shows the command"
        )
        return OrderOutcome(run, message, warnings=warnings)
    watch_warnings = unwatched_warnings(run)
    if babysitter_runs(run):
        message = (
            "approved: the babysitter's next tick (within "
            f"{format_span(run.contract.babysit.cadence)}) runs the launch checks and, if they "
            f"pass, relaunches {current.name}; to delay that: `herorun pause {run.slug} --until 2h`"
        )
    else:
        message = (
            f"approved: the next tick of a babysitter runs the launch checks and, if they pass, "
            f"relaunches {current.name}"
        )
    return OrderOutcome(run, message, warnings=(*warnings, *watch_warnings))


def _overtaken_by(run: Run, instance: str, yes: bool) -> str:
    """The message if another clone's earlier entry makes this answer ineffective; otherwise ""."""
    memory = run.record.memory()
    current, stands = memory.current, memory.answers.get(instance)
    if yes and stands and not stands.yes:
        return (
            f"not approved: {instance} was {stands.summary} at the same time; to start it anyway: "
            f"`{_continuation_command(run, memory)}`"
        )
    if not yes and current and current.name != instance:
        return (
            f"denied too late: {current.name} was submitted in place of {instance}: "
            f"`herorun stop {run.slug}` stops {current.name}"
        )
    return ""


def _continuation_command(run: Run, memory: Memory) -> str:
    from herorun.operations.health.taints import with_taints_now
    from herorun.operations.launch.propose import Proposer

    return continuation_command(Proposer(run, with_taints_now(run, memory)))


def _is_version_question(memory: Memory, yes: bool) -> bool:
    """Whether the answer is about the new version: it comes before all other questions. If no other
    question is open, a person may also change that answer.
    """
    judge = memory.judge
    if not judge.question:
        return False
    return judge.answer is None or (judge.answer.yes is not yes and not open_questions(memory))


def _answer_for_judge(run: Run, memory: Memory, yes: bool, reason: str) -> OrderOutcome:
    """Record whether a new version of herorun may act on the job."""
    judge = memory.judge
    assert judge.replayed is not None
    warnings = order(run, Word.APPROVE if yes else Word.DENY, [judge.question], reason)
    name = f"herorun {judge.replayed.version}"
    message = (
        f"approved: {name} acts from the next tick on" if yes else f"denied: {name} only observes"
    )
    remaining = open_questions(memory)
    more = f"; a relaunch is asked for too: `herorun status {run.slug}`"
    return OrderOutcome(
        run,
        message + (more if remaining else ""),
        warnings=(*warnings, *(unwatched_warnings(run) if yes else ())),
    )


def _nothing_open(run: Run, memory: Memory, yes: bool) -> OrderOutcome:
    current = memory.current
    last_answer = memory.answers.get(current.name) if current else None
    if last_answer is None and memory.judge.answer is not None:
        return OrderOutcome(run, f"already {memory.judge.answer.summary}")
    if last_answer is None:
        raise WrongUse(
            f"There is no question about {run.slug}: `herorun status {run.slug}` shows its state."
        )
    if last_answer.yes is yes:
        return OrderOutcome(run, f"already {last_answer.summary}", warnings=push_warning(run))
    way_on = (
        f"The next tick may relaunch it. To prevent that: `herorun stop {run.slug}`; to delay it: "
        f"`herorun pause {run.slug} --until 2h`"
        if last_answer.yes
        else f"To start it anyway: `{_continuation_command(run, memory)}`"
    )
    raise WrongUse(f"The relaunch of {run.slug} was already {last_answer.summary}. {way_on}.")
