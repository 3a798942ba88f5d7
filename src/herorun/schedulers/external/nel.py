"""An invocation of the NeMo evaluator launcher, or one of its tasks, by its id."""

from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import ClassVar

from herorun.core.adhoc_jobs.kind import JobKind
from herorun.core.adhoc_jobs.spec import JobSpec
from herorun.core.adhoc_jobs.tasks import TaskEnd
from herorun.core.contract import RenamedKeys
from herorun.core.errors import CouldNotLook, describe_error
from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_pydantic import Field
from herorun.core.lazy_regex import lazy_regex
from herorun.core.ports import Absent, ById, Found, Origin, Place, Search, Unknown
from herorun.schedulers._idempotent import job_to_stop
from herorun.schedulers._nel.jobs import NelJobs
from herorun.schedulers._nel.options import Options as NelOptions
from herorun.schedulers._nel.parse import NelTask
from herorun.schedulers._nel.state import judge_nel
from herorun.schedulers._option_types import Absolute
from herorun.schedulers._submission_record import SubmissionRecord
from herorun.schedulers._transport import SshLogin
from herorun.system import host
from herorun.system.clock import now

DAY = timedelta(days=1)


@dataclass(frozen=True, kw_only=True)
class NelJobKind(JobKind):
    def listing(self, spec: JobSpec) -> str:
        return "nel ls runs --since 1d"


JOBS = NelJobKind(
    id_pattern=lazy_regex(r"[0-9a-f]{6,32}(?:\.[0-9]+)?"),
    id_form="an invocation id, such as 15be12f8",
    printed=lazy_regex(r"Invocation ID: ([0-9a-f]{6,32})"),
    missing_twice=(  # its list is a file of this machine
        "nel does not list this id, so its result is unknown; the id may be wrong or belong to "
        "another machine"
    ),
)


class Options(RenamedKeys, SshLogin):
    """The login node of its Slurm jobs; none: as nel has noted it."""

    RENAMED: ClassVar = {"programs": "slurm_bin"}

    program: tuple[str, ...] | None = Field(
        None, description="How nel is called; none: by its own name."
    )
    exec_db: Absolute | None = Field(
        None, description="Its list of jobs; none: where nel keeps it."
    )
    slurm_bin: Absolute | None = Field(None, description="Folder of Slurm's programs there.")
    slurm_conf: Absolute | None = Field(None, description="The cluster's slurm.conf.")


def connect(options: Options, place: Place) -> ById:
    return NelById(NelOptions(**options.model_dump(exclude_none=True)), Path(place.state) / "nel")


class NelById(NelJobs):
    """Judged as any nel job: what nel itself could not find out is no end."""

    def find_job(self, job: str) -> Search:
        try:
            entries = self._of(job)
            if not entries:
                return Absent()
            parts = self._parts(entries)
            return Found(
                judge_nel(job, job, [parts[entry.id] for entry in entries], SubmissionRecord())
            )
        except (CouldNotLook, OSError) as error:
            return Unknown(describe_error(error))

    def _of(self, job: str) -> list[NelTask]:
        return [entry for entry in self._entries() if job in (entry.invocation, entry.id)]

    def tail(self, job: str, lines: int) -> str:
        ends = [(entry, self._end(entry, lines)) for entry in self._of(job)]
        logs = [(entry, end) for entry, end in ends if end is not None]
        if not logs:
            raise FileNotFoundError(2, "nel has no log for it", job)
        return (
            logs[0][1]
            if len(logs) == 1
            else "".join(f"==> {entry.id}\n{end}" for entry, end in logs)
        )

    def stop(self, job: str, by: str = "") -> None:
        if job_to_stop(self.find_job(job), job).state.live:
            self._kill(job)

    def origin(self, job: str) -> Origin:
        """nel lists what this user has submitted from here, and nothing else."""
        return Origin(host.user() or "", mine=bool(self._of(job)) or None)

    def live_namesakes(self, job: str) -> tuple[str, ...]:
        """Other live invocations of the same configuration: nel gives no names, and lists this
        user's alone.
        """
        entries = self._entries()
        own = [entry for entry in entries if job in (entry.invocation, entry.id)]
        if not own or not own[-1].config:
            raise CouldNotLook(f"nel's list does not show what {job} was started with")
        same = [
            entry
            for entry in entries
            if entry.config == own[-1].config and entry.invocation != own[-1].invocation
        ]
        parts = self._parts(same)
        return tuple(dict.fromkeys(e.invocation for e in same if parts[e.id].state.live))

    def tasks(self, job: str) -> tuple[TaskEnd, ...]:
        entries = self._of(job)
        parts = self._parts(entries)
        return tuple(
            TaskEnd(
                name=e.id,
                state=p.raw,
                exit_code=p.exit_code,
                failed=p.state.is_final and p.state != "succeeded",
            )
            for e in entries
            if (p := parts[e.id])
        )

    def results(self, job: str) -> str:
        """The scores of those of its tasks whose files can be read."""
        scores: list[str] = []
        for entry in self._of(job):
            with suppress(CouldNotLook, OSError):  # one task's must not hide the others'
                scores += self._scores(entry)
        return ", ".join(scores)

    def listed(self, most: int) -> tuple[tuple[str, str], ...]:
        """The invocations of the last day, newest first, as `nel ls runs --since 1d` lists them: id
        and description.
        """
        newest: dict[str, NelTask] = {}
        for entry in sorted(self._entries(), key=lambda each: each.at, reverse=True):
            if now() - entry.at <= DAY:
                newest.setdefault(entry.invocation, entry)
        latest = list(newest.values())[:most]
        return tuple((e.invocation, f"{e.at:%Y-%m-%d %H:%M} UTC, {e.executor}") for e in latest)
