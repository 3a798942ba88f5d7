"""The folder of one local instance: its files, and what they show about the job.

`judge_instance` evaluates, and is pure. `snapshot` reads the lock before the records: the exit
record is written before the lock is freed.
"""

import os
import signal
import time
from datetime import datetime
from pathlib import Path
from typing import TypeVar

from herorun.core.decode import decode
from herorun.core.errors import CouldNotLook
from herorun.core.evidence import Job, JobState
from herorun.core.lazy_dataclass import dataclass
from herorun.core.untrusted_json import read_json
from herorun.schedulers._processes import (
    Process,
    env_markers,
    processes_of,
    start_time,
    terminate_all,
)
from herorun.system._regular_file import open_regular
from herorun.system.files import is_locked, read_regular

# signals that people send; crashes and the kernel send others
BY_HAND = ("SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT")
NO_RECORD = "ended without an exit record"
NEVER_RAN = "its supervisor died before the start"
BLOCK, MAX_LOG = 2**16, 2**20  # bytes of a log that are read at once, and in all
MAX_RECORD_BYTES = 64 << 20  # bytes of a record of the job
_STORED_NAMES = {"birth": "start_time"}  # as every version writes and reads them
T = TypeVar("T")


@dataclass(frozen=True)
class Request:
    host: str
    instance: str = ""
    admission: str = ""


@dataclass(frozen=True)
class StartedProcess:
    pid: int  # of the job, which leads its own process group
    start_time: str
    at: datetime

    @property
    def lives(self) -> bool:
        """Whether exactly that process still runs; False also if the system does not report it."""
        return bool(self.start_time) and start_time(self.pid) == self.start_time


@dataclass(frozen=True)
class StopRequest:
    by: str
    at: datetime


@dataclass(frozen=True)
class InstanceExit:
    ended: datetime
    exit_code: int | None = None
    signal: str | None = None
    stopped_by: str | None = None
    reason: str = ""
    oom_kills: int = 0  # processes of its memory cgroup that the kernel has killed meanwhile


@dataclass(frozen=True)
class StuckRecord:
    reason: str


@dataclass(frozen=True, kw_only=True)
class InstanceSnapshot:
    """What one query showed of an instance."""

    alive: bool  # the supervisor, the job, or something that the job started
    watched: bool  # the supervisor
    started: StartedProcess | None = None
    stop: StopRequest | None = None
    end: InstanceExit | None = None
    host: str | None = None  # where it was started
    stuck: str = ""  # why it still counts as running although its main process has ended


@dataclass(frozen=True)
class Folder:
    """The files of one instance."""

    jobs: Path
    name: str

    @property
    def path(self) -> Path:
        return self.jobs / self.name

    @property
    def lock(self) -> Path:
        return self.jobs / f"{self.name}.lock"

    @property
    def log(self) -> Path:
        return self.path / "job.log"

    def job(self) -> Job | None:
        """The job; None if there is none. `CouldNotLook` or OSError if it cannot be read."""
        starting = is_locked(self.lock)
        if not _path_exists(self.path):
            return (
                Job(id=self.name, instance=self.name, state=JobState.PENDING, raw="starting")
                if starting
                else None
            )
        snapshot = self.snapshot()
        if (
            snapshot.end is None
            and not snapshot.alive
            and snapshot.host not in (None, os.uname().nodename)
        ):
            raise CouldNotLook(
                f"{self.name} was started on {snapshot.host} and has no exit record: only that "
                "machine can tell whether it still runs. Run ``herorun status`` there. If that "
                "machine is gone permanently, write "
                '{"signal": "SIGKILL", "ended": "2026-01-31T12:00:00Z"} with the right time to '
                f"{self.path}/exit.json."
            )
        return judge_instance(self.name, snapshot)

    def snapshot(self) -> InstanceSnapshot:
        has_lock, has_watcher = is_locked(self.lock), is_locked(self.path / "watched")
        start_record = self._read("started.json", StartedProcess)
        request = self._read("request.json", Request)
        stuck_record, end = (
            self._read("stuck.json", StuckRecord),
            self._read("exit.json", InstanceExit),
        )
        alive = has_lock or has_watcher or bool(start_record and start_record.lives)
        remaining = (
            set()
            if has_watcher or end or not start_record or start_record.lives
            else self.find_remaining()
        )
        stuck_reason = (
            stuck_record.reason if stuck_record and has_watcher else _describe_remaining(remaining)
        )
        return InstanceSnapshot(
            alive=alive or bool(remaining),
            watched=has_watcher,
            started=start_record,
            stop=self._read("stop.json", StopRequest),
            end=end,
            host=request.host if request else None,
            stuck=stuck_reason,
        )

    def find_remaining(self, group: int = -1) -> set[Process]:
        """The processes on this machine that name the instance and its admission, or are in the
        group.
        """
        request = self._read("request.json", Request)
        if request is None or not request.instance or request.host != os.uname().nodename:
            return set()
        return processes_of(env_markers(request.instance, request.admission), group)

    def end_remaining(self, group: int, grace: float) -> None:
        """SIGTERM to each, and SIGKILL after the grace time; CouldNotLook if some survive."""

        def stuck(remaining: set[Process]) -> None:
            pids = ", ".join(str(process.pid) for process in sorted(remaining))
            raise CouldNotLook(f"Some processes of {self.name} could not be killed: {pids}.")

        terminate_all(
            lambda: self.find_remaining(group), time.monotonic(), grace, lambda: False, stuck
        )

    def _read(self, name: str, kind: type[T]) -> T | None:
        path = self.path / name
        try:
            return decode_record(kind, read_regular(path, MAX_RECORD_BYTES))
        except FileNotFoundError:
            return None
        except ValueError as error:
            why = str(error).splitlines()[0]
            raise CouldNotLook(
                f"{path} is damaged ({why}), so the state of {self.name} is unknown. "
                f"Read {self.log}, then correct the file."
            ) from None


def decode_record(kind: type[T], data: str | bytes) -> T:
    """A ValueError for a damaged one."""
    document = read_json(data)
    if isinstance(document, dict):
        document = {_STORED_NAMES.get(key, key): value for key, value in document.items()}
    return decode(kind, document)


def judge_instance(name: str, snapshot: InstanceSnapshot) -> Job:
    """What a query shows about the job."""
    started_at = snapshot.started.at if snapshot.started else None
    if snapshot.end:
        return _ended_job(name, started_at, snapshot.end)
    if snapshot.alive and not snapshot.started:
        return Job(id=name, instance=name, state=JobState.PENDING, raw="starting")
    if snapshot.alive:
        no_supervisor = (
            "" if snapshot.watched else "its supervisor is gone: its exit will not be recorded"
        )
        reason = snapshot.stuck or no_supervisor
        return Job(
            id=name,
            instance=name,
            state=JobState.RUNNING,
            raw="running",
            reason=reason,
            started=started_at,
        )
    reason = NO_RECORD if snapshot.started else NEVER_RAN
    state = JobState.CANCELLED if snapshot.stop else JobState.FAILED
    by = snapshot.stop.by if snapshot.stop else None
    return Job(
        id=name,
        instance=name,
        state=state,
        raw="no record",
        reason=reason,
        stopped_by=by,
        started=started_at,
    )


def _ended_job(name: str, started_at: datetime | None, end: InstanceExit) -> Job:
    return Job(
        id=name,
        instance=name,
        state=_state_of_exit(end),
        raw=end.signal or f"exit {end.exit_code}",
        reason=end.reason or _out_of_memory(end),
        exit_code=end.exit_code,
        signal=end.signal,
        stopped_by=end.stopped_by,
        started=started_at,
        ended=end.ended,
    )


def _state_of_exit(end: InstanceExit) -> JobState:
    if end.stopped_by is not None or end.signal in BY_HAND:
        return JobState.CANCELLED
    if end.exit_code == 0:
        return JobState.SUCCEEDED
    is_killed = end.signal == "SIGKILL" or end.exit_code == 128 + signal.SIGKILL
    return JobState.OUT_OF_MEMORY if is_killed and end.oom_kills else JobState.FAILED


def _out_of_memory(end: InstanceExit) -> str:
    if not end.oom_kills:
        return ""
    count = f"{end.oom_kills} process{'' if end.oom_kills == 1 else 'es'}"
    return f"the kernel killed {count} of its memory cgroup for lack of memory"


def _describe_remaining(remaining: set[Process]) -> str:
    pids = ", ".join(str(process.pid) for process in sorted(remaining))
    return (
        f"its supervisor and main process are gone, but what they started still runs: {pids}"
        if pids
        else ""
    )


def _path_exists(path: Path) -> bool:
    """Whether the path exists; unlike `Path.exists`, it raises for an unreadable folder."""
    try:
        path.stat()
    except FileNotFoundError:
        return False
    return True


def last_lines(path: Path, lines: int) -> bytes:
    """The last lines of a file; at most its last MiB."""
    data = b""
    with open_regular(path) as file:
        at = file.seek(0, os.SEEK_END)
        while at > 0 and len(data) < MAX_LOG and data.count(b"\n") <= lines:
            at, before = max(at - BLOCK, 0), at
            file.seek(at)
            data = file.read(before - at) + data
    return b"".join(data.splitlines(keepends=True)[-lines:]) if lines > 0 else b""
