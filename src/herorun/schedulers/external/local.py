"""A process on this machine, or a job that herorun's own supervisor has started here.

A process that is not our child leaves no exit code: after its end only its log shows how it ended.
"""

import os
import pwd
import re
import signal
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from herorun.core.adhoc_jobs.kind import JobKind
from herorun.core.errors import CouldNotLook, WrongUse, describe_error
from herorun.core.evidence import Job, JobState
from herorun.core.lazy_pydantic import Field
from herorun.core.lazy_regex import lazy_regex
from herorun.core.ports import Absent, AdapterOptions, ById, Found, Origin, Place, Search, Unknown
from herorun.schedulers import local
from herorun.schedulers._idempotent import job_to_stop
from herorun.schedulers._instance import Folder, last_lines
from herorun.schedulers._processes import start_time
from herorun.system.clock import now
from herorun.system.files import write_atomic
from herorun.system.host import owner

JOBS = JobKind(
    id_pattern=lazy_regex(r"[1-9][0-9]{0,9}|/[^\0\n]+"),
    id_form="a process number, or the folder of a job that herorun started here",
    printed=lazy_regex(r"Job submitted: (/\S+|\d+)|^(\d+|/\S+)\s*$", re.MULTILINE),
    absent="check its process number or its folder",
)


class Options(AdapterOptions):
    log: str | None = Field(None, description="Its log file.")


def connect(options: Options, place: Place) -> ById:
    return LocalById(options, Path(place.state))


class LocalById:
    """An id is a process number, or the folder of a supervised job."""

    def __init__(self, options: Options, state: Path) -> None:
        self._log, self._state = options.log, state

    def find_job(self, job: str) -> Search:
        try:
            return self._find_supervised(job) if job.startswith("/") else self._process(int(job))
        except (OSError, CouldNotLook) as error:
            return Unknown(describe_error(error))

    def _find_supervised(self, job: str) -> Search:
        supervised_job = _folder(job).job()
        return Found(Job(**{**vars(supervised_job), "id": job})) if supervised_job else Absent()

    def _process(self, pid: int) -> Search:
        """The process. Its number may be reused, so its start time is stored at the first query."""
        start_text, start_time_file = start_time(pid), self._start_time_file(str(pid))
        stored_start = (
            start_time_file.read_text("utf-8").strip() if start_time_file.exists() else ""
        )
        if not stored_start and not start_text:
            return Absent()
        if not stored_start:
            write_atomic(start_time_file, start_text.encode())
        if start_text and stored_start in ("", start_text):
            self._keep_log(pid)
            return Found(
                Job(
                    id=str(pid),
                    instance=str(pid),
                    state=JobState.RUNNING,
                    raw="running",
                    started=_began(start_text),
                )
            )
        if (stop_file := self._stop_file(pid)).exists():
            by = stop_file.read_text("utf-8").strip()
            return Found(
                Job(
                    id=str(pid),
                    instance=str(pid),
                    state=JobState.CANCELLED,
                    raw="stopped",
                    stopped_by=by,
                    ended=now(),
                )
            )
        other = ", its number is another one's now" if start_text else ""
        why = f"the process is gone{other}, and no record says how it ended: see its log"
        return Found(
            Job(
                id=str(pid),
                instance=str(pid),
                state=JobState.GONE,
                raw="gone",
                reason=why,
                ended=now(),
            )
        )

    def live_namesakes(self, job: str) -> tuple[str, ...]:
        """For a supervised job, the other live jobs of its run; for a process, this user's
        processes with the same command line.
        """
        if job.startswith("/"):
            path = _folder(job).path
            others = local.Local(local.Options(), path.parent).live_jobs(
                path.name.rpartition("-")[0]
            )
            return tuple(str(path.parent / e.instance) for e in others if e.instance != path.name)
        argv_file = self._kept_argv(job)
        if not argv_file.exists():
            return ()
        argv = argv_file.read_bytes()
        pids = (name for name in os.listdir("/proc") if name.isdigit() and name != job)
        return tuple(pid for pid in pids if _is_mine(pid) and _argv_of(pid) == argv)

    def _kept_argv(self, pid: int | str) -> Path:
        return self._state / f"argv-of-{pid}"

    def _keep_log(self, pid: int) -> None:
        """Record the file of the process's standard output, which the system no longer shows after
        its end.
        """
        argv = self._kept_argv(pid)
        if not argv.exists() and (command_line := _argv_of(str(pid))):
            write_atomic(argv, command_line)
        log_file = self._kept_log(pid)
        if self._log or log_file.exists():
            return
        with suppress(OSError):
            out = os.readlink(f"/proc/{pid}/fd/1")
            if Path(out).is_file():
                write_atomic(log_file, os.fsencode(out))

    def _stop_file(self, pid: int) -> Path:
        """The file that records who ordered the stop."""
        return self._state / f"process-{pid}.stopped-by"

    def _kept_log(self, pid: int | str) -> Path:
        return self._state / f"process-{pid}.log-path"

    def origin(self, job: str) -> Origin:
        """The owner, command and folder of a process; the owner of a supervised job."""
        if job.startswith("/"):
            return _owned_by(os.stat(job).st_uid)
        proc = f"/proc/{int(job)}"
        try:
            is_own = _owned_by(os.stat(proc).st_uid)
            argv = Path(proc, "cmdline").read_bytes().split(b"\0")[:-1]
        except FileNotFoundError:
            return Origin()  # a system that reports nothing, or it has just ended
        folder = ""
        with suppress(OSError):  # another user's
            folder = os.readlink(f"{proc}/cwd")
        return replace(is_own, command=tuple(os.fsdecode(word) for word in argv), folder=folder)

    def reused(self, job: str) -> bool:
        """Whether the number now belongs to a later process."""
        if job.startswith("/"):
            return False
        start_text, start_time_file = start_time(int(job)), self._start_time_file(job)
        return (
            bool(start_text)
            and start_time_file.exists()
            and start_time_file.read_text("utf-8").strip() not in ("", start_text)
        )

    def _start_time_file(self, job: str) -> Path:
        return self._state / f"process-{job}"

    def tail(self, job: str, lines: int) -> str:
        return last_lines(self._path(job), lines).decode("utf-8", "replace")

    def log_age(self, job: str) -> timedelta:
        return now() - datetime.fromtimestamp(self._path(job).stat().st_mtime, UTC)

    def _path(self, job: str) -> Path:
        if self._log:
            return Path(self._log)
        if job.startswith("/"):
            return _folder(job).log
        log_file = self._kept_log(job)
        if log_file.exists():
            return Path(os.fsdecode(log_file.read_bytes()))
        raise FileNotFoundError(2, "its log is unknown: name it with --log", f"process {job}")

    def stop(self, job: str) -> None:
        if job.startswith("/"):
            folder = _folder(job)
            local.Local(local.Options(), folder.path.parent).stop(folder.name, owner())
            return
        if job_to_stop(self._process(int(job)), job).state.live:
            write_atomic(self._stop_file(int(job)), owner().encode())
            with suppress(ProcessLookupError):
                os.kill(int(job), signal.SIGTERM)


def _began(start_text: str) -> datetime | None:
    """When it was started, rounded down to the second; None if the system does not report it."""
    try:
        with open("/proc/stat", encoding="ascii") as file:
            boot_seconds = next(int(line.split()[1]) for line in file if line.startswith("btime "))
        ticks = int(start_text.rpartition(" ")[2]) // os.sysconf("SC_CLK_TCK")
    except (OSError, StopIteration, ValueError):
        return None
    return datetime.fromtimestamp(boot_seconds + ticks, UTC)


def _argv_of(pid: str) -> bytes:
    """Empty if the system does not show it."""
    with suppress(OSError):
        return Path("/proc", pid, "cmdline").read_bytes()
    return b""


def _is_mine(pid: str) -> bool:
    with suppress(OSError):
        return os.stat(f"/proc/{pid}").st_uid == os.getuid()
    return False


def _owned_by(uid: int) -> Origin:
    try:
        name = pwd.getpwuid(uid).pw_name
    except KeyError:
        name = f"uid {uid}"
    return Origin(name, uid == os.getuid())


def _folder(job: str) -> Folder:
    path = Path(job)
    if not path.is_dir():
        raise WrongUse(
            f"{job} is not the folder of a job that herorun started on this machine: check the "
            "path."
        )
    return Folder(path.parent, path.name)
