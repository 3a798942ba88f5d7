"""The parts of a report's document: marks, checkpoints, alerts and instances."""

import contextlib
import shlex
from collections.abc import Container, Sequence
from datetime import datetime
from math import isnan

from herorun import discover
from herorun.core.babysit.alert import AlertState
from herorun.core.canonical_json import timestamp
from herorun.core.check import Gate
from herorun.core.config.diff import diff_launches
from herorun.core.errors import HerorunError
from herorun.core.event import Event, Launching
from herorun.core.evidence import Candidate, Checkpoints, Evidence
from herorun.core.goodput.timeline import Beat
from herorun.core.journal import Memory
from herorun.core.journal.launch_intents import plan_values
from herorun.core.lazy_dataclass import dataclass
from herorun.core.plan import argv_to_run, describe_differences
from herorun.core.record.logbook_entries import change_of
from herorun.core.record.render import command_line
from herorun.core.report.annotations import (
    AlertIncident,
    Kind,
    StepMark,
    alerts,
    launches,
    seals,
)
from herorun.operations.metrics.charts import ChartDrawing
from herorun.operations.report.compare import TRAINS
from herorun.operations.report.links import web_address
from herorun.runs import Run
from herorun.schemas.reports import (
    ChartEntry,
    IncidentEntry,
    LaunchedEntry,
    Saved,
)

MAX_MARKS = 400  # of one kind, the newest ones


MAX_CHANGES = 200  # of one launch against the one before


@dataclass(frozen=True)
class ReportRows:
    """The parts of a report that come from the tracker's rows."""

    charts: tuple[ChartDrawing, ...] = ()
    beats: tuple[Beat, ...] = ()
    restarts: tuple[StepMark, ...] = ()
    notes: tuple[str, ...] = ()
    blind: bool = False


def chart_annotations(
    run: Run,
    evidence: Evidence,
    events: Sequence[Event],
    rows: ReportRows,
    *,
    incident_list: Sequence[AlertIncident],
    final: int | None,
    step: int | None,
) -> list[StepMark]:
    phases = [
        StepMark(Kind.PHASE, phase.step, phase.name, phase.kind) for phase in run.contract.phase
    ]
    groups = [
        launches(events)[-MAX_MARKS:],
        list(rows.restarts)[-MAX_MARKS:],
        _checkpoints(evidence)[-MAX_MARKS:],
        alerts(incident_list)[-MAX_MARKS:],
        phases,
        [StepMark(Kind.FINAL, final, "final step")] if final is not None else [],
        seals(events, step or 0),
    ]
    return sorted(
        (mark for some in groups for mark in some), key=lambda mark: (mark.step, mark.kind)
    )


def _checkpoints(evidence: Evidence) -> list[StepMark]:
    checkpoints = evidence.get(Checkpoints)
    candidates = checkpoints.candidates if isinstance(checkpoints, Checkpoints) else ()
    return [
        StepMark(
            Kind.CHECKPOINT,
            one.step,
            f"checkpoint {one.step}",
            _describe_checkpoint(one),
            one.modified,
        )
        for one in sorted(candidates, key=lambda one: one.step)
        if not one.alike
    ]


def _describe_checkpoint(one: Candidate) -> str:
    kind = "temporary, " if one.temporary else ""
    if one.complete:
        return f"{kind}complete"
    return f"{kind}{'incomplete: ' + one.problem if one.incomplete else 'listed only'}"


def newest_checkpoint(evidence: Evidence) -> Saved | None:
    checkpoints = evidence.get(Checkpoints)
    newest = checkpoints.newest if isinstance(checkpoints, Checkpoints) else None
    return Saved.of(newest, at=newest.modified) if newest else None


def chart_entry(chart: ChartDrawing) -> ChartEntry:
    newest = chart.newest
    return ChartEntry.of(
        chart,
        metrics=[one.metric for one in chart.series],
        newest=chart.newest_text if newest is not None and isnan(newest) else newest,
        points=sum(len(strand.steps) for one in chart.series for strand in one.strands),
        not_finite=sum(each.rows for one in chart.series for each in one.not_finite),
    )


def _state_of(one: AlertIncident) -> str:
    if one.superseded:
        return "superseded"
    return AlertState.RESOLVED.value if one.resolved else one.alert.state.value


def incident_entry(one: AlertIncident, acked_ids: Container[str]) -> IncidentEntry:
    alert, step_range = one.alert, one.steps
    severities = {check.name: check.severity for check in discover.checks(Gate.HEALTH)}
    return IncidentEntry.of(
        alert,
        severity=severities.get(alert.check, "unknown"),
        step=step_range[0],
        last_step=step_range[1],
        noticed_step=alert.first_step,
        state=_state_of(one),
        acknowledged=alert.key in acked_ids,
        resolved=one.resolved,
    )


def instance_entries(run: Run, memory: Memory) -> list[LaunchedEntry]:
    entries, before = [], None
    for instance in memory.instances:
        launching = memory.launchings.get(instance.name)
        end, ending = memory.ends.get(instance.name), memory.endings.get(instance.name)
        cause = f": {ending.cause.value}" if ending else ""
        entry = LaunchedEntry.of(
            instance,
            kind=change_of(launching) if launching else "launch",
            why=launching.why if launching else "",
            started=instance.started.replace(microsecond=0),
            ended=_format_timestamp(end.ended or end.at if end else None),
            end_state=f"{end.state.value}{cause}" if end else "",
            diagnosis=ending.why if ending else "",
            steps=end.step if end else None,
            changes=_compare_instances(run, before, launching),
            command=_command_of(launching) if launching and not launching.adopts else "",
            log=shlex.join(["herorun", "logs", run.slug, "--instance", instance.name]),
            **_log_links(run, instance.name),
        )
        entries.append(entry)
        before = launching or before
    return entries


def _log_links(run: Run, instance: str) -> dict[str, str]:
    """Links that the adapter knows without a query: the log's path, on another machine by
    `log_place`, and a web page by `log_page`.
    """
    place, remote_place, page = (
        _place_of_log(run, name, instance) for name in ("log", "log_place", "log_page")
    )
    host = f"{run.place.reach.login.host}:" if remote_place and run.place.reach else ""
    return {"log_place": place or f"{host}{remote_place}", "log_url": web_address(page)}


def _place_of_log(run: Run, method: str, instance: str) -> str:
    method_of = getattr(run.scheduler, method, None)
    with contextlib.suppress(HerorunError, OSError):
        return str(method_of(instance)) if callable(method_of) else ""
    return ""


def _command_of(launching: Launching) -> str:
    plan = plan_values(launching.plan)
    start = plan.get("start")
    path = start["path"] if start else None
    return command_line(argv_to_run(plan.get("argv") or (), plan.get("resume_argv") or (), path))


def _format_timestamp(at: datetime | None) -> str | None:
    return timestamp(at.replace(microsecond=0)) if at else None


def _compare_instances(
    run: Run, before: Launching | None, after: Launching | None
) -> list[str] | None:
    """The differences from the previous instance; None if there is none."""
    if before is None or after is None:
        return None
    one, other = plan_values(before.plan), plan_values(after.plan)
    changes = [str(change) for change in diff_launches(one, other, run.contract.config)]
    names = ("commit", *TRAINS, "start")
    changes += describe_differences(
        {name: one.get(name) for name in names}, {name: other.get(name) for name in names}
    )
    return changes[:MAX_CHANGES]
