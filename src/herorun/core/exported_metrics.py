"""The metrics that Prometheus scrapes: their names, and their values from one reading. Pure.

Names and units follow https://prometheus.io/docs/practices/naming/: base units, `_total` for
counters, and a timestamp instead of an age, so that the age keeps growing when the exporter stops.
Labels have few values: runs, checks and fixed words; never a name of a metric, a host or a message.
An unknown value has no sample.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from datetime import datetime, timedelta
from typing import Literal, Protocol

from herorun.core.goodput.totals import GoodputTotals, Range
from herorun.core.health.run_health import RunHealth
from herorun.core.journal import Memory
from herorun.core.lazy_dataclass import dataclass
from herorun.core.run_summary import RunSummary

Labels = tuple[str, ...]
STAGES = ("not initialised", "initialised", "launched", "sealed")
MONITORS = ("fresh", "partial", "stale")
BOUNDS = ("least", "most")


@dataclass(frozen=True, kw_only=True)
class ExportedMetric:
    name: str
    help: str
    kind: Literal["gauge", "counter"] = "gauge"
    labels: Labels = ()  # in addition to `run`


def _metric(name: str, help: str, *labels: str) -> ExportedMetric:
    kind: Literal["gauge", "counter"] = "counter" if name.endswith("_total") else "gauge"
    return ExportedMetric(name=f"herorun_{name}", help=help, kind=kind, labels=labels)


METRICS: Sequence[ExportedMetric] = (
    _metric("run_readable", "1 if the contract and the record of the run could be read."),
    _metric("run_stage", "1 for the stage that the run has reached, 0 for the others.", "stage"),
    _metric(
        "run_state",
        "1 for the state at the last tick, 0 for the others; unknown once the monitor is stale, "
        "or if the run cannot be read.",
        "state",
    ),
    _metric(
        "monitor_state",
        "1 for the state of the monitoring at the last tick, 0 for the others; stale once the next "
        "tick is overdue.",
        "monitor",
    ),
    _metric("babysitter_running", "1 if a babysitter of this machine monitors the run."),
    _metric("cadence_seconds", "The contract's time between two ticks."),
    _metric("ticks_total", "Ticks in the record."),
    _metric("last_tick_timestamp_seconds", "Time of the last tick."),
    _metric("step", "Completed updates, without those that a rollback discarded."),
    _metric("final_step", "The step at which the run is finished."),
    _metric("step_advanced_timestamp_seconds", "Time at which the step last advanced."),
    _metric("steps_per_second", "The pace of the newest rows; 0 while the step does not advance."),
    _metric("remaining_seconds", "Time until the final step at the current pace, uninterrupted."),
    _metric("loss", "The newest training loss."),
    _metric(
        "alerts",
        "Alerts that fire; no sample if none does, or if the run cannot be read.",
        "check",
        "severity",
    ),
    _metric("unacknowledged_alerts", "Alerts that ended unresolved and are not acknowledged."),
    _metric("undelivered_messages", "Messages that no channel and no issue has accepted yet."),
    _metric("instances_total", "Instances that were launched."),
    _metric(
        "relaunches_total", "Relaunches, by the cause of the previous instance's end.", "cause"
    ),
    _metric("checkpoint_step", "The step of the newest complete checkpoint."),
    _metric(
        "checkpoint_timestamp_seconds", "Time at which the newest complete checkpoint was written."
    ),
    _metric("queue_seconds", "Time that the newest job waited in the queue, or has waited so far."),
    _metric("lease_held", "1 if this clone held the lease at the last tick, 0 if another did."),
    _metric("record_lines_total", "Lines of the record."),
    _metric("record_unpushed_lines", "Lines of the record that its remote does not have."),
    _metric("goodput_ratio", "The productive share of the wall time.", "bound"),
    _metric("wall_time_seconds", "Wall time by state.", "state"),
    _metric("lost_steps", "Updates that restarts repeated, or will have to repeat."),
    _metric("accelerator_seconds", "Accelerator time used.", "bound"),
    _metric("cost", "Accelerator-hours times [budget] rate, in the rate's currency.", "bound"),
)


@dataclass(frozen=True, kw_only=True)
class RunReading:
    """What one reading of a run's record and kept rows knows. None: unknown."""

    summary: RunSummary
    memory: Memory = field(default_factory=Memory)
    cadence: timedelta | None = None
    running: bool = False  # a babysitter of this machine
    lines: int = 0
    unpushed: int = 0
    lease_held: bool | None = None
    goodput: GoodputTotals | None = None


@dataclass(frozen=True)
class Sample:
    """One value; `labels` are those of its metric, after the run's own."""

    metric: str
    run: str
    value: float
    labels: Labels = ()


class _Sampler(Protocol):
    """Makes the sample of one run and metric; none where the value is None."""

    def __call__(self, name: str, value: float | None, *labels: str) -> Iterator[Sample]: ...


def samples(readings: Iterable[RunReading], at: datetime) -> Iterator[Sample]:
    """All of them, in the order of METRICS; `at` is the moment of the reading."""
    by_metric: dict[str, list[Sample]] = {metric.name: [] for metric in METRICS}
    for reading in readings:
        for sample in _of_run(reading, at):
            by_metric[sample.metric].append(sample)
    for of_metric in by_metric.values():
        yield from of_metric


def _of_run(reading: RunReading, at: datetime) -> Iterator[Sample]:
    run = reading.summary

    def sample(name: str, value: float | None, *labels: str) -> Iterator[Sample]:
        if value is not None:
            yield Sample(f"herorun_{name}", run.slug, float(value), labels)

    def one_of(name: str, states: Iterable[str], current: str) -> Iterator[Sample]:
        for word in states:
            yield from sample(name, word == current, word)

    yield from sample("run_readable", not run.error)
    if run.error:
        yield from one_of("run_state", RunHealth, RunHealth.UNKNOWN)
        return
    yield from one_of("run_stage", STAGES, run.stage)
    yield from sample("record_lines_total", reading.lines)
    yield from sample("record_unpushed_lines", reading.unpushed)
    if not reading.memory.instances:
        return
    yield from one_of("run_state", RunHealth, run.run)
    yield from one_of("monitor_state", MONITORS, run.monitor)
    for name, value in _values(reading, at).items():
        yield from sample(name, value)
    yield from _sample_counts(reading, sample)
    if reading.goodput:
        yield from _account(reading.goodput, sample)


def _values(reading: RunReading, at: datetime) -> Mapping[str, float | None]:
    """Those without a label of their own."""
    run, memory = reading.summary, reading.memory
    return {
        "babysitter_running": reading.running,
        "cadence_seconds": reading.cadence.total_seconds() if reading.cadence else None,
        "ticks_total": memory.ticks,
        "last_tick_timestamp_seconds": run.seen_at.timestamp() if run.seen_at else None,
        "step": run.step,
        "final_step": run.final_step,
        "step_advanced_timestamp_seconds": _before(at, run.quiet),
        "steps_per_second": _steps_per_second(run),
        "remaining_seconds": run.time_left.total_seconds() if run.time_left is not None else None,
        "loss": run.loss,
        "unacknowledged_alerts": len(memory.unacknowledged_alerts),
        "undelivered_messages": len(memory.undelivered_alerts),
        "instances_total": len(memory.instances),
        "checkpoint_step": run.checkpoint_step,
        "checkpoint_timestamp_seconds": _before(at, run.checkpoint_age),
        "queue_seconds": queue_seconds(memory, at),
        "lease_held": reading.lease_held,
    }


def _sample_counts(reading: RunReading, sample: _Sampler) -> Iterator[Sample]:
    firing = Counter(
        (alert.check, alert.severity) for alert in reading.summary.alerts if alert.state == "firing"
    )
    for (check, severity), many in sorted(firing.items()):
        yield from sample("alerts", many, check, severity)
    for cause, many in sorted(relaunches(reading.memory).items()):
        yield from sample("relaunches_total", many, cause)


def _account(totals: GoodputTotals, sample: _Sampler) -> Iterator[Sample]:
    for state, seconds in totals.states.items():
        yield from sample("wall_time_seconds", seconds, state.value)
    yield from sample("lost_steps", totals.lost_steps)
    for name, span, unit in (
        ("goodput_ratio", totals.productive_fraction, 1.0),
        ("accelerator_seconds", totals.total_accelerator_hours, 3600.0),
        ("cost", totals.cost, 1.0),
    ):
        yield from _bounds(name, span, unit, sample)


def _bounds(name: str, span: Range, unit: float, sample: _Sampler) -> Iterator[Sample]:
    for bound_name, value in zip(BOUNDS, (span.min, span.max), strict=True):
        yield from sample(name, None if value is None else value * unit, bound_name)


def _before(at: datetime, seconds: float | None) -> float | None:
    return None if seconds is None else at.timestamp() - seconds


def _steps_per_second(run: RunSummary) -> float | None:
    """Steps per second: 0 while the run is known to be stuck, None while it is not monitored."""
    if run.run not in (RunHealth.HEALTHY, RunHealth.DEGRADED):
        return None
    if run.stands_still:
        return 0.0
    pace = run.pace.step_seconds if run.pace else None
    return 1 / pace if pace else None


def relaunches(memory: Memory) -> Mapping[str, int]:
    """By the cause of the end that each of them followed."""
    end_causes = (
        memory.launchings[each.name].relaunch_of
        for each in memory.instances
        if each.name in memory.launchings
    )
    causes = (
        memory.endings[name].cause.value if name in memory.endings else "unknown"
        for name in end_causes
        if name
    )
    return Counter(causes)


def queue_seconds(memory: Memory, at: datetime) -> float | None:
    """From the submission of the newest job to its start, or until now."""
    current = memory.current
    if current is None:
        return None
    started_at = memory.job_started.get(current.name)
    if started_at is None and (current.name in memory.ends or current.name in memory.endings):
        return None
    return max(0.0, ((started_at or at) - current.started).total_seconds())
