"""A summary of runs: what their babysitters store on this machine, and the scheduler's present
answer.

No tracker, store or remote is queried.
"""

import json
import os
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any

from herorun import discover
from herorun.core.babysit.alert import Alert
from herorun.core.check import Gate
from herorun.core.decode import decode
from herorun.core.errors import CouldNotLook, HerorunError, describe_error
from herorun.core.evidence import (
    Checkpoints,
    Evidence,
    FinalStep,
    Job,
    LeaseSeen,
    Metrics,
    Now,
    Unavailable,
    reached_step,
)
from herorun.core.health.run_health import BY_STATE, RunHealth
from herorun.core.health.training_proof import AwaitedEvidence
from herorun.core.journal import Memory
from herorun.core.lineage import given_up
from herorun.core.metric_names import names_of
from herorun.core.ports import Scheduler
from herorun.core.redaction.scrub import scrub
from herorun.core.run_summary import OpenAlert, Pace, RunSummary, pace_of, sparkline
from herorun.gather import gather
from herorun.operations.babysit.batch import each
from herorun.operations.health.rules import evidence_file
from herorun.operations.health.shared_polls import SharedPolls
from herorun.operations.record.heartbeat import next_due
from herorun.operations.report.babysitter_state import ticks_in_this_clone
from herorun.runs import Run, open_run
from herorun.sources.metrics import COLUMNS
from herorun.system.clock import now

if TYPE_CHECKING:
    from herorun.system.metrics_cache import FetchedRows

READ_DEADLINE = 10.0  # seconds for the scheduler's answer
MAX_STEPS = 5_000  # steps of the newest attempt from which a curve is drawn
KEPT_EVIDENCE: Mapping[str, Any] = {
    "Metrics": Metrics,
    "FinalStep": FinalStep,
    "Checkpoints": Checkpoints,
    "LeaseSeen": LeaseSeen,
}
MAX_EVIDENCE_BYTES = 64 << 20  # bytes of an evidence file that are searched for its last line


def summary_of_run(name: str, start: Path, polls: SharedPolls | None = None) -> RunSummary:
    """One run by its last tick, corrected by the job's present state."""
    run = open_run(name, start)
    memory = run.record.memory()

    def current_state(state: tuple[str, str]) -> tuple[str, str]:
        return _state_of_job(job_now(run, memory, polls or SharedPolls()), state)

    return stored_summary(run, memory, current_state)


def stored_summary(
    run: Run,
    memory: Memory,
    judge: Callable[[tuple[str, str]], tuple[str, str]] = lambda state: state,
) -> RunSummary:
    """One run by its last tick; `judge` may correct the states of the run and its monitor."""
    from herorun.operations.seal.facts import summarise_sealed

    decision = memory.last_decided
    if decision is None or not memory.instances:
        bare = RunSummary(slug=run.slug, stage=stage_of(run))
        return summarise_sealed(run, memory, bare) if memory.sealed else bare
    is_over = decision.run == "finished" or (decision.run == "down" and memory.decision)
    stale = (now() - decision.at) > 2 * run.contract.babysit.cadence and not is_over
    state = (
        ("finished", "fresh")
        if memory.sealed
        else judge((decision.run, "stale" if stale else decision.monitor))
    )
    alerts = (*memory.alerts.values(), *memory.unacknowledged_alerts)
    evidence = last_evidence(run, decision.at)
    # otherwise the job's new state replaces the missing evidence
    is_current = state[0] == decision.run
    summary = summarise(
        run,
        memory,
        evidence,
        state,
        decision.at,
        alerts,
        missing=decision.awaited if is_current else (),
        is_over=bool(is_over and is_current),
    )
    return summarise_sealed(run, memory, summary) if memory.sealed else summary


def job_now(run: Run, memory: Memory, polls: SharedPolls) -> Job | Unavailable:
    """The scheduler's answer about the current instance's job; the runs of one cluster share one
    query.
    """
    inputs = {**run.base_evidence(memory), Now: Now(now())}
    try:
        inputs[Scheduler] = polls.of(run, memory)
        job = gather([Job], discover.sources(), inputs, READ_DEADLINE).get(Job)
    except (HerorunError, OSError) as error:
        return Unavailable(describe_error(error))
    return job if isinstance(job, Job | Unavailable) else Unavailable("nothing was launched yet")


def _state_of_job(job: Job | Unavailable, last_state: tuple[str, str]) -> tuple[str, str]:
    """The states of the run and its monitor. Without a tick's evaluation, neither an end nor a
    missing job counts as healthy or finished.
    """
    health, monitor = last_state
    if not isinstance(job, Job):
        return RunHealth.UNKNOWN.value, monitor if monitor == "stale" else "partial"
    if job.state.live:
        is_starting = health in (RunHealth.FINISHED, RunHealth.DOWN)  # an earlier instance's
        return (RunHealth.STARTING.value if is_starting else health), monitor
    by_scheduler = BY_STATE[job.state]
    is_judged = by_scheduler is RunHealth.FINISHED and health in (
        RunHealth.FINISHED,
        RunHealth.DOWN,
        RunHealth.DEGRADED,
    )
    return health if is_judged else (
        RunHealth.UNKNOWN if by_scheduler is RunHealth.FINISHED else by_scheduler
    ).value, monitor


def stage_of(run: Run) -> str:
    """The run's stage: not initialised, initialised, launched or sealed."""
    return run.record.memory().stage


def run_summaries(
    names: list[str], start: Path, polls: SharedPolls | None = None
) -> list[RunSummary]:
    """The summaries; an unreadable run has its error. `polls` are those of a process that repeats
    this.
    """
    shared_polls = (polls or SharedPolls()).expect(names, start)
    return [
        answer.value
        or RunSummary(slug=answer.slug, stage="unknown", error=answer.error, monitor="stale")
        for answer in each(names, lambda name: summary_of_run(name, start, shared_polls))
    ]


def summarise(
    run: Run,
    memory: Memory,
    evidence: Evidence,
    state: tuple[str, str],
    seen_at: datetime,
    alerts: Iterable[Alert],
    *,
    missing: tuple[AwaitedEvidence, ...] = (),
    is_over: bool = False,
) -> RunSummary:
    """A summary from evidence, the states of the run and its monitor at that time, and the stored
    rows. With `is_over` nothing is left to monitor: no next tick is due.
    """
    health, monitor = state
    metrics, final = evidence.get(Metrics), evidence.get(FinalStep)
    loss, curve, pace, rows_read_at = _curve(run)
    saved_at, saved_step = _newest_step(evidence, memory)
    step = reached_step(evidence)
    last = metrics.last or {} if isinstance(metrics, Metrics) else {}
    if isinstance(metrics, Metrics) and step is not None and step < metrics.step:
        last, loss = {}, None  # of steps that the current instance does not keep
    loss_name = next((name for name in names_of(run.contract).loss if name in last), "")
    is_over = is_over or bool(memory.sealed) or health == RunHealth.FINISHED
    is_due = ticks_in_this_clone(run) and not is_over
    return RunSummary(
        slug=run.slug,
        stage=stage_of(run),
        run=health,
        monitor=monitor,
        step=step,
        final_step=final.value if isinstance(final, FinalStep) else None,
        loss=last.get(loss_name, loss),
        curve=curve,
        pace=pace,
        rows_read_at=None if isinstance(metrics, Metrics) else rows_read_at,
        checkpoint_step=saved_step,
        checkpoint_age=(now() - saved_at).total_seconds() if saved_at else None,
        alerts=_alerts(alerts),
        awaited=missing,
        next_tick=next_due(run) if is_due else None,
        quiet=(now() - metrics.advanced_at).total_seconds()
        if isinstance(metrics, Metrics)
        else None,
        seen_at=seen_at,
    )


def _alerts(alerts: Iterable[Alert]) -> tuple[OpenAlert, ...]:
    alerts = tuple(alerts)
    severity = {c.name: c.severity.value for c in discover.checks(Gate.HEALTH)} if alerts else {}
    open_alerts = (
        OpenAlert(a.check, severity.get(a.check, "warn"), a.state.value, scrub(a.message))
        for a in alerts
    )
    return tuple(
        sorted(open_alerts, key=lambda a: (a.severity != "critical", a.state != "firing", a.check))
    )


def _newest_step(evidence: Evidence, memory: Memory) -> tuple[datetime | None, int | None]:
    """The newest step of the present lineage, with its time: evidence from before a rollback is
    ignored.
    """
    checkpoints, back = evidence.get(Checkpoints), memory.history.given_up
    candidates = checkpoints.candidates if isinstance(checkpoints, Checkpoints) else ()
    newest = Checkpoints(tuple(each for each in candidates if given_up(each, back) is None)).newest
    return (newest.modified, newest.step) if newest else (None, None)


# --- what a tick kept -----------------------------------------------------------------------------


def last_evidence(run: Run, at: datetime) -> dict[Any, Any]:
    """The newest tick's evidence that a summary needs; unreadable parts are omitted."""
    try:
        line = _last_line(evidence_file(run, at.astimezone(UTC)))
        facts = json.loads(line)["evidence"]
        return {
            kind: decode(kind, facts[name]["value"])
            for name, kind in KEPT_EVIDENCE.items()
            if _has(facts, name)
        }
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def _has(facts: Mapping[str, Any], name: str) -> bool:
    return isinstance(facts.get(name), dict) and "value" in facts[name]


def _last_line(path: Path) -> bytes:
    """The last complete line, read from the end."""
    with path.open("rb") as file:
        size, block, tail = file.seek(0, os.SEEK_END), 1 << 16, b""
        while len(tail) < min(size, MAX_EVIDENCE_BYTES):
            block = min(2 * block, size)
            file.seek(size - block)
            tail = file.read(block)
            lines = tail[: tail.rfind(b"\n")].rsplit(b"\n", 1)
            if len(lines) == 2 or block == size:
                return lines[-1]
    raise ValueError("no whole line")


def _curve(run: Run) -> tuple[float | None, str, Pace | None, datetime | None]:
    """The newest loss, its curve and the pace, from the stored rows; when these were read."""
    nothing = (None, "", None, None)
    if not (run.state / COLUMNS).exists():
        return nothing
    from herorun.system.metrics_cache import read_fetched  # imported only if there are rows

    try:
        curves = read_fetched(run.state / COLUMNS)
        if curves is None or not curves.attempts:
            return nothing
        names = names_of(run.contract)
        return *_draw_curve(_ChartCache(curves), names.loss, names.speed), curves.fetched_at
    except (CouldNotLook, OSError):
        return nothing


class _ChartCache:
    """A cache key that is equal until rows are added, so that a curve is drawn once."""

    def __init__(self, curves: "FetchedRows") -> None:
        self.curves = curves
        self.key = (str(curves.folder), curves.rows, curves.fetched_at)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _ChartCache) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)


@lru_cache(2048)
def _draw_curve(
    cache: _ChartCache, losses: tuple[str, ...], speeds: tuple[str, ...]
) -> tuple[float | None, str, Pace | None]:
    curves = cache.curves
    attempt = curves.attempts[-1]
    first = max(attempt.first_step, attempt.last_step - MAX_STEPS)
    loss = next((name for name in losses if name in curves.names), None)
    speed = next((name for name in speeds if name in curves.names), "")
    pieces = list(curves.pieces(loss, first, attempt=attempt.number)) if loss else []
    values = [value for piece in pieces for value in piece.values]
    times = [
        (step, at)
        for piece in pieces
        for step, at in zip(piece.steps, piece.seconds, strict=True)
        if not isnan(at)
    ]
    speed_pieces = curves.pieces(speed, first, attempt=attempt.number) if speed else ()
    speeds_seen = [value for piece in speed_pieces for value in piece.values]
    return (values[-1] if values else None), sparkline(values), pace_of(speed, speeds_seen, times)
