"""A Slurm job by its number: sacct decides its end, since squeue lags behind."""

import re
import shutil
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import ClassVar

from herorun.core.adhoc_jobs.kind import JobKind
from herorun.core.adhoc_jobs.resubmit_command import submitter_flags
from herorun.core.adhoc_jobs.spec import JobSpec
from herorun.core.adhoc_jobs.tasks import TaskEnd
from herorun.core.contract import RenamedKeys
from herorun.core.errors import CouldNotLook, WrongUse
from herorun.core.evidence import Job
from herorun.core.finding import count
from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_pydantic import Field
from herorun.core.lazy_regex import lazy_regex
from herorun.core.ports import Absent, ById, Found, Origin, Place, Search, Unknown
from herorun.schedulers._log_age import file_age
from herorun.schedulers._slurm.client import Programs, new_separator
from herorun.schedulers._slurm.parse import SlurmRow, log_in, squeue_argv, squeue_rows
from herorun.schedulers._slurm.state import Accounting, judge_slurm
from herorun.schedulers._slurm.state_names import slurm_state_of
from herorun.schedulers._submission_record import SubmissionRecord
from herorun.schedulers._transport import SshLogin, transport_to
from herorun.schedulers.external._slurm_job import TASK_FIELDS, origin_in, result_in, task_ends
from herorun.system.clock import now

LONG_AGO = timedelta(days=60)  # a job that ended before is not searched for
TIMEOUT = 40.0  # seconds of one question
_ABSENT = 44  # exit code of our own shell words
_TAIL = f'test -e "$1" || exit {_ABSENT}; tail -c 1048576 -- "$1" | tail -n "$2"'
_NAMELESS = "allocation"  # what sacct calls a job whose name its storage does not keep
_ID = lazy_regex(r"(\d+)((?:_\d+|\+\d+)?)")


@dataclass(frozen=True, kw_only=True)
class SlurmJobKind(JobKind):
    def listing(self, spec: JobSpec) -> str:
        return f"squeue -u {spec.user or '$USER'}{f' on {spec.host}' if spec.host else ''}"

    def must_be_reachable(self, spec: JobSpec) -> None:
        if not spec.host and shutil.which("squeue") is None:
            raise WrongUse("There is no squeue on this machine: name the login node with --host.")

    def must_return(self, command: str) -> None:
        flags = submitter_flags(command)
        if "srun" in flags or ("sbatch" in flags and flags & {"--wait", "-W"}):
            raise WrongUse(
                f"The resubmit command `{command}` waits for the job's end: use sbatch without "
                "--wait."
            )


JOBS = SlurmJobKind(
    id_pattern=lazy_regex(r"[0-9]{1,15}(?:_[0-9]{1,15}|\+[0-9]{1,15})?"),
    id_form="a number, such as 4711 or 4711_3 of an array",
    printed=lazy_regex(r"Submitted batch job (\d+)|^(\d+)(?:;\S+)?\s*$", re.MULTILINE),
)


class Options(RenamedKeys, SshLogin):
    """Through which login node, if any."""

    RENAMED: ClassVar = {"programs": "slurm_bin"}

    log: str | None = Field(
        None, description="Its log file, there; none: the one that Slurm reports."
    )
    slurm_bin: str | None = Field(None, description="Folder of squeue and sacct there.")
    slurm_conf: str | None = Field(None, description="The cluster's slurm.conf.")


def connect(options: Options, place: Place) -> ById:
    return SlurmById(options)


class SlurmById:
    def __init__(self, options: Options) -> None:
        self._options, self._transport = options, transport_to(options)
        programs = (options.slurm_bin, options.slurm_conf)
        self._slurm = Programs(self._transport, TIMEOUT, *programs, missing="is --host missing")
        self._restarts: dict[str, int] = {}  # by the job's id, as the controller counts them

    def find_job(self, job: str) -> Search:
        number, part = _split_job_id(job)
        try:
            queue = _rows_of_job(self._queue(number), number, part)
            self._restarts[job] = max((row.restarts for row in queue), default=0)
            accounting = self._slurm.accounting(now() - LONG_AGO, ids=[number])
        except CouldNotLook as error:
            return Unknown(str(error))
        rows = _rows_of_job(accounting.rows, number, part)
        if not queue and not rows:
            return Unknown(accounting.silent) if accounting.silent else _not_found(job, accounting)
        record = SubmissionRecord(is_ours=True, id=number)
        answer = judge_slurm(
            job, queue, rows, Accounting(rows, accounting.silent, accounting.is_disabled), record
        )
        if not isinstance(answer, Found):
            return answer
        return Found(self._slurm.with_user_name(_with_id(answer, job)))

    def _queue(self, number: str) -> Sequence[SlurmRow]:
        separator = new_separator()
        answer = self._slurm.ask(squeue_argv(separator, ids=[number]))
        if answer.code and b"Invalid job id" in answer.err:
            return ()  # the controller has forgotten it
        return squeue_rows(self._slurm.checked_output("squeue", answer), separator)

    def events(self, job: str) -> tuple[str, ...]:
        """That Slurm put it back into the queue, as `find_job` saw it."""
        restarts = self._restarts.get(job, 0)
        return (f"requeued by Slurm {count(restarts, 'time')}",) if restarts else ()

    def tail(self, job: str, lines: int) -> str:
        path = self._options.log or self._log_of(job)
        if not path:
            raise FileNotFoundError(2, "Slurm does not report its log: name it with --log", job)
        answer = self._transport.run(["sh", "-c", _TAIL, "sh", path, str(max(0, lines))], TIMEOUT)
        if answer.code == _ABSENT:
            raise FileNotFoundError(2, "No such file", path)
        if answer.code:
            raise CouldNotLook(
                f"{path} on {self._transport.where} could not be read: {answer.complaint}"
            )
        return answer.out.decode("utf-8", "replace")

    def log_age(self, job: str) -> timedelta:
        path = self._options.log or self._log_of(job)
        if not path:
            raise FileNotFoundError(2, "Slurm does not report its log: name it with --log", job)
        return file_age(self._transport, path, TIMEOUT)

    def _log_of(self, job: str) -> str:
        """As the controller tells while it remembers the job, otherwise sbatch's own default in the
        job's folder.
        """
        answer = self._slurm.ask(["scontrol", "show", "job", job])
        if path := log_in(answer.text):
            return path
        accounting = self._slurm.ask(["sacct", "-X", "-n", "-P", "-j", job, "--format=WorkDir"])
        folder = accounting.text.strip().partition("\n")[0]
        return f"{folder}/slurm-{job}.out" if folder.startswith("/") else ""

    def origin(self, job: str) -> Origin:
        """As the controller reports. Its `Command` is the script that was submitted, not what that
        runs.
        """
        answer = self._slurm.ask(["scontrol", "show", "job", job])
        if answer.code:
            raise self._slurm.trouble("scontrol", answer)
        us = self._transport.run(["id", "-u"], TIMEOUT)
        if us.code:
            raise CouldNotLook(f"id -u on {self._transport.where} failed: {us.complaint}")
        return origin_in(answer.text, us.text.strip())

    def results(self, job: str) -> str:
        """State, exit code and elapsed time, as accounting has them."""
        answer = self._slurm.ask(
            ["sacct", "-X", "-n", "-P", "-j", job, "--format=State,ExitCode,Elapsed"]
        )
        return result_in(answer.text)

    def tasks(self, job: str) -> tuple[TaskEnd, ...]:
        """Its parts, each with the largest peak of its steps."""
        answer = self._slurm.ask(
            ["sacct", "-n", "-P", "-j", job, f"--format={','.join(TASK_FIELDS.split())}"]
        )
        return task_ends(answer.text) if answer.code == 0 else ()

    def stop(self, job: str) -> None:
        answer = self._slurm.ask(["scancel", job])
        if answer.code:
            raise self._slurm.trouble("scancel", answer)
        if isinstance(self.find_job(job), Absent):  # of which scancel says nothing
            raise WrongUse(f"Slurm has no job {job}, so nothing was stopped.")

    def live_namesakes(self, job: str) -> tuple[str, ...]:
        """Other jobs of its name and its user that are in the queue."""
        number = _split_job_id(job)[0]
        own = _rows_of_job(self._queue(number), number, "")
        if not own:  # the controller has forgotten it
            accounting = self._slurm.accounting(now() - LONG_AGO, ids=[number])
            own = [
                row for row in _rows_of_job(accounting.rows, number, "") if row.name != _NAMELESS
            ]
        if not own:
            raise CouldNotLook(f"Slurm does not report the name and user of {job}")
        name, user = own[-1].name, own[-1].user
        separator = new_separator()
        answer = self._slurm.ask(squeue_argv(separator, names=[name]))
        rows = squeue_rows(self._slurm.checked_output("squeue", answer), separator)
        same = [row for row in rows if (row.name, row.user) == (name, user) and row.id != number]
        return tuple(dict.fromkeys(row.id for row in same if slurm_state_of(row.word).live))

    def listed(self, most: int) -> tuple[tuple[str, str], ...]:
        """The user's jobs that Slurm has now, all of them: id, and its state and name."""
        user = ["-u", self._options.user] if self._options.user else ["--me"]
        answer = self._slurm.ask(["squeue", "-h", *user, "-o", "%i|%T|%j"])
        if answer.code:
            raise self._slurm.trouble("squeue", answer)
        rows = [line.split("|", 2) for line in answer.text.splitlines() if line.count("|") >= 2]
        return tuple(
            (row[0].strip(), ", ".join(filter(None, (row[1].strip(), row[2].strip()))))
            for row in rows
        )


def _split_job_id(job: str) -> tuple[str, str]:
    match = _ID.fullmatch(job)
    assert match  # its form was checked before
    return match[1], match[2]


def _rows_of_job(rows: Sequence[SlurmRow], number: str, part: str) -> list[SlurmRow]:
    return [row for row in rows if row.id == number and (not part or row.part == part)]


def _not_found(job: str, accounting: Accounting) -> Search:
    if accounting.is_disabled:
        return Unknown(
            f"Slurm keeps no accounting there, and its controller does not know {job} any more",
            forgotten=True,
        )
    return Absent()


def _with_id(answer: Found, job: str) -> Job:
    return replace(answer.job, id=job)
