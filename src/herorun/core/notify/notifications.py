"""Posts without an alert: milestones, the end of a run, and one digest every 24 hours."""

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta

from herorun.core.babysit.action_key import Verb, parse_key, verb_of, write_key
from herorun.core.babysit.actions import Tell
from herorun.core.babysit.alert import Alert
from herorun.core.detectors.names import SPEEDS
from herorun.core.evidence import (
    Candidate,
    Checkpoints,
    Evidence,
    FinalStep,
    History,
    Instance,
    Job,
    JobLog,
    Metrics,
    reached_step,
)
from herorun.core.finding import count
from herorun.core.health.run_health import RunHealth
from herorun.core.identity.links import shown_links
from herorun.core.recovery.policy import Ledger, RecoveryPolicy

DAY = timedelta(days=1)


def news(
    health: RunHealth,
    evidence: Evidence,
    alerts: Iterable[Alert],
    policy: RecoveryPolicy,
    ledger: Ledger,
    now: datetime,
) -> list[Tell]:
    """What was not reported yet; for a run that ended well, only its end."""
    history = evidence.get(History)
    current = history.current if isinstance(history, History) else None
    if not isinstance(history, History) or current is None:
        return []
    announced_keys = ledger.done | ledger.unfinished
    if health is RunHealth.FINISHED:
        notices = [
            _event_action(
                current,
                "finished",
                f"{current.name} finished",
                f"{progress_of(evidence)}{_next_command(current, alerts)}",
            )
        ]
    else:
        milestone = (
            _event_action(current, *each)
            for each in _list_milestones(evidence, history, policy, ledger)
        )
        notices = [notice for notice in milestone if not _ever(notice, announced_keys)]
        if days := (now - current.started) // DAY:
            message = digest(health, evidence, alerts, current)
            notices.append(
                _event_action(
                    current, f"day-{days}", f"{current.name} after {count(days, 'day')}", message
                )
            )
    return [notice for notice in notices if notice.key not in announced_keys]


def _next_command(instance: Instance, alerts: Iterable[Alert]) -> str:
    """What comes next: no seal while an alert fires, nothing for a job without a contract."""
    slug, _, _ = instance.name.rpartition("-")
    if not instance.plan_digest:
        return ""
    if any(alert.firing for alert in alerts):
        return f"; next: `herorun status {slug}`"
    return f"; next: `herorun seal {slug}`"


def is_digest(key: str) -> bool:
    """Whether it is the key of the digest of a day.

    >>> is_digest("tell/tiny-1/day-3"), is_digest("tell/tiny-1/finished")
    (True, False)
    """
    return verb_of(key) == Verb.TELL and parse_key(key).last.startswith("day-")


def _event_action(instance: Instance, what: str, title: str, why: str) -> Tell:
    return Tell(write_key(Verb.TELL, instance.name, what), title, why)


def _ever(notice: Tell, keys: Iterable[str]) -> bool:
    """What a run reaches, it reaches once, whichever instance brought it there."""
    what = parse_key(notice.key).last
    return any(verb_of(key) == Verb.TELL and parse_key(key).last == what for key in keys)


def _list_milestones(
    evidence: Evidence, history: History, policy: RecoveryPolicy, ledger: Ledger
) -> Iterator[tuple[str, str, str]]:
    """Only of a job that lives: what an ended one reached, its end tells."""
    job, metrics, final = evidence.get(Job), evidence.get(Metrics), evidence.get(FinalStep)
    if not isinstance(job, Job) or not job.state.live:
        return
    name = history.instances[-1].name
    log = evidence.get(JobLog)
    for run, page in shown_links(log.server, log.runs) if isinstance(log, JobLog) else ():
        yield f"run-{run.replace('/', '.')}", f"{name} reports to the tracker run {run}", page
    wrote = isinstance(metrics, Metrics) and history.wrote(metrics)
    step = metrics.step if isinstance(metrics, Metrics) and wrote else -1
    if step > max(ledger.start_step, 0):
        yield "first-step", f"{name} is training", f"steps {progress_of(evidence)}"
    checkpoints = _own_checkpoints(evidence, history, ledger)
    if checkpoints:
        first = min(checkpoints, key=lambda c: c.step)
        yield "first-checkpoint", f"{name} has a complete checkpoint", first.path
    for milestone in sorted(policy.milestones):
        for each in checkpoints:
            if each.step == milestone and not each.temporary:
                yield f"milestone-{milestone}", f"{name} saved milestone {milestone}", each.path
    if isinstance(final, FinalStep) and final.value is not None and step >= final.value:
        yield (
            "final-step",
            f"{name} reached its final step",
            f"{progress_of(evidence)}; the job still runs",
        )


def _own_checkpoints(evidence: Evidence, history: History, ledger: Ledger) -> list[Candidate]:
    """Complete checkpoints that this run wrote."""
    checkpoints = evidence.get(Checkpoints)
    candidates = checkpoints.candidates if isinstance(checkpoints, Checkpoints) else ()
    return [
        c
        for c in candidates
        if c.complete and c.path not in history.foreign and c.step > max(ledger.start_step, 0)
    ]


def digest(
    health: RunHealth, evidence: Evidence, alerts: Iterable[Alert], current: Instance
) -> str:
    """Health, progress, throughput, the newest checkpoint and what fires, in one line."""
    checkpoints = evidence.get(Checkpoints)
    newest = checkpoints.newest if isinstance(checkpoints, Checkpoints) else None
    firing = sorted({alert.check for alert in alerts if alert.firing})
    parts = (
        f"{health}, {describe_progress(progress_of(evidence))}",
        throughput(evidence, current),
        f"newest complete checkpoint {newest.path}"
        if newest
        else "no complete checkpoint was seen",
        f"firing: {', '.join(firing)}" if firing else "no alert fires",
    )
    return "; ".join(part for part in parts if part)


def throughput(evidence: Evidence, current: Instance) -> str:
    """Steps an hour since the instance began, and the newest speed that the tracker tells; empty
    where neither is.
    """
    metrics = evidence.get(Metrics)
    if not isinstance(metrics, Metrics):
        return ""
    hours = (metrics.advanced_at - current.started) / timedelta(hours=1)
    steps = metrics.step - metrics.first_step
    speeds = [f"{steps / hours:.4g} steps/h"] if hours > 0 and steps > 0 else []
    last = metrics.last or {}
    speeds += [f"{name} {last[name]:g}" for name in SPEEDS if name in last][:1]
    return ", ".join(speeds)


def progress_of(evidence: Evidence) -> str:
    """`~4600/5155`, exact."""
    final = evidence.get(FinalStep)
    return progress(reached_step(evidence), final.value if isinstance(final, FinalStep) else None)


def progress(step: int | None, final_step: int | None) -> str:
    """Exact, never rounded.

    >>> progress(4600, 5155)
    '~4600/5155'
    >>> progress(4600, None)
    '~4600/unknown'
    """
    return (
        f"~{'unknown' if step is None else step}/{'unknown' if final_step is None else final_step}"
    )


def describe_progress(text: str) -> str:
    """What `progress` gives, for people.

    >>> describe_progress("~4600/5155"), describe_progress("~unknown/5155")
    ('~4600/5155', 'unknown step of 5155')
    """
    step, _, last = text.partition("/")
    if step != "~unknown":
        return text
    return "unknown step" if last in ("", "unknown") else f"unknown step of {last}"
