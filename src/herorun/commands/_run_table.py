"""The table of runs, worst first: `watch` redraws it, `status --all` prints it once."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from herorun.core.durations import say_span
from herorun.core.lazy_dataclass import dataclass
from herorun.core.run_summary import WIDTH, RunSummary, shrunk
from herorun.output import clean

COLOURS = {
    "down": "bold red",
    "degraded": "yellow",
    "unknown": "yellow",
    "starting": "yellow",
    "healthy": "green",
}
COLUMNS = ("run", "state", "seen", "progress", "loss", "speed", "checkpoint", "next tick")
FEWEST = 2  # columns that stay on any terminal
GAP = 2  # cells between two columns
BAR = 12  # cells


@dataclass(frozen=True)
class Size:
    """How much room a row may take: cells of the curve and of the bar, and whether units are left out."""

    curve: int
    bar: int
    short: bool


SIZES = (Size(WIDTH, BAR, False), Size(12, 6, True), Size(8, 4, True))


def table_of(glances: Sequence[RunSummary], at: datetime, width: int = 120) -> Any:
    """A rich table. On a narrow terminal curves and bars shrink first, then the last columns go; no number is cut."""
    from rich.table import Table

    rows, shown = _fitting(glances, at, width)
    table = Table(box=None, pad_edge=False, header_style="dim", expand=False)
    for name in COLUMNS[:shown]:
        table.add_column(name, no_wrap=True, overflow="ellipsis")
    for row in rows:
        table.add_row(*row[:shown])
    return table


def _fitting(
    glances: Sequence[RunSummary], at: datetime, width: int
) -> tuple[list[list[Any]], int]:
    """The rows in the largest size with the most columns that fit."""
    sized = [[_cells(glance, at, size) for glance in glances] for size in SIZES]
    for shown in range(len(COLUMNS), FEWEST - 1, -1):
        for rows in sized:
            if sum(widths := _widths(rows)[:shown]) + GAP * (len(widths) - 1) <= width:
                return rows, shown
    for row in sized[-1]:  # not even these: the names give way
        row[0].truncate(max(8, width - GAP - _widths(sized[-1])[1]), overflow="ellipsis")
    return sized[-1], FEWEST


def _widths(rows: Sequence[Sequence[Any]]) -> list[int]:
    return [
        max([len(name), *(row[at].cell_len for row in rows)]) for at, name in enumerate(COLUMNS)
    ]


def _cells(glance: RunSummary, at: datetime, size: Size) -> list[Any]:
    """As `COLUMNS` names them."""
    from rich.text import Text

    return [
        Text(clean(glance.slug)),
        Text(state_words(glance), COLOURS.get(glance.run, "") if not glance.error else "red"),
        Text(seen_words(glance, at, size.short)),
        Text(progress_words(glance, size.bar)),
        Text(loss_words(glance, size.curve)),
        Text(pace_words(glance, size.short), "yellow" if _slow(glance) else ""),
        Text(checkpoint_words(glance, size.short)),
        Text(tick_words(glance, at)),
    ]


def glance_rows(glance: RunSummary, at: datetime) -> list[tuple[str, str]]:
    """One run by the names of the columns, for a look at it alone; what nobody saw is left out."""
    left = f"{say_span(glance.left)} at this pace" if glance.left else ""
    told = (
        ("left", left),
        ("loss", loss_words(glance)),
        ("speed", pace_words(glance)),
        ("checkpoint", checkpoint_words(glance)),
        ("next tick", tick_words(glance, at)),
    )
    return [(name, words) for name, words in told if words not in ("", "-")]


def alert_lines(glances: Sequence[RunSummary]) -> list[Any]:
    """What is open, what is awaited, and what could not be read, one line each."""
    from rich.text import Text

    lines = []
    for glance in glances:
        if glance.error:
            lines.append(Text(f"{clean(glance.slug)}: {clean(glance.error)}", "red"))
        for missing in glance.awaited:
            until = f"; until {missing.until:%Y-%m-%d %H:%M} UTC" if missing.until else ""
            lines.append(
                Text(f"{clean(glance.slug)}: awaited {clean(missing.message)}{until}", "yellow")
            )
        for alert in glance.alerts:
            style = "red" if alert.severity == "critical" else "yellow"
            words = (
                f"{clean(glance.slug)}: {alert.state} {alert.severity} {alert.check}: "
                f"{clean(alert.message)}"
            )
            lines.append(Text(words, style if alert.state == "firing" else "dim"))
    return lines


def state_words(glance: RunSummary) -> str:
    if glance.error:
        return "cannot be read"
    if glance.stage != "launched":
        return glance.stage
    return glance.run if glance.monitor == "fresh" else f"{glance.run}, monitor {glance.monitor}"


def seen_words(glance: RunSummary, at: datetime, short: bool = False) -> str:
    """How old everything but the state is: `4m10s ago`; short: `4m10s`."""
    if glance.seen is None:
        return "-"
    return f"{say_span(at - glance.seen)}{'' if short else ' ago'}"


def progress_words(glance: RunSummary, cells: int = BAR) -> str:
    """`█████       4600/5155 3h05m left`: bar, steps and the time that is left at this pace."""
    if glance.step is None and glance.final_step is None:
        return "-"
    steps = f"{'?' if glance.step is None else glance.step}/{glance.final_step or '?'}"
    bar = "" if glance.done is None else f"{'█' * int(glance.done * cells):<{cells}} "
    left = f" {say_span(glance.left)} left" if glance.left else ""
    return f"{bar}{steps}{left}"


def loss_words(glance: RunSummary, cells: int = WIDTH) -> str:
    value = "" if glance.loss is None else f"{glance.loss:.4g}"
    return " ".join(part for part in (shrunk(glance.curve, cells), value) if part)


def pace_words(glance: RunSummary, short: bool = False) -> str:
    """The speed now, and beside what is usual: `48.2k tokens_per_s 99%`; short: `48.2k 99%`."""
    pace = glance.pace
    if pace is None:
        return "-"
    beside = f" {pace.ratio:.0%}" if pace.ratio is not None else ""
    unit = pace.name if pace.name == "s/step" else "" if short else pace.name.rpartition("/")[2]
    return f"{_format_float(pace.now)}{' ' if unit else ''}{unit}{beside}"


def _slow(glance: RunSummary) -> bool:
    return glance.pace is not None and glance.pace.ratio is not None and glance.pace.ratio < 0.8


def checkpoint_words(glance: RunSummary, short: bool = False) -> str:
    """`step 4500, 12m ago`; short: its age."""
    if glance.checkpoint_step is None:
        return "-"
    if glance.checkpoint_age is None:
        return f"step {glance.checkpoint_step}"
    age = f"{say_span(glance.checkpoint_age)} ago"
    return age if short else f"step {glance.checkpoint_step}, {age}"


def tick_words(glance: RunSummary, at: datetime) -> str:
    if glance.next_tick is None:
        return "-"
    due = glance.next_tick - at
    return f"in {say_span(due)}" if due > timedelta(0) else f"{say_span(-due)} late"


def _format_float(value: float) -> str:
    for limit, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= limit:
            return f"{value / limit:.3g}{unit}"
    return f"{value:.3g}"
