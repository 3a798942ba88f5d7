"""Where a run's wall time and accelerator-hours went, for people and programs."""

from herorun.core.durations import format_span
from herorun.core.errors import CouldNotLook, HerorunError, describe_error
from herorun.core.finding import count
from herorun.core.goodput.latencies import Delay
from herorun.core.goodput.states import WallTimeState
from herorun.core.goodput.timeline import Beat
from herorun.core.goodput.totals import GoodputTotals, Range, goodput
from herorun.core.lazy_dataclass import dataclass
from herorun.operations.metrics.series import beats_of, curves_of, stored_curves
from herorun.runs import Run
from herorun.schemas.evaluations import GoodputDocument


@dataclass(frozen=True)
class Account:
    run: Run
    totals: GoodputTotals
    blind: bool = False  # the rows could not be read

    @property
    def code(self) -> int:
        return 3 if self.blind else 0

    def document(self) -> GoodputDocument:
        return GoodputDocument.of(self.totals, run=self.run.slug)

    def lines(self) -> list[str]:
        return [
            f"{self.run.slug}: {line}" if not number else line
            for number, line in enumerate(_goodput_lines(self.totals, self.run.slug))
        ]


def account(run: Run) -> Account:
    """The account, from the journal and the rows only. Time without readable rows is unknown."""
    if run.record.memory().initialised is None:
        raise CouldNotLook(
            f"{run.slug} has no record here. If it was created in another clone, `herorun status "
            f"{run.slug}` fetches it; otherwise `herorun init {run.slug}` creates it."
        )
    beats: list[Beat] = []
    blind, notes = False, []
    try:
        curves, source = curves_of(run)
        beats, untimed_count = beats_of(curves, run)
        notes.append(f"rows {source}")
        if untimed_count:
            rows = f"{count(untimed_count, 'row')} without a time"
            notes.append(f"{rows}: their place in the wall time is unknown")
    except (HerorunError, OSError) as error:
        blind = bool(run.record.memory().instances)
        notes.append(f"no rows: {describe_error(error)}")
    events = [line.event for line in run.record.lines()]
    return Account(run, goodput(events, beats, run.contract.budget.rate, notes), blind)


def stored_account(run: Run) -> GoodputTotals | None:
    """The totals from the journal and the rows that the babysitter stored, without a query of the
    tracker. None without such rows.
    """
    curves = stored_curves(run)
    if curves is None:
        return None
    events = [line.event for line in run.record.lines()]
    return goodput(events, beats_of(curves, run)[0], run.contract.budget.rate)


def _goodput_lines(totals: GoodputTotals, slug: str) -> list[str]:
    if totals.since is None or totals.until is None:
        return [f"nothing was launched yet; next: `herorun preflight {slug}`"]
    lines = [
        (
            f"{format_span(totals.wall_seconds)} of wall time, {totals.since:%Y-%m-%d %H:%M} to "
            f"{totals.until:%Y-%m-%d %H:%M} UTC"
        ),
        f"{count(totals.instances, 'instance')}, {count(totals.max_step, 'step')}",
        f"goodput: {_percent(totals.productive_fraction)}",
    ]
    lines += [_state_line(totals, state) for state in WallTimeState if totals.states[state]]
    lines += [_loss_line(totals), _interruption_line(totals)]
    if totals.total_accelerator_hours.min is not None:
        has_cost = totals.cost.min is not None
        money = (
            f"; cost: {_span(totals.cost)}, in the currency of [budget] rate" if has_cost else ""
        )
        lines.append(f"accelerator-hours: {_span(totals.total_accelerator_hours)}{money}")
    delays = totals.delays
    lines += [
        f"{name}: {_delay(delay)}"
        for name, delay in (
            ("time to detect an end", delays.detection),
            ("time from detection to relaunch", delays.relaunch),
            ("time to answer a question", delays.human),
        )
    ]
    return [*lines, *(f"note: {note}" for note in totals.notes)]


def _state_line(totals: GoodputTotals, state: WallTimeState) -> str:
    """The time in one state, its share, and its accelerator-hours if known."""
    hours = (totals.accelerator_hours or {}).get(state)
    cost = f"  {hours:,.1f} accelerator-hours" if hours else ""
    share = totals.states[state] / totals.wall_seconds if totals.wall_seconds else 0
    return f"  {state:<11} {format_span(totals.states[state]):>10}  {share:6.1%}{cost}"


def _loss_line(totals: GoodputTotals) -> str:
    lost_text = f"{count(totals.lost_steps, 'step')} lost to restarts"
    if totals.unknown_losses:
        return f"{lost_text}; unknown for {count(totals.unknown_losses, 'restart')}"
    return lost_text


def _interruption_line(totals: GoodputTotals) -> str:
    ends = ", ".join(f"{number} {cause}" for cause, number in totals.interruptions.items())
    mean = f"; mean time between failures {format_span(totals.mtbf)}" if totals.mtbf else ""
    return f"interruptions: {ends or 'none'}{mean}"


def _percent(span: Range) -> str:
    if span.min is None or span.max is None:
        return "unknown"
    if round(span.min, 3) == round(span.max, 3):
        return f"{span.min:.1%}"
    return f"{span.min:.1%} to {span.max:.1%} ({span.max - span.min:.1%} of the time is unknown)"


def _span(span: Range) -> str:
    assert span.min is not None and span.max is not None
    least, most = f"{span.min:,.1f}", f"{span.max:,.1f}"
    return least if least == most else f"{least} to {most}"


def _delay(delay: Delay) -> str:
    parts = []
    if delay.count and delay.median is not None and delay.max is not None:
        several = f"median {format_span(delay.median)}, maximum {format_span(delay.max)}"
        length = format_span(delay.max) if delay.count == 1 else several
        parts.append(f"{length} ({count(delay.count, 'case')})")
    if delay.unknown:
        parts.append(f"{delay.unknown} unknown")
    if delay.open:
        parts.append(f"{delay.open} still open")
    return ", ".join(parts) or "no case recorded"
