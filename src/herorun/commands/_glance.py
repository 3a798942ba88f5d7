"""Runs as a table for people, the worst first: what `watch` draws again and again, and `status --all` once."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from herorun.core.glance import Glance
from herorun.screen import clean

COLOURS = {"down": "bold red", "degraded": "yellow", "unknown": "yellow", "healthy": "green"}
BAR = 12  # cells
WHOLE = ("run", "state", "progress")  # what is never cut: the others give way


def table_of(glances: Sequence[Glance], at: datetime, width: int = 120) -> Any:
    """A rich table; columns that matter less go where the terminal is narrow."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="dim", expand=False)
    columns = ("run", "state", "progress", "loss", "speed", "checkpoint", "next tick")
    shown = columns if width >= 110 else columns[:5] if width >= 76 else columns[:3]
    rows = []
    for glance in glances:
        cells = {
            "run": Text(clean(glance.slug)),
            "state": Text(state_words(glance), COLOURS.get(glance.run, "") if not glance.error else "red"),
            "progress": Text(progress_words(glance)),
            "loss": Text(loss_words(glance)),
            "speed": Text(pace_words(glance), "yellow" if _slow(glance) else ""),
            "checkpoint": Text(checkpoint_words(glance)),
            "next tick": Text(tick_words(glance, at)),
        }
        rows.append([cells[name] for name in shown])
    for name, column in zip(shown, zip(*rows, strict=True) if rows else [()] * len(shown), strict=True):
        whole = max((cell.cell_len for cell in column), default=0) if name in WHOLE else None
        table.add_column(name, no_wrap=True, overflow="ellipsis", min_width=whole)
    for row in rows:
        table.add_row(*row)
    return table


def alert_lines(glances: Sequence[Glance]) -> list[Any]:
    """What is open, and what could not be read, one line each."""
    from rich.text import Text

    lines = []
    for glance in glances:
        if glance.error:
            lines.append(Text(f"{clean(glance.slug)}: {clean(glance.error)}", "red"))
        for alert in glance.alerts:
            style = "red" if alert.severity == "critical" else "yellow"
            words = (
                f"{clean(glance.slug)}: {alert.state} {alert.severity} {alert.check}: {clean(alert.message)}"
            )
            lines.append(Text(words, style if alert.state == "firing" else "dim"))
    return lines


def state_words(glance: Glance) -> str:
    if glance.error:
        return "cannot be read"
    if glance.stage != "launched":
        return glance.stage
    return glance.run if glance.monitor == "fresh" else f"{glance.run}, monitor {glance.monitor}"


def progress_words(glance: Glance) -> str:
    """`█████       4600/5155 3h05m`: bar, steps and the time that is left at this pace."""
    if glance.step is None and glance.final_step is None:
        return "-"
    steps = f"{'?' if glance.step is None else glance.step}/{glance.final_step or '?'}"
    bar = "" if glance.done is None else f"{'█' * int(glance.done * BAR):<{BAR}} "
    left = f" {span(glance.left)} left" if glance.left else ""
    return f"{bar}{steps}{left}"


def loss_words(glance: Glance) -> str:
    return " ".join(
        part for part in (glance.curve, "" if glance.loss is None else f"{glance.loss:.4g}") if part
    )


def pace_words(glance: Glance) -> str:
    """The speed now, and beside what is usual: `48.2k tokens_per_s 99%`."""
    pace = glance.pace
    if pace is None:
        return "-"
    beside = f" {pace.ratio:.0%}" if pace.ratio is not None else ""
    return (
        f"{_short(pace.now)} {pace.name.rpartition('/')[2] if pace.name != 's/step' else pace.name}{beside}"
    )


def _slow(glance: Glance) -> bool:
    return glance.pace is not None and glance.pace.ratio is not None and glance.pace.ratio < 0.8


def checkpoint_words(glance: Glance) -> str:
    if glance.checkpoint_step is None:
        return "-"
    if glance.checkpoint_age is None:
        return f"step {glance.checkpoint_step}"
    return f"step {glance.checkpoint_step}, {span(timedelta(seconds=glance.checkpoint_age))} ago"


def tick_words(glance: Glance, at: datetime) -> str:
    if glance.next_tick is None:
        return "-"
    due = glance.next_tick - at
    return f"in {span(due)}" if due > timedelta(0) else f"{span(-due)} late"


def span(told: timedelta | None) -> str:
    """A length of time, short.

    >>> span(timedelta(hours=27, minutes=5)), span(timedelta(seconds=42.4))
    ('1d03h', '42s')
    """
    seconds = int(told.total_seconds()) if told else 0
    if seconds < 60:
        return f"{seconds}s"
    if seconds < 3600:
        return f"{seconds // 60}m{seconds % 60:02d}s"
    if seconds < 86400:
        return f"{seconds // 3600}h{seconds % 3600 // 60:02d}m"
    return f"{seconds // 86400}d{seconds % 86400 // 3600:02d}h"


def _short(value: float) -> str:
    for limit, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= limit:
            return f"{value / limit:.3g}{unit}"
    return f"{value:.3g}"
