"""How long a job has run, by the uptime of this machine, which does not change when a clock is
set.
"""

import contextlib
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from herorun.core.canonical_json import canonical, timestamp
from herorun.core.clock_skew import SKEW
from herorun.core.evidence import History, Job, JobState, Nothing, Now
from herorun.core.health.liveness import rows_since
from herorun.core.untrusted_json import parse_utc, read_json
from herorun.system.files import write_atomic

SEEN_FILE = "job-seen.json"  # this clone's first query of the current job in its present state


def began_by_uptime(job: Job, history: History, state: Path, now: Now) -> datetime | None:
    """When a running job began, by a clock that shows `now`; None if its time stamp agrees, or
    nothing else is known.

    Only the first query that shows it running uses the clocks. Some schedulers compute the start at
    each query from the running time.
    """
    if now.uptime is None or not job.state.live:
        return None
    is_running = job.state is JobState.RUNNING
    key = {"instance": job.instance, "boot": now.boot, "runs": is_running}
    start = timestamp(job.started) if is_running and job.started else ""
    note = _read(state)
    is_same = {name: note.get(name) for name in key} == key and _is_one(note["started"], start)
    if not is_running or not is_same:
        age = _age_at_first(job, history, now, note) if is_running else timedelta()
        note = {**key, "started": start, "uptime": now.uptime, "age": age.total_seconds()}
        _write(state, note)
    began_at = now.at - timedelta(seconds=note["age"] + now.uptime - note["uptime"])
    is_off = job.started is not None and abs(began_at - job.started) > SKEW
    return began_at if is_running and is_off else None


def _is_one(one: str, other: str) -> bool:
    """Whether two time stamps may be of the same start; "" is an unknown one."""
    earlier, later = parse_utc(one), parse_utc(other)
    if earlier is None or later is None:
        return earlier is later
    return abs(later - earlier) <= SKEW


def _age_at_first(job: Job, history: History, now: Now, note: dict[str, Any]) -> timedelta:
    """The age by the clocks, at most the time since the job was known to wait or to run from
    another start.
    """
    since, _ = rows_since(job, Nothing(), history, now.at)
    age = max(now.at - since, timedelta()) if since else timedelta()
    if now.uptime is None or (note.get("instance"), note.get("boot")) != (job.instance, now.boot):
        return age
    return min(age, timedelta(seconds=now.uptime - note["uptime"]))


def _read(state: Path) -> dict[str, Any]:
    """The note; empty if it cannot be read."""
    try:
        note = read_json((state / SEEN_FILE).read_bytes())
        numbers = {name: float(note[name]) for name in ("uptime", "age")}
        return {**note, **numbers, "started": str(note["started"])}
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def _write(state: Path, note: dict[str, Any]) -> None:
    # on a full disk each query counts as the first
    with contextlib.suppress(OSError):
        if state.is_dir():
            write_atomic(
                state / SEEN_FILE, (canonical(note) + "\n").encode(), spare=True, sync=False
            )
