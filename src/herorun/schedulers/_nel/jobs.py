"""The launcher's jobs: its list, the states that it and Slurm report, the logs, and stopping
them.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from herorun.core.errors import CouldNotLook, describe_error
from herorun.core.evidence import Job, JobState
from herorun.schedulers._error_line import message_of
from herorun.schedulers._instance import last_lines
from herorun.schedulers._nel.client import NelLauncher
from herorun.schedulers._nel.confirmation import (
    EndEvidence,
    UnconfirmedEnds,
    confirm_state,
    find_last_change,
)
from herorun.schedulers._nel.options import Options
from herorun.schedulers._nel.parse import NelTask, entries, errors_in, stages, statuses
from herorun.schedulers._nel.results import MAX_RESULT_BYTES, RESULTS, scores
from herorun.schedulers._nel.slurm import SlurmJobs
from herorun.schedulers._nel.state import JudgedTask, local_part, slurm_part
from herorun.system.clock import now

# by job: the state that nel reports, and Slurm's
Asked: TypeAlias = tuple[Mapping[str, str], Mapping[str, Job | str]]
_LOGS = ("client_stdout.log", "server_stdout.log", "stdout.log")


class NelJobs:
    """The queries to the launcher, no matter who submitted the job."""

    def __init__(self, options: Options, state_folder: Path) -> None:
        """`state_folder` is a private folder of this machine, for what the next query needs from
        this one.
        """
        self._nel, self._slurm, self._doubts = (
            NelLauncher(options),
            SlurmJobs(options),
            UnconfirmedEnds(state_folder),
        )

    def _entries(self) -> tuple[NelTask, ...]:
        try:
            return entries(self._nel.db.read_bytes().decode("utf-8", "replace"))
        except FileNotFoundError:
            return ()  # nel makes it with its first job

    def _parts(self, jobs: Sequence[NelTask]) -> dict[str, JudgedTask]:
        output, slurm = self._task_states(jobs)
        invocation_words = {
            job.id: output.get(job.invocation, "not_found") for job in jobs
        }  # one state for all its tasks
        return {
            job.id: self._part(job, output.get(job.id, invocation_words[job.id]), slurm)
            for job in jobs
        }

    def _task_states(self, jobs: Sequence[NelTask]) -> Asked:
        """The state of each that nel reports, and Slurm's."""
        if not jobs:
            return {}, {}
        output = self._status(list(dict.fromkeys(job.invocation for job in jobs)))
        return output, self._slurm.jobs([job for job in jobs if job.executor == "slurm"])

    def _part(self, job: NelTask, word: str, slurm: Mapping[str, Job | str]) -> JudgedTask:
        if job.executor == "slurm":
            answer = slurm.get(job.id, "Slurm was not asked")
            part = slurm_part(job, word, answer)
            return self._settle(
                part, lambda: EndEvidence(slurm=answer if isinstance(answer, str) else "")
            )
        if job.executor == "local":
            folder = Path(job.folder)
            end = _read_jobs_file(folder / "logs" / "stage.exit")
            task_stages = stages(_read_jobs_file(folder / "logs" / "stage.running"), end)
            part = local_part(job, word, task_stages)
            return self._settle(
                part, lambda: EndEvidence(task_stages, bool(end.strip()), find_last_change(folder))
            )
        raise CouldNotLook(
            f"{job.id} runs by nel's executor {job.executor}, which herorun cannot follow."
        )

    def _settle(self, part: JudgedTask, behind: Callable[[], EndEvidence]) -> JudgedTask:
        """A task of unknown state is checked again, which settles one that nel has lost for
        good.
        """
        if part.state is not JobState.UNKNOWN:
            self._doubts.forget(part)
            return part
        at = now()
        since = self._doubts.since(part, at)
        try:
            return confirm_state(part, behind(), since, at)
        except OSError as error:  # its folder could not be read: that settles nothing
            return replace(part, reason=f"{part.reason}; {describe_error(error)}")

    def _status(self, invocations: Sequence[str]) -> dict[str, str]:
        answer = self._nel.ask(["status", "--json", *invocations])
        if answer.code:
            raise CouldNotLook(f"nel status failed: {message_of(answer)}")
        return statuses(answer.text)

    def _end(self, job: NelTask, lines: int) -> str | None:
        if job.executor == "slurm":
            return self._slurm.tail(job, lines)
        logs = [path for name in _LOGS if (path := Path(job.folder) / "logs" / name).is_file()]
        filled_logs = [path for path in logs if path.stat().st_size] or logs
        if not filled_logs:
            return None
        return last_lines(filled_logs[0], lines).decode("utf-8", "replace")

    def _scores(self, job: NelTask) -> list[str]:
        """Read from the job's own folder, which also has what `nel info` prints."""
        if job.executor == "slurm":
            return scores(self._slurm.read(job, RESULTS, MAX_RESULT_BYTES) or "")
        return scores(_read_jobs_file(Path(job.folder, RESULTS)))

    def _kill(self, invocation: str) -> None:
        """`nel kill` always exits with 0, and reports a task that has already ended as an error."""
        jobs = [job for job in self._entries() if invocation in (job.invocation, job.id)]
        self._slurm.end([job for job in jobs if job.executor == "slurm" and job.slurm_id])
        answer = self._nel.ask(["kill", invocation])
        if answer.code:
            raise CouldNotLook(f"nel kill failed: {message_of(answer)}")
        if "killed" not in statuses(answer.text).values():
            raise CouldNotLook(
                f"nel kill stopped nothing: {errors_in(answer.text) or message_of(answer)}"
            )


def _read_jobs_file(path: Path) -> str:
    try:
        return path.read_text("utf-8", "replace")
    except FileNotFoundError:
        return ""
