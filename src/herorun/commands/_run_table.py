"""The table of runs, worst first: `watch` redraws it, `status --all` prints it once."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from math import isfinite
from typing import Any, TypeAlias

from herorun import output
from herorun.core.durations import format_age
from herorun.core.evidence_names import name_lack
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
from herorun.output import clean, clean_lines
from herorun.output.text_width import as_typed

Cell: TypeAlias = tuple[str, str]  # a text and its style

COLOURS = {
    "down": "bold red",
    "degraded": "yellow",
    "unknown": "yellow",
    "starting": "yellow",
    "healthy": "green",
}
TRAINS = ("healthy", "degraded", "starting")  # states in which the newest speed may be current
COLUMNS = (
    "run",
    "state",
    "last tick",
    "progress",
    "loss",
    "speed",
    "checkpoint",
    "next tick",
)
READ_NOW = tuple("read ago" if name == "last tick" else name for name in COLUMNS)
MIN_COLUMNS = 2  # columns that stay on any terminal
GAP = 2  # cells between two columns


@dataclass(frozen=True)
class Size:
    """The width of a row: cells of the curve and of the bar, and whether units are omitted."""

    curve: int
    bar: int
    short: bool


SIZES = (Size(WIDTH, BAR, False), Size(12, 6, True), Size(8, 4, True), Size(4, 4, True))


def show_table(
    run_summaries: Sequence[RunSummary], at: datetime, columns: Sequence[str] = COLUMNS
) -> None:
    """Prints the table, and the alerts below it. A pipe gets plain lines: rich takes a tenth of the
    CPU time of reading a hundred runs. `columns` is `READ_NOW` where the evidence is not that of
    a tick.
    """
    if output.is_piped():
        for line in plain_lines(run_summaries, at, output.piped_width(), columns):
            output.show_line(line)
        return
    out = output.console()
    out.print(table_of(run_summaries, at, out.width, columns))
    for text, style in _alert_texts(run_summaries):
        slug, colon, rest = text.partition(": ")
        output.hang(out, slug + colon, rest, style, style)


def plain_lines(
    run_summaries: Sequence[RunSummary],
    at: datetime,
    width: int,
    columns: Sequence[str] = COLUMNS,
) -> list[str]:
    """The content of `table_of` and `alert_lines`, as text."""
    rows, column_count = _fitting(run_summaries, at, width)
    texts = [columns[:column_count], *([text for text, _ in row[:column_count]] for row in rows)]
    widths = [max(map(cell_count, column)) for column in zip(*texts, strict=True)]
    table = [
        (" " * GAP).join(
            text + " " * (size - cell_count(text)) for text, size in zip(row, widths, strict=True)
        )
        for row in texts
    ]
    return [line.rstrip() for line in table] + [text for text, _ in _alert_texts(run_summaries)]


def cell_count(text: str) -> int:
    """How many columns of a terminal the text takes."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def table_of(
    run_summaries: Sequence[RunSummary],
    at: datetime,
    width: int = 120,
    columns: Sequence[str] = COLUMNS,
) -> Any:
    """A rich table. On a narrow terminal curves and bars shrink first, then the last columns are
    omitted; no number is cut.
    """
    from rich.table import Table
    from rich.text import Text

    rows, column_count = _fitting(run_summaries, at, width)
    table = Table(box=None, pad_edge=False, header_style="dim", expand=False)
    for name in columns[:column_count]:
        table.add_column(name, no_wrap=True, overflow="ellipsis")
    for row in rows:
        table.add_row(*(Text(*cell) for cell in row[:column_count]))
    return table


def _fitting(
    run_summaries: Sequence[RunSummary], at: datetime, width: int
) -> tuple[list[list[Cell]], int]:
    """The rows in the largest size with the most columns that fit."""
    fitting_rows: list[list[list[Cell]]] = []
    for column_count in range(len(COLUMNS), MIN_COLUMNS - 1, -1):
        for number, size in enumerate(SIZES):
            if number == len(fitting_rows):
                fitting_rows.append([_cells(summary, at, size) for summary in run_summaries])
            widths = _widths(fitting_rows[number])[:column_count]
            if sum(widths) + GAP * (len(widths) - 1) <= width:
                return fitting_rows[number], column_count
    rows = fitting_rows[-1]  # not even these fit: shorten the names
    room = max(8, width - GAP - _widths(rows)[1])
    return [[(_truncate_cell(row[0][0], room), row[0][1]), *row[1:]] for row in rows], MIN_COLUMNS


def _truncate_cell(text: str, room: int) -> str:
    from rich.text import Text

    cell = Text(text)
    cell.truncate(room, overflow="ellipsis")
    return cell.plain


def _widths(rows: Sequence[Sequence[Cell]]) -> list[int]:
    return [
        max([len(name), *(cell_count(row[at][0]) for row in rows)])
        for at, name in enumerate(COLUMNS)
    ]


def _cells(summary: RunSummary, at: datetime, size: Size) -> list[Cell]:
    """The cells, in the order of `COLUMNS`."""
    return [
        (clean(summary.slug), ""),
        (format_state(summary), COLOURS.get(summary.run, "") if not summary.error else "red"),
        (format_last_tick(summary, at, size.short), ""),
        (format_progress(summary, size.bar), ""),
        (format_loss(summary, size.curve), ""),
        _format_speed(summary, size.short),
        (format_checkpoint(summary, size.short), ""),
        (format_tick(summary, at), ""),
    ]


def _format_speed(summary: RunSummary, short: bool) -> Cell:
    """The current speed; empty if the run does not train, makes no steps, or cannot be read."""
    if summary.error or not _trains(summary):
        return "-", ""
    return format_pace(summary, short), "yellow" if _slow(summary) else ""


def _trains(summary: RunSummary) -> bool:
    return summary.run in TRAINS and not summary.stands_still


def summary_rows(summary: RunSummary, at: datetime) -> list[tuple[str, str]]:
    """One run as pairs of column name and text, for its own page; unknown values are omitted."""
    is_finite = summary.loss is None or isfinite(summary.loss)  # with NaN it is useless
    remaining = (
        f"{format_age(summary.time_left)} at this pace" if summary.time_left and is_finite else ""
    )
    read_at = summary.rows_read_at
    read_before = f", read {format_age(max(at - read_at, timedelta(0)))} ago" if read_at else ""
    rows = (
        ("left", remaining),
        ("last loss" if read_before else "loss", f"{format_loss(summary)}{read_before}"),
        (
            "speed" if _trains(summary) and not read_before else "last speed",
            f"{format_pace(summary, usual=' of usual')}{read_before if summary.pace else ''}",
        ),
        ("checkpoint", format_checkpoint(summary)),
        ("next tick", _next_check(summary, at)),
    )
    return [(name, value) for name, value in rows if value not in ("", "-")]


def _next_check(summary: RunSummary, at: datetime) -> str:
    due = format_tick(summary, at)
    return f"{due}: the babysitter checks the run again" if due.startswith("in ") else due


def alert_lines(run_summaries: Sequence[RunSummary]) -> list[Any]:
    """Open alerts, missing evidence, and runs that could not be read, one rich text each."""
    from rich.text import Text

    return [Text(*line) for line in _alert_texts(run_summaries)]


def _alert_texts(run_summaries: Sequence[RunSummary]) -> Iterator[Cell]:
    for summary in run_summaries:
        if summary.error:
            yield as_typed(f"{clean(summary.slug)}: {clean_lines(summary.error)}"), "red"
        for missing in summary.awaited:
            until = f"; due by {missing.until:%Y-%m-%d %H:%M} UTC" if missing.until else ""
            lack = f"{name_lack(missing.until, summary.seen_at)}: {clean(missing.message)}{until}"
            yield f"{clean(summary.slug)}: {lack}", "yellow"
        for alert in summary.alerts:
            style = "red" if alert.severity == "critical" else "yellow"
            command = f"herorun status {clean(summary.slug)}"
            more = f" (`{command}`)" if alert.severity == "critical" else ""
            text = (
                f"{clean(summary.slug)}: {alert.state} {alert.severity} {alert.check}: "
                f"{clean(alert.message)}{more}"
            )
            yield as_typed(text), style if alert.state == "firing" else "dim"


def _slow(summary: RunSummary) -> bool:
    return summary.pace is not None and summary.pace.ratio is not None and summary.pace.ratio < 0.8
