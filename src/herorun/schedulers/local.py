"""Jobs on this machine: each a detached process group with a supervisor, which outlives the process
that submitted it.

All files of an instance are in `<state>/jobs/<instance>/`, and the lock
`<state>/jobs/<instance>.lock` is held from the submission until both supervisor and job have ended.
The kernel releases it in any case. The job gets the plan's variables, the secrets that it names,
and what a program needs here (see `_environment`).
"""

import contextlib
import os
import re
import time
from datetime import datetime, timedelta
from pathlib import Path
from typing import ClassVar

from herorun.core.canonical_json import canonical
from herorun.core.contract import Duration, RenamedKeys
from herorun.core.durations import format_duration
from herorun.core.errors import CouldNotLook, WrongUse, describe_error
from herorun.core.evidence import Job, JobState
from herorun.core.lazy_pydantic import Field
from herorun.core.ports import (
    Absent,
    AdapterOptions,
    Found,
    LogPart,
    Place,
    Scheduler,
    Search,
    Submission,
    Unknown,
)
from herorun.schedulers._instance import Folder, last_lines
from herorun.schedulers._validate import must_be_instance, settle_option, too_early
from herorun.system.clock import now
from herorun.system.disk_reserve import reserves_at
from herorun.system.files import create_atomic


class Options(RenamedKeys, AdapterOptions):
    RENAMED: ClassVar = {"start_within": "start_timeout"}

    settle: Duration = settle_option(timedelta(seconds=5))
    grace: Duration = Field(timedelta(seconds=30), description="Time between SIGTERM and SIGKILL.")
    start_timeout: Duration = Field(timedelta(seconds=10), description="Timeout of a start.")


def connect(options: Options, place: Place) -> Scheduler:
    return Local(options, Path(place.state).absolute() / "jobs")


class Local:
    """The scheduler `local`."""

    runs_here = on_the_machine = True
    cluster_wide = False  # it knows only the jobs of its own state folder
    whole_environment = True  # nothing but herorun sets a variable of the job

    def __init__(self, options: Options, jobs: Path) -> None:
        self._options = options
        self._jobs = jobs

    def external_id(self, job: Job) -> str:
        """The job's folder, by which `herorun jobs` finds it without its contract."""
        return str(self._jobs / job.instance)

    def submit(self, submission: Submission, code: str, admission: str) -> Job:
        """Start the instance. A command that cannot be run gives a failed job with the reason."""
        folder = self._folder(submission.instance)
        self._jobs.mkdir(mode=0o700, parents=True, exist_ok=True)
        until = time.monotonic() + self._options.start_timeout.total_seconds()
        while True:
            job = folder.job() or self._claim(folder, submission, code, admission)
            if job and job.state is not JobState.PENDING:
                return job
            if time.monotonic() >= until:
                raise self._late(folder)
            time.sleep(0.02)

    def find(self, instance: str, intended_at: datetime) -> Search:
        folder = self._folder(instance)
        try:
            job = folder.job()
        except (OSError, CouldNotLook) as error:
            return Unknown(describe_error(error))
        if job and folder.path.exists():
            return Found(job)
        if job:
            return Unknown(f"{instance} is being submitted right now")
        early = too_early(instance, intended_at, now(), self._options.settle)
        return early or Absent()

    def live_jobs(self, slug: str) -> tuple[Job, ...]:
        """Live jobs by their full name; `CouldNotLook` or OSError if one cannot be read."""
        ours = re.compile(rf"({re.escape(slug)}-[0-9]+)(?:\.lock)?")
        try:
            names = {match[1] for name in os.listdir(self._jobs) if (match := ours.fullmatch(name))}
        except FileNotFoundError:
            return ()
        jobs = (self._folder(name).job() for name in sorted(names, key=lambda n: (len(n), n)))
        return tuple(job for job in jobs if job and job.state.live)

    def tail(self, instance: str, lines: int) -> str:
        """The end of the log, at most 1 MiB; FileNotFoundError if there is no such instance."""
        return last_lines(self._folder(instance).log, lines).decode("utf-8", "replace")

    def read_log(self, instance: str, offset: int, limit: int, mark: str = "") -> LogPart:
        """A part of the log, by one seek and one read."""
        from herorun.schedulers._logs import read_local_part

        return read_local_part(str(self._folder(instance).log), offset, limit, mark)

    def log(self, instance: str) -> str:
        """The path of the instance's log."""
        return str(self._folder(instance).log)

    def stop(self, instance: str, by: str) -> None:
        """The supervisor sends SIGTERM to the process group within a second, and SIGKILL after the
        grace time.
        """
        folder = self._folder(instance)
        job = folder.job()
        if job is None:
            raise WrongUse(f"There is no job {instance} in {self._jobs}.")
        if not job.state.live:
            return
        if not folder.path.is_dir():
            raise CouldNotLook(
                f"{instance} is being submitted right now: stop it again in a few seconds."
            )
        with contextlib.suppress(FileExistsError):  # requested before
            create_atomic(
                folder.path / "stop.json", canonical({"by": by, "at": now()}).encode(), 0o600
            )
        if not folder.snapshot().watched:
            self._stop_unwatched(folder)

    def _stop_unwatched(self, folder: Folder) -> None:
        """Stop a job whose supervisor has ended: does the supervisor's part here."""
        snapshot = folder.snapshot()
        if snapshot.end or not snapshot.alive or not snapshot.started:
            return
        if not snapshot.started.lives and not folder.find_remaining():
            raise CouldNotLook(
                f"The supervisor and the main process of {folder.name} have ended, but a process "
                f"that they started still runs: `fuser -v '{folder.lock}'` shows it. End it "
                "yourself."
            )
        group = snapshot.started.pid if snapshot.started.lives else -1
        folder.end_remaining(group, self._options.grace.total_seconds())

    def _folder(self, instance: str) -> Folder:
        must_be_instance(instance)
        return Folder(self._jobs, instance)

    def _claim(
        self, folder: Folder, submission: Submission, code: str, admission: str
    ) -> Job | None:
        """Start a supervisor, unless another process is starting it."""
        from herorun.schedulers._environment import environment, keep_environment
        from herorun.schedulers._start import lock_if_free, order_of, request_of, start_supervisor

        env = environment(submission, admission, self._jobs)
        with lock_if_free(folder.lock) as lock:
            if lock is None or folder.path.exists():
                return None
            keep_environment(submission, self._jobs)
            request = request_of(submission, code, admission)
            reserves = reserves_at(self._jobs)
            order = order_of(request, str(folder.path), lock, self._options.grace, reserves)
            start_supervisor(order, env, self._options.start_timeout)
        return folder.job()

    def _late(self, folder: Folder) -> CouldNotLook:
        return CouldNotLook(
            f"{folder.name} has not started within "
            f"{format_duration(self._options.start_timeout)}; it may yet. "
            f"Look into {folder.path}, then submit it again: it cannot start twice."
        )
