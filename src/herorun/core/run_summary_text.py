"""One run's summary in words, cell by cell: the same in a terminal's table and on a page. Pure."""

import re
from datetime import datetime, timedelta

from herorun.core.durations import format_age
from herorun.core.run_summary import WIDTH, RunSummary, shrunk

BAR = 12  # cells


def format_state(summary: RunSummary) -> str:
    if summary.error:
        return "cannot be read"
    if summary.stage != "launched":
        return summary.stage
    return (
        summary.run if summary.monitor == "fresh" else f"{summary.run}, monitor {summary.monitor}"
    )


def format_last_tick(summary: RunSummary, at: datetime, short: bool = False) -> str:
    """How old everything but the state is: `4m10s ago`; short: `4m10s`."""
    if summary.seen_at is None:
        return "-"
    return f"{format_age(at - summary.seen_at)}{'' if short else ' ago'}"


def format_progress(summary: RunSummary, cells: int = BAR) -> str:
    """`█████       4600/5155 3h05m left`: bar, steps and the time that is left at this pace."""
    if summary.step is None and summary.final_step is None:
        return "-"
    steps = f"{'?' if summary.step is None else summary.step}/{summary.final_step or '?'}"
    bar = "" if summary.done_share is None else f"{'█' * int(summary.done_share * cells):<{cells}} "
    time_left = f" {format_age(summary.time_left)} left" if summary.time_left else ""
    return f"{bar}{steps}{time_left}"


def format_loss(summary: RunSummary, cells: int = WIDTH) -> str:
    value = "" if summary.loss is None else f"{summary.loss:.4g}"
    return " ".join(part for part in (shrunk(summary.curve, cells), value) if part)


def format_pace(summary: RunSummary, short: bool = False, usual: str = "") -> str:
    """The speed now, and in percent of the usual one: `48.2k tokens/s 99%`; short: `48.2k 99%`.
    `usual` is appended to the percentage.
    """
    pace = summary.pace
    if pace is None:
        return "-"
    ratio_text = f"{',' if usual else ''} {pace.ratio:.0%}{usual}" if pace.ratio is not None else ""
    unit = pace.name if pace.name == "s/step" else "" if short else unit_of(pace.name)
    return f"{_format_float(pace.now)}{' ' if unit else ''}{unit}{ratio_text}"


def unit_of(metric: str) -> str:
    """The unit that a metric's name states.

    >>> unit_of("throughput/tokens_per_second"), unit_of("tps")
    ('tokens/s', 'tps')
    """
    return re.sub("_per_s(ec|econd)?$", "/s", metric.rpartition("/")[2])


def format_checkpoint(summary: RunSummary, short: bool = False) -> str:
    """`step 4500, 12m ago`; short: its age."""
    if summary.checkpoint_step is None:
        return "-"
    if summary.checkpoint_age is None:
        return f"step {summary.checkpoint_step}"
    age = f"{format_age(summary.checkpoint_age)} ago"
    return age if short else f"step {summary.checkpoint_step}, {age}"


def format_tick(summary: RunSummary, at: datetime) -> str:
    if summary.next_tick is None:
        return "-"
    due = summary.next_tick - at
    return f"in {format_age(due)}" if due > timedelta(0) else f"{format_age(-due)} late"


def _format_float(value: float) -> str:
    value = float(f"{value:.3g}")  # 999.9 is 1k
    for limit, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= limit:
            return f"{value / limit:.3g}{unit}"
    return f"{value:.3g}"
