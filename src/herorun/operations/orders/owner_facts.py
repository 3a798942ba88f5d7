"""What a run's new owner must know: job, cluster, newest signal, tracker, and how to submit it
again.
"""

from herorun import discover
from herorun.adapter_declarations import tracker_links
from herorun.core.babysit.alert import AlertState
from herorun.core.errors import HerorunError, describe_error
from herorun.core.evidence import JobLog, Metrics
from herorun.core.identity.links import shown_links
from herorun.core.journal import Memory
from herorun.core.notify.escalation import Option
from herorun.core.notify.notifications import progress_of
from herorun.core.proposed_commands import elsewhere, in_tmux
from herorun.core.redaction.scrub import scrub
from herorun.gather import gather
from herorun.operations.health.evaluate import evaluate
from herorun.operations.health.taints import with_taints_now
from herorun.operations.launch.propose import Proposer
from herorun.operations.orders.order import person
from herorun.runs import Run

_PLACES = ("host", "address", "cluster", "config", "partition", "user", "folder")  # of [scheduler]


def facts_for_owner(run: Run, giver: str, taker: str, why: str) -> dict[str, str]:
    """The lines of the entry in the logbook, without secrets."""
    memory = run.record.memory()
    current, scheduler = memory.current, run.contract.scheduler
    where = ", ".join(
        f"{name} {value}" for name, value in sorted(scheduler.options.items()) if name in _PLACES
    )
    lines = {
        "Status": (
            f"{taker} monitors {current.name if current else run.slug} now, {giver} no longer does"
        ),
        "Evidence": _signal(run),
        "Decision": f"{why}; said by {person(run)}",
        "Next": f"on {taker}, {in_tmux(elsewhere(f'herorun babysit {run.slug}'))}",
        "Job": current.job if current else "none",
        "Cluster": f"{scheduler.kind}{f' ({where})' if where else ''}",
        "Tracker": ", ".join(_links(run)) or "no link",
        "Resubmission": (
            f"`{_resubmission(run, memory)}` once it has ended; [babysit] recovery = "
            f"{run.contract.babysit.recovery}"
        ),
        "Output root": run.place.output_root,
    }
    return {name: scrub(value) for name, value in lines.items()}


def _resubmission(run: Run, memory: Memory) -> str:
    """The command that the launch gate would accept now, if the current instance had ended."""
    if memory.current is None:
        return f"herorun preflight {run.slug}"
    return Proposer(run, with_taints_now(run, memory)).proposals((Option.RELAUNCH,))[0].command


def _signal(run: Run) -> str:
    """Progress, health and firing alerts. If they cannot be read, the text says so and the handoff
    continues.
    """
    try:
        result, evidence = evaluate(run)
    except (HerorunError, OSError) as error:
        return f"could not check: {describe_error(error)}"
    metrics = evidence.get(Metrics)
    newest = (
        f", newest row at {metrics.advanced_at:%Y-%m-%d %H:%M} UTC"
        if isinstance(metrics, Metrics)
        else ""
    )
    firing = [
        f"{alert.check}: {alert.message}"
        for alert in result.alerts.values()
        if alert.state is AlertState.FIRING
    ]
    firing += [
        f"{alert.check} ended unresolved: {alert.message}"
        for alert in run.record.memory().unacknowledged_alerts
    ]
    health = f"{progress_of(evidence)}, run {result.run}, monitor {result.monitor}{newest}"
    return f"{health}; {'; '.join(firing) or 'no alert fires'}"


def _links(run: Run) -> tuple[str, ...]:
    """Tracker links, from the contract and from the job's log."""
    evidence = gather([JobLog], discover.sources(), run.base_evidence(run.record.memory()))
    log = evidence[JobLog]
    if not isinstance(log, JobLog):
        return tracker_links(run.contract)
    pages = (page for _, page in shown_links(log.server, log.runs))
    return tuple(dict.fromkeys((*tracker_links(run.contract, log.runs), *pages)))
