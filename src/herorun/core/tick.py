"""One turn of the babysitter, as a pure function: replay it as often as you like."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from herorun.core.alert import Alert, AlertId, Moment, advance, muted_topics
from herorun.core.check import Check, evaluate
from herorun.core.condition import RunHealth as RunHealth
from herorun.core.condition import condition
from herorun.core.decide import Action, Case, all_answered, decide, waiting_until
from herorun.core.evidence import (
    Checkpoints,
    Evidence,
    Gaps,
    History,
    Job,
    Metrics,
    Triage,
)
from herorun.core.finding import Finding, Waiver, waive
from herorun.core.health.causes import with_causes
from herorun.core.news import news
from herorun.core.recovery.ending import Ending, ending_of
from herorun.core.recovery.policy import Ledger, Policy


class MonitorHealth(StrEnum):
    FRESH = "fresh"  # all was read
    PARTIAL = "partial"  # some was not
    STALE = "stale"  # neither the job nor its metrics were


@dataclass(frozen=True)
class Tick:
    at: datetime
    run: RunHealth
    monitor: MonitorHealth
    findings: list[Finding]
    alerts: dict[AlertId, Alert]
    actions: list[Action]
    ending: Ending | None = None  # without success
    wake: datetime | None = None  # when a relaunch that waits is due
    settled: bool = False  # nothing critical fires that no person has answered


@dataclass(frozen=True)
class Rules:
    """What a tick judges by."""

    checks: Sequence[Check]
    policy: Policy
    waivers: Sequence[Waiver] = ()
    limits: Mapping[str, Any] = field(default_factory=dict)

    @property
    def by_name(self) -> dict[str, Check]:
        return {check.name: check for check in sorted(self.checks, key=lambda c: c.name)}

    @property
    def thresholds(self) -> list[tuple[Any, ...]]:
        """Each check with its response, its hold, and its limits as they apply."""
        checks = self.by_name.values()
        limits = {c.name: self.limits.get(c.name) or (c.limits() if c.limits else None) for c in checks}
        return [(check.name, check.response, check.hold, limits[check.name]) for check in checks]


def tick(
    alerts: Mapping[AlertId, Alert], ledger: Ledger, evidence: Evidence, rules: Rules, now: datetime
) -> Tick:
    """Evaluate, waive, advance, decide."""
    checks = rules.by_name
    alerts = {key: alert for key, alert in alerts.items() if alert.check in checks}  # nobody asks the others
    findings = with_causes(
        waive(evaluate(checks.values(), evidence, rules.limits), rules.waivers, now), checks
    )
    moment = Moment(now, rules.policy.cadence, _step(evidence), ledger.instance)
    muted = muted_topics(evidence, findings, checks)
    after = advance(alerts, findings, checks, moment, muted)
    case = case_of(evidence, ledger, now)
    wake = waiting_until(after.values(), checks, ledger, case, now)
    settled = all_answered(after.values(), checks, ledger)
    health = run_health(evidence, after.values(), checks)
    actions = [
        *decide(after, checks, rules.policy, ledger, now, case, muted),
        *news(health, evidence, after.values(), rules.policy, ledger, now),
    ]
    return Tick(now, health, monitor_health(evidence), findings, after, actions, case.ending, wake, settled)


def case_of(evidence: Evidence, ledger: Ledger, now: datetime) -> Case:
    """What was seen of the job itself: whether it lives, or how it ended."""
    job, history = evidence.get(Job), evidence.get(History)
    current = history.current if isinstance(history, History) else None
    if not isinstance(job, Job) or current is None:
        return Case()
    triage, saved = evidence.get(Triage), evidence.get(Checkpoints)
    ending = ending_of(
        job,
        triage if isinstance(triage, Triage) else None,
        saved if isinstance(saved, Checkpoints) else None,
        current,
        ledger.start_step,
        ledger.stopped,
        now,
    )
    known = next((each for each in ledger.endings if each.instance == current.name), None)
    if ending is not None and ending.advanced is None and known is not None:
        ending = replace(ending, advanced=known.advanced)  # it was seen when the checkpoints could be read
    return Case(job.state.live, ending)


def _step(evidence: Evidence) -> int | None:
    metrics = evidence.get(Metrics)
    return metrics.step if isinstance(metrics, Metrics) else None


def run_health(evidence: Evidence, alerts: Iterable[Alert], checks: Mapping[str, Check]) -> RunHealth:
    """By the tables of `core.condition`."""
    return condition(evidence.get(Job), alerts, checks)


def monitor_health(evidence: Evidence) -> MonitorHealth:
    """Apart from the run's own health: what did the monitor itself fail to see?"""
    gaps = evidence.get(Gaps)
    if not isinstance(gaps, Gaps) or not gaps.gaps:
        return MonitorHealth.FRESH
    lost = {gap.partition(":")[0] for gap in gaps.gaps}
    return MonitorHealth.STALE if {"Job", "Metrics"} <= lost else MonitorHealth.PARTIAL
