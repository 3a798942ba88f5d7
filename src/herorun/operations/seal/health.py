"""The health of a run for the seal gate: what a tick would find, without acting."""

from herorun.core.babysit.alert import Alert, AlertState
from herorun.core.babysit.inhibition import muted_topics
from herorun.core.babysit.tick import Tick
from herorun.core.check import Check, Severity, Topic
from herorun.core.evidence import Evidence, HealthAssessment, Sealing
from herorun.core.finding import Outcome, failed
from herorun.core.journal import Memory
from herorun.gate import GateReport, run_seal_gate
from herorun.operations.health.evaluate import evaluate
from herorun.operations.health.rules import rules_of
from herorun.runs import Run


def gather_health(run: Run) -> Evidence:
    """All evidence that was read, with its `HealthAssessment`, so that the gate uses the same
    evidence.
    """
    result, evidence = evaluate(run)
    checks = rules_of(run).by_name
    memory = run.record.memory()
    keys = {alert.key for alert in memory.alerts.values()}
    ended_alerts = tuple(
        (alert.key, _describe_ended(alert, run.slug))
        for alert in _list_ended_alerts(run, result, memory, checks)
    )
    alerts = (*_alerts(result, checks, keys), *ended_alerts)
    return {
        **evidence,
        HealthAssessment: HealthAssessment(alerts, _list_unknowns(result, evidence, checks)),
    }


def report_on_seal(run: Run) -> GateReport:
    """The gate of a final seal, as it stands now."""
    return run_seal_gate(run, Sealing(), inputs=gather_health(run))


def _list_ended_alerts(
    run: Run, tick: Tick, memory: Memory, checks: dict[str, Check]
) -> list[Alert]:
    """Alerts above INFO that ended unresolved, except those that a person acknowledged or
    waived.
    """
    by_key = {alert.key: alert for alert in (*memory.unacknowledged_alerts, *tick.ended)}
    current_keys = {alert.key for alert in tick.alerts.values()}  # open by late evidence
    return [
        alert
        for key, alert in sorted(by_key.items())
        if key not in memory.acked
        and key not in current_keys
        and not (alert.check in checks and checks[alert.check].severity is Severity.INFO)
        and not any(
            w.covers(alert.check, failed("", subject=alert.subject), tick.at) for w in run.waivers
        )
    ]


def _describe_ended(alert: Alert, slug: str) -> str:
    return (
        f"{alert.message}; {AlertState.ENDED}: acknowledge it (`herorun ack {slug} '{alert.name}'`)"
    )


def _alerts(tick: Tick, checks: dict[str, Check], keys: set[str]) -> tuple[tuple[str, str], ...]:
    """The alerts that count, by key or name: a new alert's key would differ at each evaluation, so
    only recorded ones are named by it.
    """
    counting = [alert for alert in tick.alerts.values() if _counts(alert, tick, checks)]
    return tuple((a.key if a.key in keys else a.name, a.message) for a in counting)


def _counts(alert: Alert, tick: Tick, checks: dict[str, Check]) -> bool:
    """Whether an alert counts: it fires above INFO, or is critical and fails now, because at the
    end of a run no hold applies.
    """
    if alert.state is AlertState.RESOLVED or checks[alert.check].severity is Severity.INFO:
        return False
    return alert.firing or (
        _fails_now(alert, tick, checks) and checks[alert.check].topic is not Topic.MONITOR
    )


def _fails_now(alert: Alert, tick: Tick, checks: dict[str, Check]) -> bool:
    critical = checks[alert.check].severity is Severity.CRITICAL
    return critical and alert.state is AlertState.PENDING and alert.seen == tick.at


def _list_unknowns(
    tick: Tick, evidence: Evidence, checks: dict[str, Check]
) -> tuple[tuple[str, str], ...]:
    """Unknown checks, except those that an ended job mutes; and failing alerts about the
    monitor.
    """
    muted_set = muted_topics(evidence, tick.findings, checks)
    unknowns = [
        (f.check, f.verdict.message)
        for f in tick.findings
        if f.open
        and f.verdict.outcome is Outcome.UNKNOWN
        and checks[f.check].severity is not Severity.INFO
        and checks[f.check].topic not in muted_set
    ]
    blind = [
        (a.name, a.message)
        for a in tick.alerts.values()
        if _fails_now(a, tick, checks) and checks[a.check].topic is Topic.MONITOR
    ]
    return (*unknowns, *blind)
