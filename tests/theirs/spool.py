"""Another package's jobs by id: a folder for each job, with its `pid`, its `log`, and its `exit`
code once it has one.
"""

import os
import re
import signal
from pathlib import Path

from herorun.core.adhoc_jobs.kind import JobKind
from herorun.core.errors import CouldNotLook
from herorun.core.evidence import Job, JobState
from herorun.core.ports import Absent, AdapterOptions, ById, Found, Place, Search, Unknown

JOBS = JobKind(id_pattern=re.compile(r"spool-\d+"), id_form="spool- and a number")


class Options(AdapterOptions):
    folder: str = "/var/spool/jobs"


def connect(options: Options, place: Place) -> ById:
    return Spool(Path(options.folder))


class Spool:
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def find_job(self, job: str) -> Search:
        try:
            if job not in os.listdir(self._folder):
                return Absent()
            state, word = self._state(self._folder / job)
        except (OSError, ValueError) as error:
            return Unknown(f"the spool cannot be read: {error}")
        return Found(Job(id=job, instance=job, state=state, raw=word))

    def _state(self, folder: Path) -> tuple[JobState, str]:
        if (exit_file := folder / "exit").exists():
            code = int(exit_file.read_text())
            return (JobState.FAILED if code else JobState.SUCCEEDED), f"exit {code}"
        try:
            os.kill(int((folder / "pid").read_text()), 0)
        except ProcessLookupError:
            return JobState.CANCELLED, "killed"
        return JobState.RUNNING, "running"

    def tail(self, job: str, lines: int) -> str:
        text = (self._folder / job / "log").read_text()
        return "".join(text.splitlines(keepends=True)[-lines:])

    def stop(self, job: str) -> None:
        answer = self.find_job(job)
        if not isinstance(answer, Found):
            raise CouldNotLook(f"{job} is not in {self._folder}, or it cannot be read.")
        if answer.job.state is JobState.RUNNING:
            os.killpg(int((self._folder / job / "pid").read_text()), signal.SIGTERM)
