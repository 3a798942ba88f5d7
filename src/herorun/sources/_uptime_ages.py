"""Ages that no setting of a clock changes: by the uptime of this machine, from look to look."""

import contextlib
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from herorun.core.canonical_json import canonical, timestamp
from herorun.core.clock_skew import SKEW
from herorun.core.detectors.state import MetricsState
from herorun.core.evidence import History, Job, JobState, Nothing, Now
from herorun.core.health.liveness import rows_since
from herorun.core.lazy_dataclass import dataclass
from herorun.core.untrusted_json import read_json
from herorun.system.files import write_atomic

SEEN = "job-seen.json"  # since when the looks of this clone see the current job as it is
BEHIND = timedelta(minutes=30)  # what rows may be late by; of more, their clock is off
SLEWED = timedelta(seconds=1)  # what keeping time changes between two looks: no clock was set


def began_by_uptime(job: Job, history: History, state: Path, now: Now) -> datetime | None:
    """When a running job began, by a clock that shows `now`; None where its time stamp says the
    same, or nothing else is known.

    The first look that sees it run goes by the clocks, and no look after that.
    """
    if now.uptime is None or not job.state.live:
        return None
    runs = job.state is JobState.RUNNING
    key = {
        "instance": job.instance,
        "boot": now.boot,
        "started": timestamp(job.started) if runs and job.started else "",
        "runs": runs,
    }
    note = _read(state)
    if not runs or {name: note.get(name) for name in key} != key:
        age = _age_at_first(job, history, now, note) if runs else timedelta()
        note = {**key, "uptime": now.uptime, "age": age.total_seconds()}
        _write(state, note)
    began_at = now.at - timedelta(seconds=note["age"] + now.uptime - note["uptime"])
    is_off = job.started is not None and abs(began_at - job.started) > SKEW
    return began_at if runs and is_off else None


def _age_at_first(job: Job, history: History, now: Now, note: dict[str, Any]) -> timedelta:
    """By the clocks, and no longer than since a look saw it wait, or run from another start."""
    since, _ = rows_since(job, Nothing(), history, now.at)
    age = max(now.at - since, timedelta()) if since else timedelta()
    if now.uptime is None or (note.get("instance"), note.get("boot")) != (job.instance, now.boot):
        return age
    return min(age, timedelta(seconds=now.uptime - note["uptime"]))


def _read(state: Path) -> dict[str, Any]:
    """Empty where none can be read."""
    try:
        note = read_json((state / SEEN).read_bytes())
        return {**note, "uptime": float(note["uptime"]), "age": float(note["age"])}
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def _write(state: Path, note: dict[str, Any]) -> None:
    # a full disk: each look is the first
    with contextlib.suppress(OSError):
        if state.is_dir():
            write_atomic(state / SEEN, (canonical(note) + "\n").encode(), spare=True)


@dataclass(frozen=True)
class NewRows:
    """What a look has read: the newest time in its rows, and when their file changed."""

    newest: datetime | None = None
    changed_at: datetime | None = None
    restarted: bool = False  # from the tracker's first row on, for it was cut or replaced


@dataclass(frozen=True)
class LastLook:
    """When the tracker was read last, and when its step had risen by then."""

    at: datetime | None
    boot: str
    uptime: float | None
    advanced_at: datetime | None

    def leap(self, now: Now) -> tuple[datetime | None, timedelta]:
        """When it was, by a clock that shows `now`, and how far that clock was set since. None
        where nothing tells.
        """
        if self.at is None:
            return None, timedelta()
        if now.uptime is None or self.uptime is None or self.boot != now.boot:
            return (self.at if self.at <= now.at else None), timedelta()
        before = now.at - timedelta(seconds=now.uptime - self.uptime)
        leap = before - self.at
        return (before, leap) if abs(leap) > SLEWED else (self.at, timedelta())


def last_look(state: MetricsState) -> LastLook:
    return LastLook(state.polled_at, state.polled_boot, state.polled_uptime, state.advanced_at)


def date_rows(state: MetricsState, last: LastLook, now: Now, rows: NewRows) -> None:
    """Set in `state` when its step last rose, by a clock that shows `now`.

    Rows that came since the last look were written since, however far their own clock is off.
    Without new rows their age has grown by the uptime, however our clock was set. A row that is
    dated in the future is as old as the look that finds it, and in a first look it has no age.
    """
    before, leap = last.leap(now)
    state.polled_at, state.polled_boot, state.polled_uptime = now.at, now.boot, now.uptime
    state.clock_set = state.clock_set or bool(leap)
    at = state.advanced_at
    if at is None:
        return
    if rows.restarted:
        # rows that a cut took away were seen all the same: the run did not stall for their time
        at = max(at, last.advanced_at + leap) if last.advanced_at else at
    elif rows.newest is None and at == last.advanced_at:
        at += leap
    elif before and leap:
        stamp = at if at != last.advanced_at else rows.newest or at
        stamp += timedelta() if before <= stamp <= now.at else leap
        at = max(stamp, before)
    elif rows.newest is not None:
        delay = before - rows.newest if before else timedelta()
        state.behind = delay.total_seconds() if delay > BEHIND else 0.0
        if before and delay > (SKEW if state.clock_set else BEHIND):
            at = max(at, before, min(rows.changed_at or now.at, now.at))
    if last.at is None and at > now.at + SKEW:
        state.undated = True
    state.advanced_at = min(at, now.at)
