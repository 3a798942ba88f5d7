"""What one tick read and did, whether another one is due, and its exit code."""

from datetime import timedelta
from typing import TYPE_CHECKING

from herorun import discover
from herorun.core.adhoc_jobs.cause import JobCause
from herorun.core.babysit.actions import Relaunch
from herorun.core.babysit.tick import Tick, critical_topics, exit_code
from herorun.core.check import Gate
from herorun.core.evidence import Evidence, Job, JobState, reached_step
from herorun.core.journal import Memory
from herorun.core.journal.decision import interventions
from herorun.core.lazy_dataclass import dataclass
from herorun.core.notify.notifications import progress_of
from herorun.operations.babysit.tick_json import (
    actions_of,
    alert_entries,
    describe_relaunched,
    dri_decides,
    finding_entries,
    other_jobs,
    relaunch_outlook,
    shown_alerts,
    unjudged_metrics,
    unread_evidence,
)
from herorun.runs import MonitoredRun
from herorun.schemas.tick import TickEntry

if TYPE_CHECKING:  # code that only shows an outcome need not import it
    from herorun.operations.babysit.perform import ActionResult


@dataclass(frozen=True, kw_only=True)
class TickOutcome:
    """What one tick read and did. `tick` is None if the run is sealed, so that nothing is left to
    monitor.
    """

    run: MonitoredRun
    tick: Tick | None
    evidence: Evidence
    performed: "tuple[ActionResult, ...]" = ()
    doubts: tuple[str, ...] = ()
    push: str = ""
    paused: bool = False
    holds_pages: bool = False  # until the quiet hours end; then they must be sent
    pause: timedelta | None = None  # until the next tick
    sealed: str = ""  # the tag of the seal that ended the run
    monitored_elsewhere: bool = False  # another clone holds the lease
    furthest: int | None = None  # step that a job without a contract had reached before this tick
    cause: JobCause | None = None  # of the failure of such a job

    @property
    def step(self) -> int | None:
        return reached_step(self.evidence)

    @property
    def why_gone(self) -> str:
        """Why no later tick can read how the job ended; empty if one can."""
        job = self.evidence.get(Job)
        return job.reason if isinstance(job, Job) and job.state is JobState.GONE else ""

    @property
    def is_complete(self) -> bool:
        """Whether nothing is left to monitor or to send: the run is sealed, it ended well and that
        was reported, or a person has acknowledged that it is down. With `[notify] secondary`, a
        person must have acknowledged all critical alerts.
        """
        if self.tick is None:
            return True
        tick = self.tick
        if self.run.ends_with_job:
            return self._job_is_over(tick)
        if tick.monitor != "fresh" or tick.actions or self.paused or self.holds_pages:
            return False
        if tick.run == "finished":
            return tick.settled or not self.run.contract.notify.secondary
        return tick.run == "down" and tick.settled and tick.wake is None

    def _job_is_over(self, tick: Tick) -> bool:
        """Whether the job is at its terminal state and no action follows."""
        job = self.evidence.get(Job)
        if (
            not isinstance(job, Job)
            or not job.state.is_final
            or self.paused
            or tick.wake is not None
        ):
            return False
        attempts = [
            each for each in self.performed if each.action.key in interventions(tick.actions)
        ]
        return len(attempts) == len(interventions(tick.actions)) and all(
            each.why for each in attempts
        )

    @property
    def progress(self) -> str:
        """The progress; of a sealed run, that of the last tick; with the furthest step, while
        earlier steps are trained again.
        """
        last = self.run.record.memory().last_decided if self.sealed else None
        if last:
            return last.progress
        current = progress_of(self.evidence)
        if self.furthest is None or self.step is None or self.step >= self.furthest:
            return current
        return f"{current}, was ~{self.furthest}/{current.partition('/')[2]}"

    def entry(self, with_findings: bool = True) -> TickEntry:
        """The entry that `--json` prints; people are shown it without findings."""
        checks = {check.name: check for check in discover.checks(Gate.HEALTH)}
        tick = self.tick
        slug = self.run.name_to_type
        memory = self.run.record.memory()
        alerts = shown_alerts(tick, memory) if tick else []
        outlook = self._outlook(tick, memory) if tick else ""
        return TickEntry(
            run=tick.run if tick else "finished",
            monitor=tick.monitor if tick else "fresh",
            unread=unread_evidence(self.evidence),
            progress=self.progress,
            missing_evidence=tick.awaited if tick else [],
            findings=finding_entries(tick.findings, checks, slug) if tick and with_findings else [],
            alerts=alert_entries(alerts, checks, slug, outlook, self.run.dri),
            actions=actions_of(self.performed, memory.done),
            other_jobs=other_jobs(self.evidence),
            unjudged=unjudged_metrics(self.evidence),
        )

    def _outlook(self, tick: Tick, memory: Memory) -> str:
        """What happens to a run that is down, or has happened at this tick."""
        actions = [each.action for each in self.performed if not each.why]
        names = (memory.done.get(each.key) for each in actions if isinstance(each, Relaunch))
        if name := next(filter(None, names), None):
            return describe_relaunched(name)
        recovery = self.run.contract.babysit.recovery
        decision = dri_decides(self.run.status_command, self.run.why_only_observed)
        return relaunch_outlook(tick, memory, recovery, self.paused, decision)


def tick_exit_code(outcome: TickOutcome) -> int:
    """The exit code of a tick; see `core.babysit.tick.exit_code`."""
    tick = outcome.tick
    if tick is None:
        return 0
    checks = {check.name: check for check in discover.checks(Gate.HEALTH)}
    firing = (alert.check for alert in tick.alerts.values() if alert.firing)
    code = exit_code(tick.run, tick.monitor, critical_topics(firing, checks), tick.awaited)
    job = outcome.evidence.get(Job)
    in_doubt = outcome.run.ends_with_job and isinstance(job, Job) and job.state.in_doubt
    return code or (3 if in_doubt else 0)  # 3: it is unknown whether the job succeeded
