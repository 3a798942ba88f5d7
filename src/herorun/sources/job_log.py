"""The current instance's own log: when it last changed, which tracker runs it names, where it saves, signs of a wedge."""

import re
from datetime import UTC, datetime
from pathlib import Path

from herorun.core.evidence import History, JobLog, Nothing
from herorun.core.health.wedge import signal_in
from herorun.core.ports import Scheduler
from herorun.core.scrub import scrub

LINES = 2000
KEPT = 5  # lines of a wedge, and paths
_SAVE = re.compile(
    r"(?:sav(?:ing|ed) (?:\w+ )?checkpoint|PHASE: CHECKPOINT)\b.{0,120}?(?:\bto |path=)['\"]?((?:[a-z0-9]+:/)?/[^\s'\"]+)",
    re.IGNORECASE,
)
_RUN = re.compile(r"wandb: .*View run .*?https?://[^/\s]+/([^/\s]+/[^/\s]+)/runs/([^/\s?]+)")


def read_job_log(scheduler: Scheduler, history: History) -> JobLog | Nothing:
    """Its end, and its time where the scheduler can tell."""
    current = history.current
    if current is None:
        return Nothing("no instance was launched yet")
    try:
        lines = scheduler.tail(current.name, LINES).splitlines()
    except FileNotFoundError:
        return Nothing(f"{current.name} has no log yet")
    runs = dict.fromkeys("/".join(found.groups()) for line in lines if (found := _RUN.search(line)))
    saves = dict.fromkeys(found[1].rstrip("/.,;)") for line in lines if (found := _SAVE.search(line)))
    wedges = [scrub(line.strip())[:300] for line in lines if signal_in(line)]
    return JobLog(
        _changed_at(scheduler, current.name),
        tuple(runs),
        saves=tuple(list(saves)[-KEPT:]),
        wedges=tuple(wedges[-KEPT:]),
    )


def _changed_at(scheduler: Scheduler, instance: str) -> datetime | None:
    """Of a log on this machine, which its scheduler names, or by a scheduler that looks where the log lies."""
    tell = getattr(scheduler, "log_changed_at", None)
    if tell is not None:
        changed: datetime | None = tell(instance)
        return changed
    where = getattr(scheduler, "log", None)
    if where is None:
        return None
    try:
        return datetime.fromtimestamp(Path(where(instance)).stat().st_mtime, UTC)
    except FileNotFoundError:
        return None
