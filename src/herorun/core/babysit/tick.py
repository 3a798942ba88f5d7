"""One tick of the babysitter, as a pure function that can be replayed."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from herorun.core.babysit.actions import Action, Relaunch
from herorun.core.babysit.alert import Alert, AlertId, EngineMeasures
from herorun.core.babysit.alert_clock import advance
from herorun.core.babysit.ended_alerts import (
    ended_unresolved,
    left_behind,
    no_longer_asked,
    no_longer_judged,
    resolved_late,
)
from herorun.core.babysit.inhibition import muted_topics, numeric_stretches
from herorun.core.babysit.past_alerts import carried_over, without_old_news
from herorun.core.babysit.policy import decide, ended_alert_notices
from herorun.core.check import Check, Severity, Topic, evaluate
from herorun.core.evidence import (
    Evidence,
    Gaps,
    History,
    Job,
    Metrics,
)
from herorun.core.finding import Finding, Outcome, Waiver, failed, waive
from herorun.core.health.causes import with_causes
from herorun.core.health.run_health import RunHealth as RunHealth, condition
from herorun.core.health.training_proof import AwaitedEvidence, Training, TrainingProof, training
from herorun.core.lazy_dataclass import dataclass
from herorun.core.notify.escalation_policy import (
    Case,
    EscalationContext,
    all_answered,
    waiting_until,
)
from herorun.core.notify.notifications import news
from herorun.core.recovery.classify import Ending, ending_of
from herorun.core.recovery.diagnosis import end_context_of
from herorun.core.recovery.policy import Ledger, RecoveryPolicy

RECEIPT = "not-checked-in"  # the check that requires a receipt
SAVES = ("nothing-saved", "late-checkpoints", "stalled-checkpoints")  # checks that require saves
PACE = "stalled-steps"  # its limits state how long rows may be missing


class MonitorHealth(StrEnum):
    FRESH = "fresh"  # all evidence was read
    PARTIAL = "partial"  # some was not read
    STALE = "stale"  # neither the job nor its metrics were read


@dataclass(frozen=True, kw_only=True)
class Tick:
    at: datetime
    run: RunHealth
    monitor: MonitorHealth
    findings: list[Finding]
    alerts: dict[AlertId, Alert]
    actions: list[Action]
    ending: Ending | None = None  # of an end without success
    wake: datetime | None = None  # when a delayed relaunch is due
    # a person has acknowledged all firing critical alerts, or decided that the run stays down
    settled: bool = False
    awaited: tuple[AwaitedEvidence, ...] = ()  # evidence that is missing
    quiet_every: timedelta = timedelta(hours=1)  # between two entries of quiet ticks in the logbook
    ended: tuple[Alert, ...] = ()  # alerts that ended unresolved at this tick

    @property
    def stays_down(self) -> bool:
        """Whether the run is down, and no relaunch was decided or is delayed."""
        has_relaunched = any(isinstance(action, Relaunch) for action in self.actions)
        return self.run == RunHealth.DOWN and self.wake is None and not has_relaunched


@dataclass(frozen=True)
class Rules:
    """The rules of a tick."""

    checks: Sequence[Check]
    policy: RecoveryPolicy
    waivers: Sequence[Waiver] = ()
    limits: Mapping[str, Any] = field(default_factory=dict)

    @property
    def by_name(self) -> dict[str, Check]:
        return {check.name: check for check in sorted(self.checks, key=lambda c: c.name)}


def tick(
    alerts: Mapping[AlertId, Alert], ledger: Ledger, evidence: Evidence, rules: Rules, now: datetime
) -> Tick:
    """Evaluate, waive, advance, decide."""
    checks = rules.by_name
    alerts, unasked_alerts = no_longer_asked(alerts, checks)
    findings = _findings_of(alerts, ledger, evidence, rules, now)
    case = case_of(evidence, ledger, now)
    step = _step_of_metrics(evidence)
    moment = EngineMeasures(now, rules.policy.cadence, step, ledger.instance, case.live)
    quiet_topics = muted_topics(evidence, findings, checks)
    after, ended_alerts = _advance_alerts(
        alerts,
        ledger,
        evidence,
        findings,
        checks,
        moment=moment,
        quiet_topics=quiet_topics,
    )
    ended_alerts = (*unasked_alerts, *ended_alerts)
    proof = _proof_of_training(evidence, rules, findings, now)
    health = run_health(evidence, proof, after.values(), checks)
    actions = [
        *ended_alert_notices(ended_alerts, checks, ledger),
        *decide(
            alerts=after,
            checks=checks,
            policy=rules.policy,
            ledger=ledger,
            now=now,
            case=case,
            quiet_topics=quiet_topics,
        ),
        *news(health, evidence, after.values(), rules.policy, ledger, now),
    ]
    return Tick(
        at=now,
        run=health,
        monitor=monitor_health(evidence),
        findings=findings,
        alerts=after,
        actions=actions,
        ending=case.ending,
        wake=waiting_until(
            tuple(after.values()), EscalationContext(checks, rules.policy, ledger, case, now)
        ),
        settled=all_answered(after.values(), checks, ledger)
        and (health is not RunHealth.DOWN or bool(ledger.decision)),
        awaited=(*proof.awaited, *overdue(evidence, findings)),
        quiet_every=rules.policy.quiet_every,
        ended=ended_alerts,
    )


def _findings_of(
    alerts: Mapping[AlertId, Alert], ledger: Ledger, evidence: Evidence, rules: Rules, now: datetime
) -> list[Finding]:
    """The findings of the checks, with waivers and causes; a completely reported stretch passes."""
    checks = rules.by_name
    findings = evaluate(checks.values(), evidence, rules.limits)
    findings = with_causes(waive(findings, rules.waivers, now), checks)
    return without_old_news(findings, ledger.past, checks, alerts, ledger.instance)


def _advance_alerts(
    alerts: Mapping[AlertId, Alert],
    ledger: Ledger,
    evidence: Evidence,
    findings: Sequence[Finding],
    checks: Mapping[str, Check],
    *,
    moment: EngineMeasures,
    quiet_topics: frozenset[Topic],
) -> tuple[dict[AlertId, Alert], tuple[Alert, ...]]:
    """The alerts after these findings, and those that end unresolved."""
    alerts = carried_over(alerts, findings, ledger.past, ledger.left_alerts, checks)
    alerts, ended_alerts, late_resolved = _end_alerts(alerts, ledger, evidence, findings, checks)
    numeric = numeric_stretches(evidence, findings, checks)
    alerts_now = advance(alerts, findings, checks, moment, quiet_topics, numeric)
    alerts_now, unjudged_alerts = no_longer_judged(alerts_now, findings, moment)
    return {**late_resolved, **alerts_now}, (*ended_alerts, *unjudged_alerts)


def _end_alerts(
    alerts: Mapping[AlertId, Alert],
    ledger: Ledger,
    evidence: Evidence,
    findings: Sequence[Finding],
    checks: Mapping[str, Check],
) -> tuple[Mapping[AlertId, Alert], tuple[Alert, ...], dict[AlertId, Alert]]:
    """The alerts that continue; those that end unresolved, because their instance ended or another
    one was launched; and those of the latter, now or before, that late evidence resolves.
    """
    ended_alerts = _left_unresolved(alerts, ledger, findings, checks)
    if _has_ended(evidence):
        alerts, unresolved_alerts = ended_unresolved(alerts, findings, checks)
        ended_alerts = (*ended_alerts, *unresolved_alerts)
    late_resolved = resolved_late((*ledger.ended, *ended_alerts), findings)
    ended_alerts = tuple(alert for alert in ended_alerts if alert.id not in late_resolved)
    return alerts, ended_alerts, late_resolved


def _left_unresolved(
    alerts: Mapping[AlertId, Alert],
    ledger: Ledger,
    findings: Iterable[Finding],
    checks: Mapping[str, Check],
) -> tuple[Alert, ...]:
    """Alerts that earlier instances left open and that no alert of this instance continues."""
    carried_keys = {alert.key for alert in alerts.values()}
    ended_alerts = left_behind(
        (alert for alert in ledger.left_alerts if alert.key not in carried_keys), checks
    )
    return tuple(alert for alert in ended_alerts if not _is_continued(alert, findings, checks))


def _proof_of_training(
    evidence: Evidence, rules: Rules, findings: Sequence[Finding], now: datetime
) -> Training:
    """Whether the run is proven to train; not while required evidence is overdue."""
    proof = training_of(evidence, rules, now)
    if overdue(evidence, findings) and proof.proof is TrainingProof.COMPLETE:
        return Training(TrainingProof.LACKING, proof.awaited)
    return proof


def _is_continued(alert: Alert, findings: Iterable[Finding], checks: Mapping[str, Check]) -> bool:
    """Whether an old warning continues as a new alert: its check fails again now, for any
    subject.
    """
    fails = any(f.check == alert.check and f.verdict.outcome is Outcome.FAIL for f in findings)
    return fails and checks[alert.check].severity is not Severity.CRITICAL


def _has_ended(evidence: Evidence) -> bool:
    job = evidence.get(Job)
    return isinstance(job, Job) and job.state.is_final and not job.state.in_doubt


def case_of(evidence: Evidence, ledger: Ledger, now: datetime) -> Case:
    """The facts about the job itself: whether it is live, or how it ended."""
    job, history = evidence.get(Job), evidence.get(History)
    current = history.current if isinstance(history, History) else None
    if not isinstance(job, Job) or current is None:
        return Case()
    ending = ending_of(job, end_context_of(evidence), current, ledger.start_step, now)
    recorded_ending = next((each for each in ledger.endings if each.instance == current.name), None)
    if ending is not None and ending.advanced is None and recorded_ending is not None:
        # recorded when the checkpoints could be read
        ending = replace(ending, advanced=recorded_ending.advanced)
    return Case(job.state.live, ending)


def _step_of_metrics(evidence: Evidence) -> int | None:
    metrics = evidence.get(Metrics)
    return metrics.step if isinstance(metrics, Metrics) else None


def run_health(
    evidence: Evidence, proof: Training, alerts: Iterable[Alert], checks: Mapping[str, Check]
) -> RunHealth:
    """By the tables of `core.health.run_health`."""
    return condition(evidence.get(Job), proof, alerts, checks)


def training_of(evidence: Evidence, rules: Rules, now: datetime) -> Training:
    """The proofs that the run trains. A receipt is required if `not-checked-in` applies and is not
    waived.
    """
    job = evidence.get(Job)
    absent = failed("", subject=job.instance if isinstance(job, Job) else "")
    is_accepted = any(waiver.covers(RECEIPT, absent, now) for waiver in rules.waivers)
    due = RECEIPT in rules.by_name and not is_accepted
    return training(evidence, now, due, rules.limits.get(PACE))


def overdue(evidence: Evidence, findings: Iterable[Finding]) -> tuple[AwaitedEvidence, ...]:
    """The overdue checkpoint of a running job, once even if several checks require it."""
    job = evidence.get(Job)
    if not isinstance(job, Job) or not job.state.live:
        return ()
    overdue_actions = [
        f for f in findings if f.check in SAVES and f.open and f.verdict.outcome is Outcome.FAIL
    ]
    return tuple(
        AwaitedEvidence("checkpoint", finding.verdict.message) for finding in overdue_actions[:1]
    )


def exit_code(
    run: str, monitor: str, critical: Collection[Topic], awaited_keys: Collection[object]
) -> int:
    """The exit code: a problem of the run (1) comes before unreadable or missing evidence (3).

    `critical` are the topics of the firing critical alerts; one about the monitor is not about the
    run.
    """
    if run == RunHealth.DOWN or set(critical) - {Topic.MONITOR}:
        return 1
    is_blind = run in (RunHealth.STARTING, RunHealth.UNKNOWN) or monitor != MonitorHealth.FRESH
    return 3 if is_blind or awaited_keys or critical else 0


def critical_topics(firing: Iterable[str], checks: Mapping[str, Check]) -> set[Topic]:
    """The topics of the critical ones among these checks."""
    firing_checks = (checks[name] for name in firing if name in checks)
    return {
        check.topic or Topic.JOB for check in firing_checks if check.severity is Severity.CRITICAL
    }


def monitor_health(evidence: Evidence) -> MonitorHealth:
    """The monitor's health, separately from the run's: which evidence it could not read."""
    gaps = evidence.get(Gaps)
    if not isinstance(gaps, Gaps) or not gaps.gaps:
        return MonitorHealth.FRESH
    evidence_names = {gap.partition(":")[0] for gap in gaps.gaps}
    return MonitorHealth.STALE if {"Job", "Metrics"} <= evidence_names else MonitorHealth.PARTIAL
