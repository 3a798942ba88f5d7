"""Jobs in a queue that is spoken to through its program, `jobq`: text out, text in, around one thin
call.

All that is special about the queue is in `submit_argv` and `parse`, which are pure.
"""

import json
import os
import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import Path

from herorun.core.contract import Duration
from herorun.core.errors import CouldNotLook, WrongUse
from herorun.core.evidence import Job, JobState
from herorun.core.lazy_pydantic import Field
from herorun.core.ports import (
    Absent,
    AdapterOptions,
    Found,
    Place,
    Scheduler,
    Search,
    Submission,
    Unknown,
)
from herorun.system.clock import now
from herorun.system.process import run

TIMEOUT = 30.0  # seconds for a call
STATES = {"waiting": JobState.PENDING, "running": JobState.RUNNING, "cancelled": JobState.CANCELLED}


class Options(AdapterOptions):
    """The keys of `[scheduler]` with this kind."""

    program: str = Field("jobq", min_length=1, description="The queue's program.")
    settle: Duration = Field(
        timedelta(seconds=5), description='Time after an intent before "no such job" counts.'
    )


def connect(options: Options, place: Place) -> Scheduler:
    return JobQueue(options, Path(place.state).absolute() / "logs")


class JobQueue:
    """See `core.ports.Scheduler`."""

    cluster_wide = True  # the queue gives every machine the same answers

    def __init__(self, options: Options, logs: Path) -> None:
        self._options = options
        self._logs = logs

    def submit(self, submission: Submission, code: str, admission: str) -> Job:
        """The queue takes a name once, so submitting twice is one job."""
        missing = [name for name in submission.secrets if name not in os.environ]
        if missing:
            raise WrongUse(
                f"{submission.instance} needs {', '.join(missing)} in the environment: set it here."
            )
        self._logs.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._call(*submit_argv(submission, code, admission, str(self._log(submission.instance))))
        return self._job(submission.instance)

    def find(self, instance: str, intended_at: datetime) -> Search:
        try:
            job = self._jobs().get(instance)
        except CouldNotLook as error:
            return Unknown(str(error))
        if job:
            return Found(job)
        early = now() - intended_at <= self._options.settle
        return Unknown(f"too early to tell whether {instance} was submitted") if early else Absent()

    def live_jobs(self, slug: str) -> tuple[Job, ...]:
        ours = re.compile(rf"{re.escape(slug)}-[0-9]+")
        return tuple(
            job for name, job in self._jobs().items() if ours.fullmatch(name) and job.state.live
        )

    def tail(self, instance: str, lines: int) -> str:
        text = self._log(instance).read_bytes().decode("utf-8", "replace")
        return "".join(text.splitlines(keepends=True)[-lines:])

    def stop(self, instance: str, by: str) -> None:
        if self._job(instance).state.live:
            self._call("cancel", f"--by={by}", instance)

    def _job(self, instance: str) -> Job:
        job = self._jobs().get(instance)
        if job is None:
            raise WrongUse(f"The queue knows no job {instance}.")
        return job

    def _jobs(self) -> dict[str, Job]:
        return parse(self._call("list"))

    def _call(self, *argv: str) -> str:
        answer = run((self._options.program, *argv), TIMEOUT)
        if answer.code:
            raise CouldNotLook(f"`{self._options.program} {argv[0]}` failed: {answer.complaint}")
        return answer.text

    def _log(self, instance: str) -> Path:
        return self._logs / f"{instance}.log"


def submit_argv(submission: Submission, code: str, admission: str, log: str) -> list[str]:
    """What the queue gets. Secrets go by name: the program takes their values from its own
    environment.
    """
    env = {**submission.env, "HERORUN_ADMISSION": admission, "HERORUN_ATTEMPT": "1"}
    return [
        "submit",
        f"--name={submission.instance}",
        f"--dir={os.path.join(code, submission.cwd)}",
        f"--log={log}",
        *(f"--env={name}={value}" for name, value in env.items()),
        *(f"--pass={name}" for name in submission.secrets),
        "--",
        *submission.argv,
    ]


def parse(text: str) -> dict[str, Job]:
    """`jobq list`: a line of JSON for each job, by its name."""
    try:
        return {row["name"]: _job_of(row) for row in map(json.loads, text.splitlines())}
    except (ValueError, KeyError, TypeError) as error:
        raise CouldNotLook(f"`jobq list` printed something other than jobs: {error!r}") from None


def _job_of(row: Mapping[str, str | int | None]) -> Job:
    word, code = str(row["state"]), row["exit"]
    end_state = JobState.SUCCEEDED if code == 0 else JobState.FAILED
    return Job(
        id=str(row["name"]),
        instance=str(row["name"]),
        state=end_state if word == "ended" else STATES.get(word, JobState.UNKNOWN),
        raw=word,
        exit_code=int(code) if code is not None else None,
        stopped_by=str(row["by"]) if row["by"] else None,
        started=_time(row["started"]),
        ended=_time(row["ended"]),
    )


def _time(text: str | int | None) -> datetime | None:
    return datetime.fromisoformat(str(text)) if text else None
