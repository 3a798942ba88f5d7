"""A run as it is judged now, from its record and evidence that is read now: what its row in the
table of all runs shows, and its exit code.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import field

from herorun import discover
from herorun.core.babysit.alert import Alert, AlertState
from herorun.core.babysit.tick import MonitorHealth, RunHealth, Tick, critical_topics, exit_code
from herorun.core.check import Check, Gate
from herorun.core.evidence import Evidence, LeaseSeen
from herorun.core.journal import Memory
from herorun.core.lazy_dataclass import dataclass
from herorun.core.proposed_commands import in_tmux
from herorun.core.run_summary import RunSummary
from herorun.operations.babysit.tick_json import shown_alerts
from herorun.operations.health.evaluate import evaluate, memory_and_acting
from herorun.operations.health.shared_polls import SharedPolls
from herorun.operations.report.babysitter_state import monitor_is_stale
from herorun.operations.report.overview import stage_of, summarise
from herorun.operations.report.record_facts import unread_lines
from herorun.runs import Run
from herorun.system.clock import now
from herorun.system.files import is_locked

# the monitor's states; stale: the babysitter has stopped
FRESH, PARTIAL, STALE = (each.value for each in MonitorHealth)
NOT_NEEDED = "not-needed"  # nothing is left to monitor, and no babysitter of this clone runs


@dataclass(frozen=True, kw_only=True)
class JudgedRun:
    """What was read and decided of one run; without a result no evidence was read."""

    memory: Memory
    is_acting: bool  # a process of this machine performs the unfinished actions now
    summary: RunSummary
    monitor: str
    unread_record: list[str]
    why_shut: str = ""  # why none of its adapters may be used
    result: Tick | None = None
    evidence: Evidence = field(default_factory=dict)
    needless: str = ""  # why its babysitter has ended
    alerts: list[Alert] = field(default_factory=list)
    checks: Mapping[str, Check] = field(default_factory=dict)

    @property
    def code(self) -> int:
        """The exit code of `herorun status` of this run alone."""
        if self.summary.stage != "launched":
            is_unfinished = bool(self.memory.unfinished_actions.actions)
            return inactive_code(self.summary.stage, self.monitor, is_unfinished)
        firing = [alert.check for alert in self.alerts if alert.firing]
        if self.result is None:
            return launched_code(self.summary.run, self.monitor, firing, ())
        return launched_code(self.result.run, self.monitor, firing, self.result.awaited)


def inactive_code(stage: str, monitor: str, is_unfinished: bool) -> int:
    """Before the launch and after the seal."""
    is_open = stage != "sealed" and is_unfinished  # a launch, say
    return 3 if is_open or monitor in (PARTIAL, STALE) else 0


def launched_code(
    run: str, monitor: str, firing: Collection[str], missing: Collection[object]
) -> int:
    """As for a tick: a problem of the run comes before unreadable evidence."""
    checks = {check.name: check for check in discover.checks(Gate.HEALTH)} if firing else {}
    seen_monitor = FRESH if monitor == NOT_NEEDED else monitor
    return exit_code(run, seen_monitor, critical_topics(firing, checks), missing)


def judge(run: Run, polls: SharedPolls | None = None) -> JudgedRun:
    """Before the launch and after the seal no evidence is read."""
    memory, is_acting = memory_and_acting(run)
    with run.record.pin():
        return _judge_by(run, memory, is_acting, polls)


def _judge_by(run: Run, memory: Memory, is_acting: bool, polls: SharedPolls | None) -> JudgedRun:
    why_shut = run.closed_reason
    if why_shut or not memory.instances or memory.sealed:
        return _judge_inactive(run, memory, is_acting, why_shut)
    result, evidence = evaluate(run, memory=memory, polls=polls, is_acting=is_acting)
    checks = {check.name: check for check in discover.checks(Gate.HEALTH)}
    needless = _why_unmonitored(result)
    silence = [] if needless else _silence(run, memory, evidence, checks)
    alerts = [*_drop_needless(shown_alerts(result, memory), needless), *silence]
    unread_record = unread_lines(run, evidence)
    monitor = _monitor_state(run, result, bool(needless), bool(unread_record))
    state = (result.run.value, FRESH if monitor == NOT_NEEDED else monitor)
    summary = summarise(
        run,
        memory,
        evidence,
        state,
        now(),
        alerts,
        missing=result.awaited,
        is_over=bool(needless),
    )
    return JudgedRun(
        memory=memory,
        is_acting=is_acting,
        summary=summary,
        monitor=monitor,
        unread_record=unread_record,
        result=result,
        evidence=evidence,
        needless=needless,
        alerts=alerts,
        checks=checks,
    )


def _judge_inactive(run: Run, memory: Memory, is_acting: bool, why_shut: str) -> JudgedRun:
    from herorun.operations.seal.facts import summarise_sealed

    unread_record = unread_lines(run, {}, is_sealed=memory.sealed is not None)
    monitor = STALE if why_shut else PARTIAL if unread_record else FRESH
    summary = RunSummary(slug=run.slug, stage=stage_of(run), monitor=monitor)
    if memory.sealed:
        summary = summarise_sealed(run, memory, summary)
    return JudgedRun(
        memory=memory,
        is_acting=is_acting,
        summary=summary,
        monitor=NOT_NEEDED if monitor == FRESH else monitor,
        unread_record=unread_record,
        why_shut=why_shut,
    )


def _drop_needless(alerts: Iterable[Alert], needless: str) -> list[Alert]:
    """Without those about a babysitter that has nothing to monitor any more."""
    monitor_checks = ("stale-monitor", "late-tick") if needless else ()
    return [each for each in alerts if each.check not in monitor_checks]


def _why_unmonitored(result: Tick) -> str:
    """Why the babysitter has ended; "" while there is something to monitor."""
    if result.run == RunHealth.FINISHED:
        return "the run is finished"
    return "the run stays down" if result.run == RunHealth.DOWN and result.settled else ""


def _monitor_state(run: Run, result: Tick, is_finished: bool, lacks_record: bool) -> str:
    if not is_finished and monitor_is_stale(run):
        return STALE
    if result.monitor.value != FRESH or lacks_record:
        return PARTIAL if result.monitor.value == FRESH else result.monitor.value
    return NOT_NEEDED if is_finished and not is_locked(run.lock("babysitter")) else FRESH


def _silence(
    run: Run, memory: Memory, evidence: Evidence, checks: Mapping[str, Check]
) -> list[Alert]:
    """The problem that a run is not monitored. Reported only if this clone holds the lease, because
    only then is the record here complete.
    """
    lease = evidence.get(LeaseSeen)
    if not isinstance(lease, LeaseSeen) or not lease.mine:
        return []
    from herorun.core.remote.watchdog import WatchState as Silence, watchdog

    silence = watchdog(run.slug, memory, run.contract, checks, now())
    if silence.monitor is not Silence.STALE or silence.due is None:
        return []
    message = f"not monitored: {silence.why}; monitor it {in_tmux(f'`herorun babysit {run.slug}`')}"
    return [
        Alert(
            check="stale-monitor",
            subject="no babysitter",
            since=silence.due,
            seen=now(),
            state=AlertState.FIRING,
            message=message,
        )
    ]
