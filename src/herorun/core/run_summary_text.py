"""One run's summary in words, cell by cell: the same in a terminal's table and on a page. Pure."""

from datetime import datetime, timedelta

from herorun.core.durations import say_span
from herorun.core.run_summary import WIDTH, RunSummary, shrunk

BAR = 12  # cells


def say_state(glance: RunSummary) -> str:
    if glance.error:
        return "cannot be read"
    if glance.stage != "launched":
        return glance.stage
    return glance.run if glance.monitor == "fresh" else f"{glance.run}, monitor {glance.monitor}"


def say_last_tick(glance: RunSummary, at: datetime, short: bool = False) -> str:
    """How old everything but the state is: `4m10s ago`; short: `4m10s`."""
    if glance.seen_at is None:
        return "-"
    return f"{say_span(at - glance.seen_at)}{'' if short else ' ago'}"


def say_progress(glance: RunSummary, cells: int = BAR) -> str:
    """`█████       4600/5155 3h05m left`: bar, steps and the time that is left at this pace."""
    if glance.step is None and glance.final_step is None:
        return "-"
    steps = f"{'?' if glance.step is None else glance.step}/{glance.final_step or '?'}"
    bar = "" if glance.done is None else f"{'█' * int(glance.done * cells):<{cells}} "
    time_left = f" {say_span(glance.left)} left" if glance.left else ""
    return f"{bar}{steps}{time_left}"


def say_loss(glance: RunSummary, cells: int = WIDTH) -> str:
    value = "" if glance.loss is None else f"{glance.loss:.4g}"
    return " ".join(part for part in (shrunk(glance.curve, cells), value) if part)


def say_pace(glance: RunSummary, short: bool = False, usual: str = "") -> str:
    """The speed now, and in percent of the usual one: `48.2k tokens_per_s 99%`; short: `48.2k 99%`.
    `usual` is appended to the percentage.
    """
    pace = glance.pace
    if pace is None:
        return "-"
    beside = f" {pace.ratio:.0%}{usual}" if pace.ratio is not None else ""
    unit = pace.name if pace.name == "s/step" else "" if short else pace.name.rpartition("/")[2]
    return f"{_format_float(pace.now)}{' ' if unit else ''}{unit}{beside}"


def say_checkpoint(glance: RunSummary, short: bool = False) -> str:
    """`step 4500, 12m ago`; short: its age."""
    if glance.checkpoint_step is None:
        return "-"
    if glance.checkpoint_age is None:
        return f"step {glance.checkpoint_step}"
    age = f"{say_span(glance.checkpoint_age)} ago"
    return age if short else f"step {glance.checkpoint_step}, {age}"


def say_tick(glance: RunSummary, at: datetime) -> str:
    if glance.next_tick is None:
        return "-"
    due = glance.next_tick - at
    return f"in {say_span(due)}" if due > timedelta(0) else f"{say_span(-due)} late"


def _format_float(value: float) -> str:
    for limit, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= limit:
            return f"{value / limit:.3g}{unit}"
    return f"{value:.3g}"
