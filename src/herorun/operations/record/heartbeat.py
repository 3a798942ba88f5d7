"""The heartbeat of a run's babysitter on this machine, and the bell that wakes it."""

import contextlib
import os
import shlex
import time
from collections.abc import Hashable, Mapping
from datetime import datetime, timedelta
from functools import lru_cache
from pathlib import Path
from typing import Any

from herorun.core.canonical_json import canonical, timestamp
from herorun.core.proposed_commands import in_tmux
from herorun.core.untrusted_json import read_json
from herorun.runs import MonitoredRun
from herorun.system import host
from herorun.system.clock import now, uptime
from herorun.system.files import is_locked, write_atomic

_FILE = "heartbeat.json"
_SAME_TIME = 2 * 10**9  # nanoseconds within which two versions may have one time


def last_heartbeat(run: MonitoredRun) -> datetime | None:
    """When a babysitter of this machine last wrote that it is alive; None if never. Its age goes
    by our uptime: setting the clock makes no babysitter look dead.
    """
    document, clock = _document(run), uptime()
    with contextlib.suppress(TypeError, KeyError):
        if clock and (written_at := clock.written_at(document, now())):
            return written_at
    return _heart(run, "at")


def _heart(run: MonitoredRun, name: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(_document(run)[name])
    except (ValueError, KeyError, TypeError):
        return None
    return moment if moment.tzinfo else None


def _document(run: MonitoredRun) -> Mapping[str, Any]:
    """Empty where none can be read."""
    path = f"{run.state}/{_FILE}"
    try:
        file = os.stat(path)
        is_new = abs(time.time_ns() - file.st_mtime_ns) < _SAME_TIME
        version = file.st_ino, file.st_size, file.st_mtime_ns
        return _read_document(path) if is_new else _known_document(path, version)
    except (OSError, ValueError):
        return {}


@lru_cache(maxsize=1)
def _known_document(path: str, version: Hashable) -> Mapping[str, Any]:
    """The content of one version of the file: a status asks for it a dozen times."""
    return _read_document(path)


def _read_document(path: str) -> Mapping[str, Any]:
    with open(path, "rb") as file:
        document = read_json(file.read())
    return document if isinstance(document, dict) else {}


def babysitter_pid(run: MonitoredRun) -> int | None:
    """The process that wrote the heartbeat; None if unknown."""
    pid = _document(run).get("pid")
    return pid if isinstance(pid, int) else None


def who_watches(run: MonitoredRun) -> str:
    """Its process, its machine and its last look, in brackets; empty if unknown."""
    pid, owner, polled_at = babysitter_pid(run), _document(run).get("owner"), last_heartbeat(run)
    if pid is None or polled_at is None:
        return ""
    return f" (process {pid} of {owner}, last tick {polled_at:%Y-%m-%d %H:%M:%S} UTC)"


def beat(run: MonitoredRun, due: datetime | None = None, pid: int | None = None) -> None:
    """Say that a babysitter is alive, and when its loop looks next."""
    heart: dict[str, Any] = {
        "at": timestamp(now()),
        "pid": pid or os.getpid(),
        "owner": host.owner(),
    }
    if clock := uptime():
        heart |= clock.note
    if due is not None:
        heart["next"] = timestamp(due)
    # an older heartbeat, after a loss of power, says too that the loop was to look again
    write_atomic(run.state / _FILE, (canonical(heart) + "\n").encode(), sync_name=due is None)


def ring(run: MonitoredRun) -> None:
    """Wake the loop of this machine: a person has ordered something."""
    run.prepare()
    write_atomic(bell_file(run), b"")


def bell_file(run: MonitoredRun) -> Path:
    return run.state / "ordered"


def next_due(run: MonitoredRun) -> datetime | None:
    """When the loop of this machine meant to look next; None where none was under way."""
    return _heart(run, "next")


def stale_after(run: MonitoredRun) -> timedelta:
    """The age of a heartbeat, or of a recorded tick, that shows that nobody monitors the run."""
    return 2 * run.contract.babysit.cadence + timedelta(minutes=1)


def is_hung(run: MonitoredRun) -> bool:
    """Whether the babysitter of this clone still has its process, and wrote no heartbeat for too
    long.
    """
    if not is_locked(run.lock("babysitter")):
        return False
    last_beat = last_heartbeat(run)
    return last_beat is not None and now() - last_beat > stale_after(run)


def describe_hung(run: MonitoredRun) -> str:
    """What to do about it. A loop heeds SIGTERM only between two ticks; on a full disk it ticks and
    writes no heartbeat.
    """
    pid = babysitter_pid(run)
    kill = f" (`kill -9 {pid}`, if `ps -o args= -p {pid}` shows a babysitter)" if pid else ""
    return (
        f"its babysitter{who_watches(run)} has written no heartbeat since. On its machine, first "
        "test the folder: "
        f"`echo x > {shlex.quote(f'{run.state}/probe')}`. If that fails (disk full, quota, "
        "read-only), repair that and leave the process alone: it may still monitor. If it works, "
        f"the process probably hangs: end it{kill}, then start one "
        f"{in_tmux(f'`herorun babysit {run.slug}`')}"
    )


def last_tick_elsewhere(run: MonitoredRun) -> datetime | None:
    """The newest recorded tick, if another clone made it: this clone's own follow its heartbeat
    closely. None if a babysitter runs here.
    """
    ticked_at, last_beat = run.record.memory().last_seen, last_heartbeat(run)
    if ticked_at is None or is_locked(run.lock("babysitter")):
        return None
    if ticked_at - now() > stale_after(run):
        return None  # dated by a clock that was ahead: this clone's own may be
    if last_beat is not None and ticked_at - last_beat <= stale_after(run):
        return None
    return ticked_at


def is_lost(run: MonitoredRun) -> bool:
    """Whether the loop of this machine was to look again, and its process is gone: killed, say, or
    ended by a restart.
    """
    return next_due(run) is not None and not is_locked(run.lock("babysitter"))
