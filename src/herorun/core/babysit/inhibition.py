"""Which alerts are muted because another problem makes them meaningless."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from herorun.core.babysit.alert import Alert, AlertId
from herorun.core.check import Check, Topic
from herorun.core.evidence import Evidence, Job, JobState, Metrics
from herorun.core.finding import Finding, Outcome

Steps: TypeAlias = tuple[int, int]  # first and last


def muted_topics(
    evidence: Evidence, findings: Iterable[Finding], checks: Mapping[str, Check]
) -> frozenset[Topic]:
    """Topics whose alerts are meaningless right now.

    An ended job mutes stalls and checkpoints; a pending one also what its metrics say; a non-finite
    value mutes the shape of the curves there (`numeric_stretches`), but not the checks of the
    resume, which may be the cause.
    """
    job = evidence.get(Job)
    quiet_topics: set[Topic] = set()
    if isinstance(job, Job) and job.state.is_final:
        quiet_topics |= {Topic.PROGRESS, Topic.CHECKPOINTS}
    if isinstance(job, Job) and job.state in (JobState.PENDING, JobState.BUILDING):
        quiet_topics |= {
            Topic.PROGRESS,
            Topic.CHECKPOINTS,
            Topic.METRIC,
            Topic.LINEAGE,
            Topic.NUMERIC,
        }
    for finding in findings:
        if finding.verdict.outcome is Outcome.FAIL and checks[finding.check].topic is Topic.NUMERIC:
            quiet_topics.add(Topic.METRIC)
    return frozenset(quiet_topics)


def is_muted(
    topic: Topic, steps: Steps | None, quiet_topics: frozenset[Topic], numeric: Sequence[Steps]
) -> bool:
    """Whether a failure is muted; `numeric` are the stretches in which the curve's shape is
    meaningless.
    """
    if topic is Topic.METRIC and numeric and Topic.NUMERIC not in quiet_topics:
        return is_in_a_stretch(steps, numeric)
    return topic in quiet_topics


def numeric_stretches(
    evidence: Evidence, findings: Iterable[Finding], checks: Mapping[str, Check]
) -> list[Steps]:
    """The first and last step of each stretch in which a metric is non-finite or zero for so long
    that a check fails.
    """
    metrics, stretches = evidence.get(Metrics), []
    for finding in findings:
        verdict = finding.verdict
        if verdict.outcome is not Outcome.FAIL or checks[finding.check].topic is not Topic.NUMERIC:
            continue
        spans = metrics.non_finite if isinstance(metrics, Metrics) else ()
        each = [(e.first_step, e.last_step) for e in spans if e.metric == verdict.subject]
        stretches += each or [steps for steps in [verdict.steps] if steps]
    return stretches


def is_in_a_stretch(steps: Steps | None, numeric: Iterable[Steps]) -> bool:
    """Whether an excursion lies within one of these stretches, or has no steps.

    By the steps alone, so that frequent and rare polls give the same result.
    """
    if steps is None:
        return bool(list(numeric))
    return any(first <= steps[0] and steps[1] <= last for first, last in numeric)


def inhibitors(
    alerts: Iterable[Alert], checks: Mapping[str, Check]
) -> dict[AlertId, tuple[str, ...]]:
    """For each firing alert that others make redundant (by `inhibited_by`), the checks of those."""
    firing = {alert.id for alert in alerts if alert.firing}
    by_id = {
        (check, subject): tuple(
            name for name in checks[check].inhibited_by if (name, subject) in firing
        )
        for check, subject in firing
        if check in checks
    }
    return {key: names for key, names in by_id.items() if names}
