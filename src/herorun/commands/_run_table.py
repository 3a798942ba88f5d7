"""The table of runs, worst first: `watch` redraws it, `status --all` prints it once."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from herorun.core.durations import format_span
from herorun.core.lazy_dataclass import dataclass
from herorun.core.run_summary import WIDTH, RunSummary
from herorun.core.run_summary_text import (
    BAR,
    format_checkpoint,
    format_last_tick,
    format_loss,
    format_pace,
    format_progress,
    format_state,
    format_tick,
)
from herorun.output import clean

COLOURS = {
    "down": "bold red",
    "degraded": "yellow",
    "unknown": "yellow",
    "starting": "yellow",
    "healthy": "green",
}
TRAINS = ("healthy", "degraded", "starting")  # the states in which a speed is that of now
COLUMNS = ("run", "state", "last tick", "progress", "loss", "speed", "checkpoint", "next tick")
FEWEST = 2  # columns that stay on any terminal
GAP = 2  # cells between two columns


@dataclass(frozen=True)
class Size:
    """How much room a row may take: cells of the curve and of the bar, and whether units are left out."""

    curve: int
    bar: int
    short: bool


SIZES = (Size(WIDTH, BAR, False), Size(12, 6, True), Size(8, 4, True), Size(4, 4, True))


def table_of(run_summaries: Sequence[RunSummary], at: datetime, width: int = 120) -> Any:
    """A rich table. On a narrow terminal curves and bars shrink first, then the last columns go; no number is cut."""
    from rich.table import Table

    rows, column_count = _fitting(run_summaries, at, width)
    table = Table(box=None, pad_edge=False, header_style="dim", expand=False)
    for name in COLUMNS[:column_count]:
        table.add_column(name, no_wrap=True, overflow="ellipsis")
    for row in rows:
        table.add_row(*row[:column_count])
    return table


def _fitting(
    run_summaries: Sequence[RunSummary], at: datetime, width: int
) -> tuple[list[list[Any]], int]:
    """The rows in the largest size with the most columns that fit."""
    sized = [[_cells(summary, at, size) for summary in run_summaries] for size in SIZES]
    for column_count in range(len(COLUMNS), FEWEST - 1, -1):
        for rows in sized:
            if sum(widths := _widths(rows)[:column_count]) + GAP * (len(widths) - 1) <= width:
                return rows, column_count
    for row in sized[-1]:  # not even these: the names give way
        row[0].truncate(max(8, width - GAP - _widths(sized[-1])[1]), overflow="ellipsis")
    return sized[-1], FEWEST


def _widths(rows: Sequence[Sequence[Any]]) -> list[int]:
    return [
        max([len(name), *(row[at].cell_len for row in rows)]) for at, name in enumerate(COLUMNS)
    ]


def _cells(summary: RunSummary, at: datetime, size: Size) -> list[Any]:
    """As `COLUMNS` names them."""
    from rich.text import Text

    return [
        Text(clean(summary.slug)),
        Text(format_state(summary), COLOURS.get(summary.run, "") if not summary.error else "red"),
        Text(format_last_tick(summary, at, size.short)),
        Text(format_progress(summary, size.bar)),
        Text(format_loss(summary, size.curve)),
        _speed(summary, size.short),
        Text(format_checkpoint(summary, size.short)),
        Text(format_tick(summary, at)),
    ]


def _speed(summary: RunSummary, short: bool) -> Any:
    """That of now: what no longer trains, and what cannot be read, has none."""
    from rich.text import Text

    if summary.error or summary.run not in TRAINS:
        return Text("-")
    return Text(format_pace(summary, short), "yellow" if _slow(summary) else "")


def summary_rows(summary: RunSummary, at: datetime) -> list[tuple[str, str]]:
    """One run by the names of the columns, for a look at it alone; what nobody saw is left out."""
    remaining = f"{format_span(summary.left)} at this pace" if summary.left else ""
    rows = (
        ("left", remaining),
        ("loss", format_loss(summary)),
        (
            "speed" if summary.run in TRAINS else "last speed",
            format_pace(summary, usual=" of usual"),
        ),
        ("checkpoint", format_checkpoint(summary)),
        ("next tick", _next_check(summary, at)),
    )
    return [(name, value) for name, value in rows if value not in ("", "-")]


def _next_check(summary: RunSummary, at: datetime) -> str:
    due = format_tick(summary, at)
    return f"{due}: the babysitter checks the run again" if due.startswith("in ") else due


def alert_lines(run_summaries: Sequence[RunSummary]) -> list[Any]:
    """What is open, what is awaited, and what could not be read, one line each."""
    from rich.text import Text

    lines = []
    for summary in run_summaries:
        if summary.error:
            lines.append(Text(f"{clean(summary.slug)}: {clean(summary.error)}", "red"))
        for missing in summary.awaited:
            until = f"; allowed until {missing.until:%Y-%m-%d %H:%M} UTC" if missing.until else ""
            lines.append(
                Text(f"{clean(summary.slug)}: missing: {clean(missing.message)}{until}", "yellow")
            )
        for alert in summary.alerts:
            style = "red" if alert.severity == "critical" else "yellow"
            text = (
                f"{clean(summary.slug)}: {alert.state} {alert.severity} {alert.check}: "
                f"{clean(alert.message)}"
            )
            lines.append(Text(text, style if alert.state == "firing" else "dim"))
    return lines


def _slow(summary: RunSummary) -> bool:
    return summary.pace is not None and summary.pace.ratio is not None and summary.pace.ratio < 0.8
