"""The content of a run's report: from its record, its rows and evidence that is read now. Only
reads.
"""

from collections.abc import Sequence

from herorun import __version__, discover
from herorun.core.errors import HerorunError, describe_error
from herorun.core.event import Event
from herorun.core.evidence import (
    Checkpoints,
    Evidence,
    FinalStep,
    History,
    Metrics,
    Nothing,
    Now,
    reached_step,
)
from herorun.core.finding import count, few
from herorun.core.goodput.timeline import Beat
from herorun.core.goodput.totals import goodput
from herorun.core.journal import Memory
from herorun.core.lazy_dataclass import dataclass
from herorun.core.notify.notifications import progress
from herorun.core.report.annotations import (
    incidents,
    restarts,
)
from herorun.core.report.eta import eta
from herorun.core.report.text import readable, readable_tree
from herorun.core.run_summary import RunSummary
from herorun.gather import gather
from herorun.operations.health.evaluate import READ_DEADLINE
from herorun.operations.metrics.charts import (
    ChartDrawing,
    attempt_starts,
    charts_of,
    further_charts,
)
from herorun.operations.metrics.series import beats_of, curves_of, names_for
from herorun.operations.report.axes import StepAxes, axes_of
from herorun.operations.report.goodput import Account
from herorun.operations.report.links import links_of
from herorun.operations.report.report_entries import (
    ReportRows,
    chart_annotations,
    chart_entry,
    incident_entry,
    instance_entries,
    newest_checkpoint,
)
from herorun.operations.report.status import status_of_run
from herorun.operations.report.verdict import level_of, no_estimate, verdict_text
from herorun.runs import Run, final_step
from herorun.schemas.reports import (
    ProgressEntry,
    Recorded,
    ReportDocument,
)
from herorun.system.clock import now


@dataclass(frozen=True)
class RunReport:
    """`document` is what `--json` prints; the rest is what the page shows next to it."""

    document: ReportDocument
    charts: tuple[ChartDrawing, ...]
    account: tuple[str, ...]  # the goodput for people, line by line
    logbook: str
    blind: bool = False  # rows exist, but could not be read
    axes: StepAxes = StepAxes()

    @property
    def code(self) -> int:
        return 3 if self.blind else 0


def report_of(run: Run, drift: str = "") -> RunReport:
    """Read everything once, and build the report. The page states what could not be read, and shows
    the rest.
    """
    at, memory = now(), run.record.memory()
    status, evidence, summary = status_of_run(run, drift)
    if memory.sealed and not run.closed_reason:
        evidence = _gather_report(run, memory)
    events = [line.event for line in run.record.lines()]
    rows = _load_rows(run, events, _none_yet(evidence, memory))
    step, final = _progress_of(memory, evidence, rows.beats, summary)
    fired_incidents = incidents(events)
    account = Account(run, goodput(events, rows.beats, run.contract.budget.rate, rows.notes))
    document = ReportDocument(
        run=run.slug,
        verdict=verdict_text(run.slug, status, progress(step, final), rows.blind),
        level=level_of(status),
        state=status.run,
        stage=status.stage,
        monitor=status.monitor,
        generated_at=at.replace(microsecond=0),
        version=__version__,
        goal=run.contract.goal,
        dri=run.dri,
        progress=ProgressEntry(step=step, final_step=final, text=progress(step, final)),
        eta=eta(rows.beats, final, at, no_estimate(status)),
        checkpoint=newest_checkpoint(evidence),
        charts=[chart_entry(chart) for chart in rows.charts],
        annotations=chart_annotations(
            run=run,
            evidence=evidence,
            events=events,
            rows=rows,
            incident_list=fired_incidents,
            final=final,
            step=step,
        ),
        alerts=[incident_entry(one, memory.acked) for one in fired_incidents],
        instances=instance_entries(run, memory),
        goodput=account.document(),
        babysitter=status.babysitter,
        record=Recorded(commit=run.record.tip, pushed=status.pushed),
        links=links_of(run, memory, evidence),
        next=status.next,
        notes=[*rows.notes, *status.doubts],
        file="",
    )
    lines = tuple(readable(line) for line in account.lines())
    shown_document = ReportDocument.model_validate(readable_tree(document.as_json()))
    axes = axes_of(run.contract, memory.launchings.values(), rows.beats)
    return RunReport(shown_document, rows.charts, lines, _logbook(run), rows.blind, axes)


def _progress_of(
    memory: Memory, evidence: Evidence, beats: Sequence[Beat], summary: RunSummary
) -> tuple[int | None, int | None]:
    """The reached step and the planned final step; of a sealed run, those of its seal."""
    step = _completed_steps(evidence, beats, memory)
    if memory.sealed:
        return summary.step if summary.step is not None else step, summary.final_step
    planned_step = final_step(memory)
    return step, planned_step.value if isinstance(planned_step, FinalStep) else None


def _gather_report(run: Run, memory: Memory) -> Evidence:
    """The evidence. A sealed run is no longer evaluated: only its checkpoints and metrics are
    read.
    """
    inputs = {**run.base_evidence(memory), Now: Now(now())}
    return gather([Checkpoints, Metrics], discover.sources(), inputs, READ_DEADLINE)


def _none_yet(evidence: Evidence, memory: Memory) -> bool:
    """Whether the tracker was read and never had a row, which is no failure to read it."""
    has_progress = memory.last_decided is not None and not memory.last_decided.progress.startswith(
        "~unknown"
    )
    has_end_step = any(end.step for end in memory.ends.values())
    return isinstance(evidence.get(Metrics), Nothing) and not has_progress and not has_end_step


def _load_rows(run: Run, events: Sequence[Event], none_yet: bool) -> ReportRows:
    names = names_for(run)
    try:
        curves, source = curves_of(run)
        beats, untimed_count = beats_of(curves, run)
        charts = charts_of(curves, names)
        further, left_out = further_charts(curves, names, charts)
        starts = attempt_starts(curves, names)
    except (HerorunError, OSError) as error:
        why = describe_error(error)
        if none_yet:
            return ReportRows(notes=("no rows yet",))
        return ReportRows(notes=(f"no rows: {why}",), blind=bool(run.record.memory().instances))
    notes = [f"rows {source}"]
    if untimed_count:
        notes.append(f"{count(untimed_count, 'row')} without a time")
    if left_out:
        notes.append(f"not drawn: {few(left_out)}")
    return ReportRows(
        (*charts, *further), tuple(beats), tuple(restarts(starts, events)), tuple(notes)
    )


def _completed_steps(evidence: Evidence, beats: Sequence[Beat], memory: Memory) -> int | None:
    """Completed updates: by the present evidence, or else by the rows or recorded ends."""
    step = reached_step({History: memory.history, **evidence})
    if step is not None:
        return step
    steps = [beat.step for beat in beats[-1:]] + [
        end.step for end in list(memory.ends.values())[-1:] if end.step
    ]
    return max(steps, default=None)


def _logbook(run: Run) -> str:
    return readable(run.record.logbook()) if run.record.tip else ""


__all__ = ("ChartDrawing", "RunReport", "report_of")
