"""The parts of a tick, as `babysit --json` and `status --json` print them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from herorun.core.babysit import actions
from herorun.core.babysit.action_key import parse_key
from herorun.core.babysit.alert import Alert, AlertState
from herorun.core.babysit.inhibition import inhibitors
from herorun.core.babysit.tick import RunHealth, Tick
from herorun.core.check import Check, Response
from herorun.core.contract import Recovery
from herorun.core.evidence import Evidence, Gaps, Job, Metrics, OtherJobs
from herorun.core.finding import Finding
from herorun.core.journal import Memory
from herorun.schemas.parts import (
    Action,
    AlertEntry,
    FindingEntry,
    InstanceEntry,
    OtherJob,
    UnjudgedEntry,
)

if TYPE_CHECKING:
    from herorun.operations.babysit.perform import ActionResult


def finding_entries(
    findings: Sequence[Finding], checks: Mapping[str, Check], slug: str
) -> list[FindingEntry]:
    """The findings in the form of the gates' documents. Only JSON has them, so the gate is imported
    only here.
    """
    from herorun import gate

    return gate.finding_entries(findings, checks, slug)


def other_jobs(evidence: Evidence) -> list[OtherJob]:
    """Live jobs besides the current instance: they are shown, but do not affect the run's
    health.
    """
    others = evidence.get(OtherJobs)
    if not isinstance(others, OtherJobs):
        return []
    jobs = [
        *(("old attempt", job) for job in others.attempts),
        *(("diagnostic", job) for job in others.diagnostics),
    ]
    return [
        OtherJob(name=job.instance, job=job.id, state=job.state, kind=kind) for kind, job in jobs
    ]


def unread_evidence(evidence: Evidence) -> list[str]:
    """The evidence that could not be read, each as `type: reason`."""
    gaps = evidence.get(Gaps)
    return list(gaps.gaps) if isinstance(gaps, Gaps) else []


def unjudged_metrics(evidence: Evidence) -> list[UnjudgedEntry]:
    metrics = evidence.get(Metrics)
    own_metrics = metrics.unjudged if isinstance(metrics, Metrics) else ()
    return [UnjudgedEntry.of(each) for each in own_metrics]


def shown_alerts(this_tick: Tick, memory: Memory) -> list[Alert]:
    """This tick's alerts, then the unacknowledged ones that ended unresolved, in this tick or
    before.
    """
    now = {alert.key for alert in (*this_tick.ended, *this_tick.alerts.values())}
    before = [alert for alert in memory.unacknowledged_alerts if alert.key not in now]
    return [
        *this_tick.alerts.values(),
        *before,
        *(a for a in this_tick.ended if a.key not in memory.acked),
    ]


def severity_of(alert: Alert, checks: Mapping[str, Check]) -> str:
    """The alert's severity; `warn` if its check no longer exists, as for an old alert."""
    return checks[alert.check].severity.value if alert.check in checks else "warn"


def alert_entries(
    alerts: Iterable[Alert],
    checks: Mapping[str, Check],
    slug: str,
    outlook: str = "",
    dri: str = "",
) -> list[AlertEntry]:
    """`outlook`: what happens to a run that is down, by `relaunch_outlook`. An alert that another
    one inhibits refers to it. `dri`: a name, for what the DRI decides.
    """
    alerts = list(alerts)
    inhibited_by = inhibitors(alerts, checks)

    def fix(alert: Alert) -> str:
        check = checks.get(alert.check)
        if check is None or alert.state is AlertState.ENDED:  # its fix may stop the next job
            return ""
        if alert.id in inhibited_by:
            return f"see {' and '.join(inhibited_by[alert.id])}"
        if outlook and alert.firing and check.response is Response.RELAUNCH:
            return name_dri(outlook, dri)
        return name_dri(check.next_action(slug), dri)

    return [
        AlertEntry.of(alert, severity=severity_of(alert, checks), fix=fix(alert))
        for alert in alerts
    ]


def relaunch_outlook(
    tick: Tick,
    memory: Memory,
    recovery: Recovery,
    is_paused: bool,
    decision: str,
    lack: str = "",
) -> str:
    """What happens next to a run that is down; "" if it is not, or is relaunched at this tick.
    `decision` is what the DRI does about one that is not. `lack`: why no babysitter relaunches it,
    although the rules may allow it.
    """
    name = memory.current.name if memory.current else ""
    answer = memory.answers.get(name)
    if tick.run != RunHealth.DOWN:
        return ""
    if answer and not answer.yes:
        return f"herorun does nothing, because {answer.by} denied a relaunch"
    if by := memory.stopped_instances.get(name):
        return f"herorun does nothing, because {by} ordered its stop"
    if is_paused:
        asks = recovery is not Recovery.RELAUNCH
        then = "the DRI decides" if asks else "a babysitter relaunches it if its rules allow it"
        but = f", but {lack}" if lack and not asks else ""
        return f"herorun does nothing until the pause ends; then {then}{but}"
    if lack and not tick.stays_down:
        return f"herorun does nothing, because {lack}"
    if tick.wake:
        when = f"at the first tick after {tick.wake:%Y-%m-%dT%H:%M:%SZ}"
        if _gate_refused(memory, name):
            return f"the launch checks refused a relaunch; herorun runs them again {when}"
        return (
            f"herorun relaunches it {when}; it "
            "waits after an end without a new checkpoint, and after an attempt that failed"
        )
    return decision if tick.stays_down else ""


def describe_relaunched(name: str) -> str:
    return f"nothing (herorun has relaunched it as {name})"


def _gate_refused(memory: Memory, instance: str) -> bool:
    return any(parse_key(key).relaunch_question == (instance, "gate") for key in memory.done)


def dri_decides(command: str, why: str = "") -> str:
    """`command` does what is decided, or, if it is a `status`, shows what there is to decide. `why`
    is the run's `why_only_observed`.
    """
    how = " what to do; see" if "status" in command.split()[:2] else ":"
    return f"{_not_relaunched(why)}; the DRI decides{how} `{command}`"


def dri_decides_by_note(why: str = "") -> str:
    """Where the command is for another machine, which the row `note` says."""
    return f"{_not_relaunched(why)}; the DRI decides (see `note`)"


def _not_relaunched(why: str) -> str:
    return "herorun does not relaunch it" + (f", because {why}" if why else "")


def describe_interrupted(command: str) -> str:
    return (
        f"`{command}`: it finds out whether the interrupted relaunch or rollback (see "
        "`unfinished`) submitted a job, and completes it"
    )


def name_dri(fix: str, dri: str) -> str:
    """Whom a person at night asks.

    >>> name_dri("the DRI decides: wait, or roll back", "@ada")
    'the DRI, @ada, decides: wait, or roll back'
    """
    return fix.replace("the DRI decides", f"the DRI, {dri}, decides", 1) if dri else fix


ACTION_WORDS: dict[type[actions.Action], str] = {
    actions.Tell: "tell",
    actions.Escalate: "escalate",
    actions.Relaunch: "relaunch",
    actions.Stop: "stop",
    actions.DeleteNode: "delete node",
}


def title_of(action: actions.Action, results: Mapping[str, str]) -> str:
    """The action's title for people, instead of its key. `results`, by key, name the instance that
    a relaunch submitted.
    """
    match action:
        case actions.Tell() | actions.Escalate():
            return action.title
        case actions.DeleteNode():
            return f"{action.worker} of {action.instance}"
        case actions.Relaunch(key=key) if results.get(key):
            return f"{action.instance} as {results[key]}"
        case _:
            return action.instance


def actions_of(outcomes: "Iterable[ActionResult]", results: Mapping[str, str]) -> list[Action]:
    return [
        Action.of(
            each.action,
            action=ACTION_WORDS[type(each.action)],
            title=title_of(each.action, results),
            done=not each.why,
            failed=each.why,
        )
        for each in outcomes
    ]


def instance_entries(memory: Memory, job: object = None) -> list[InstanceEntry]:
    """The launches, oldest first, each with its job's state: as `job` was read now, or as its end
    is recorded.
    """
    states = {name: end.state for name, end in memory.ends.items()}
    if isinstance(job, Job):
        states[job.instance] = job.state
    return [InstanceEntry.of(each, state=states.get(each.name)) for each in memory.instances]
