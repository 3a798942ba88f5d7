"""A launcher's run, by its output file: the launcher's own messages, and Slurm's state of its
job.
"""

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from herorun.core.adhoc_jobs.kind import JobKind
from herorun.core.errors import CouldNotLook, describe_error
from herorun.core.evidence import Job, JobState
from herorun.core.lazy_pydantic import Field
from herorun.core.lazy_regex import lazy_regex
from herorun.core.ports import Absent, ById, Found, Place, Search, Unknown
from herorun.schedulers._idempotent import job_to_stop
from herorun.schedulers._log_age import file_age
from herorun.schedulers._transport import SshLogin, transport_to
from herorun.schedulers.external import slurm
from herorun.schedulers.external._launcher_log import LauncherOutput, read_output
from herorun.system.clock import now

TIMEOUT = 30.0  # seconds
QUIET = timedelta(minutes=2)  # a file that still grows is not complete
_ABSENT = 44
_READ = f'test -e "$1" || exit {_ABSENT}; stat -c %Y -- "$1"; tail -c 4194304 -- "$1"'

JOBS = JobKind(
    id_pattern=lazy_regex(r"[^\0\n]+"),
    id_form="the path of the launcher's output file",
    printed=lazy_regex(r"^(?:[Oo]utput(?: file)?: )?(/\S+)\s*$", re.MULTILINE),
    id_is_path=True,
    absent="check the path of its output file, and the host",
)


class Options(SshLogin):
    slurm_conf: str | None = Field(None, description="The cluster's slurm.conf.")


def connect(options: Options, place: Place) -> ById:
    return LauncherById(options)


class LauncherById:
    """An id is the path of the output file."""

    def __init__(self, options: Options) -> None:
        self._transport, self._options = transport_to(options), options

    def find_job(self, job: str) -> Search:
        try:
            text, changed_at = self._read(job)
        except FileNotFoundError:
            return Absent()
        except (CouldNotLook, OSError) as error:
            return Unknown(describe_error(error))
        output = read_output(text)
        own_job = Job(
            id=job, instance=job, state=output.state, raw=output.word, reason=_failure_of(output)
        )
        if output.state is not JobState.UNKNOWN:
            return Found(own_job)
        if output.slurm:
            return self._as_slurm(own_job, output)
        if output.failed and now() - changed_at > QUIET:
            return Found(replace(own_job, state=JobState.FAILED, raw="FAILED", ended=changed_at))
        return Found(replace(own_job, state=JobState.BUILDING, raw="STARTED"))

    def _as_slurm(self, job: Job, output: LauncherOutput) -> Search:
        """The state of the newest Slurm job that the output names, while the output has no
        status.
        """
        answer = slurm.SlurmById(slurm.Options(**self._options.model_dump())).find_job(
            output.slurm[-1]
        )
        if not isinstance(answer, Found):
            return (
                answer
                if isinstance(answer, Unknown)
                else Unknown(f"Slurm does not know {output.slurm[-1]}")
            )
        slurm_job = answer.job
        reason = "; ".join(
            part for part in (f"Slurm job {output.slurm[-1]}", slurm_job.reason, job.reason) if part
        )
        return Found(replace(slurm_job, id=job.id, instance=job.instance, reason=reason))

    def tail(self, job: str, lines: int) -> str:
        return "".join(self._read(job)[0].splitlines(keepends=True)[-lines:]) if lines > 0 else ""

    def log_age(self, job: str) -> timedelta:
        return file_age(self._transport, job, TIMEOUT)

    def events(self, job: str) -> tuple[str, ...]:
        return read_output(self._read(job)[0]).events

    def results(self, job: str) -> str:
        output = read_output(self._read(job)[0])
        return (
            f"exported to {output.export}"
            if output.export
            else output.calibration and f"calibration {output.calibration}"
        )

    def live_namesakes(self, job: str) -> tuple[str, ...]:
        """Those of the Slurm job that it submitted."""
        output = read_output(self._read(job)[0])
        jobs = slurm.SlurmById(slurm.Options(**self._options.model_dump()))
        return jobs.live_namesakes(output.slurm[-1]) if output.slurm else ()

    def stop(self, job: str) -> None:
        output = read_output(self._read(job)[0])
        if output.slurm:
            slurm.SlurmById(slurm.Options(**self._options.model_dump())).stop(output.slurm[-1])
        elif job_to_stop(self.find_job(job), job).state.live:
            raise CouldNotLook(
                f"{job} names no Slurm job yet, so there is nothing that herorun could stop"
            )

    def _read(self, path: str) -> tuple[str, datetime]:
        answer = self._transport.run(["sh", "-c", _READ, "sh", path], TIMEOUT)
        if answer.code == _ABSENT:
            raise FileNotFoundError(2, "No such file", path)
        stamp, _, text = answer.out.decode("utf-8", "replace").partition("\n")
        if answer.code or not stamp.isdigit():
            raise CouldNotLook(
                f"{path} on {self._transport.where} could not be read: {answer.complaint}"
            )
        return text, datetime.fromtimestamp(int(stamp), UTC)


def _failure_of(output: LauncherOutput) -> str:
    return output.failed if output.state in (JobState.FAILED, JobState.UNKNOWN) else ""
