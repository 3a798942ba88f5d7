"""A process on a remote machine without a queue, reached by ssh, by its process number.

A process that is not our child leaves no exit code: after its end only its log shows how it ended.
"""

import base64
import json
import re
import shlex
from dataclasses import fields
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from herorun.core.adhoc_jobs.kind import JobKind
from herorun.core.adhoc_jobs.spec import JobSpec
from herorun.core.errors import CouldNotLook, WrongUse, describe_error
from herorun.core.evidence import Job, JobState
from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_pydantic import Field
from herorun.core.lazy_regex import lazy_regex
from herorun.core.ports import Absent, ById, Found, Origin, Place, Search, Unknown
from herorun.core.redaction.scrub import scrub
from herorun.core.remote.target import RemoteTarget, SshLogin
from herorun.core.untrusted_json import read_json
from herorun.schedulers._idempotent import job_to_stop
from herorun.system.clock import now
from herorun.system.files import write_atomic
from herorun.system.host import owner
from herorun.system.remote_programs import PROCESSES
from herorun.system.remote_python import readable, remote_to

CONNECT = 15.0  # seconds for a new connection


@dataclass(frozen=True, kw_only=True)
class SshJobKind(JobKind):
    def must_be_reachable(self, spec: JobSpec) -> None:
        if not spec.host:  # the number would be that of another process, on this machine
            raise WrongUse("A process is queried over ssh on its machine: name it with --host.")


JOBS = SshJobKind(
    id_pattern=lazy_regex(r"[1-9][0-9]{0,9}"),
    id_form="the number of a process on that machine",
    article="an",
    needs=("host",),
    absent="check its number and the host; if a queue gave it, name that by --scheduler",
    printed=lazy_regex(r"Job submitted: (\d+)|^(\d+)\s*$", re.MULTILINE),
    is_process=True,
)


class Options(SshLogin):
    log: str | None = Field(None, description="Its log file, there.")
    python: str = Field("python3", description="Python there, 3.8 or newer.")


_EARLIER_FIELDS = {"born": "start"}  # the names of earlier versions


@dataclass(frozen=True)
class _ProcessRecord:
    """The process as the first query showed it."""

    start: str  # its boot and tick, which tell it from a later process of its number
    boot: str
    mark: str = ""  # of its command line
    folder: str = ""
    out: str = ""
    kills: int | None = None


def connect(options: Options, place: Place) -> ById:
    return SshById(options, Path(place.state))


class SshById:
    """An id is a process number."""

    def __init__(self, options: Options, state: Path) -> None:
        self._log, self._state = options.log, state
        self._reach = RemoteTarget(SshLogin(**_login(options)), options.python, CONNECT)
        self._remote = remote_to(self._reach)

    def find_job(self, job: str) -> Search:
        """The process. Its number may be reused, so its start time is stored at the first query."""
        asked_at = now()
        try:
            facts = self._ask("process", pid=int(job))
            with readable(self._remote.transport.where):
                return self._judge(job, facts, asked_at)
        except (OSError, CouldNotLook) as error:
            return Unknown(describe_error(error))

    def _judge(self, job: str, facts: dict[str, Any], asked_at: datetime) -> Search:
        start_text, first = str(facts["start"]), self._process_record(job)
        if first is None and not start_text:
            return Absent()
        if first is None:
            self._write_record(job, facts)
        if first is None or start_text == first.start:
            # rounded down, or its first log lines would be older than its start
            started_at = asked_at - timedelta(seconds=float(facts["seconds"]))
            return Found(
                Job(id=job, instance=job, state=JobState.RUNNING, raw="running", started=started_at)
            )
        if (by := self._stop_file(job)).exists():
            who = by.read_text("utf-8").strip()
            return Found(
                Job(
                    id=job,
                    instance=job,
                    state=JobState.CANCELLED,
                    raw="stopped",
                    stopped_by=who,
                    ended=now(),
                )
            )
        why = _describe_end(first, facts)
        return Found(
            Job(id=job, instance=job, state=JobState.GONE, raw="gone", reason=why, ended=now())
        )

    def reused(self, job: str) -> bool:
        """Whether the number now belongs to a later process."""
        first, start_text = self._process_record(job), self._ask("process", pid=int(job))["start"]
        return first is not None and bool(start_text) and start_text != first.start

    def live_namesakes(self, job: str) -> tuple[str, ...]:
        """This login's other processes with its command line."""
        first = self._process_record(job)
        mark = first.mark if first else ""
        return tuple(map(str, self._ask("namesakes", pid=int(job), mark=mark)))

    def origin(self, job: str) -> Origin:
        facts = self._ask("process", pid=int(job))
        if not facts["start"]:
            return Origin()
        message, folder = tuple(facts["words"]), str(facts["folder"])
        return Origin(str(facts["owner"]), bool(facts["mine"]), message, folder=folder)

    def describe(self, job: str) -> str:
        """The process with that number, for a person who may have mistyped it."""
        origin = self.origin(job)
        where = f" in {origin.folder}" if origin.folder else ""
        return scrub(f"process {job} is `{shlex.join(origin.command)}` of {origin.user}{where}")

    def log_age(self, job: str) -> timedelta:
        age = self._ask("age", **self._log_place(job))
        with readable(self._remote.transport.where):
            return timedelta(seconds=float(age))

    def _log_place(self, job: str) -> dict[str, str]:
        first = self._process_record(job)
        path = self._log or (first.out if first else "")
        if not path:
            raise FileNotFoundError(2, "its log is unknown: name it with --log", f"process {job}")
        return {"path": path, "folder": first.folder if first else ""}

    def tail(self, job: str, lines: int) -> str:
        text = self._ask("tail", **self._log_place(job))
        with readable(self._remote.transport.where):
            log_text = base64.b64decode(text).decode("utf-8", "replace")
        return "".join(log_text.splitlines(keepends=True)[-lines:]) if lines > 0 else ""

    def stop(self, job: str) -> None:
        is_live = job_to_stop(self.find_job(job), job).state.live
        if is_live and (first := self._process_record(job)):  # the query has written it
            write_atomic(self._stop_file(job), owner().encode())
            self._ask("end", pid=int(job), start=first.start)

    def _ask(self, question: str, **arguments: Any) -> Any:
        return self._remote.ask(PROCESSES, question, self._reach.timeout, **arguments)

    def _process_record(self, job: str) -> _ProcessRecord | None:
        try:
            record = read_json(self._record_file(job).read_bytes())
            return _ProcessRecord(
                **{_EARLIER_FIELDS.get(key, key): value for key, value in record.items()}
            )
        except FileNotFoundError:
            return None
        except (ValueError, TypeError, AttributeError):
            raise CouldNotLook(
                f"The record {self._record_file(job)} is damaged: move it away, then repeat the "
                "command."
            ) from None

    def _write_record(self, job: str, facts: dict[str, Any]) -> None:
        document = {each.name: facts[each.name] for each in fields(_ProcessRecord)}
        write_atomic(self._record_file(job), (json.dumps(document) + "\n").encode())

    def _record_file(self, job: str) -> Path:
        return self._state / f"process-{job}.json"

    def _stop_file(self, job: str) -> Path:
        """The file that records who ordered the stop."""
        return self._state / f"process-{job}.stopped-by"


def _login(options: Options) -> dict[str, Any]:
    return {name: getattr(options, name) for name in SshLogin.model_fields}


def _describe_end(first: _ProcessRecord, facts: dict[str, Any]) -> str:
    kills = facts["kills"]
    parts = ["the process is gone"]
    if facts["boot"] != first.boot:
        parts.append("the machine was started again since")
    elif facts["start"]:
        parts.append("its number is another one's now")
    elif isinstance(kills, int) and first.kills is not None and kills > first.kills:
        parts.append(f"the kernel has since ended {kills - first.kills} there for lack of memory")
    return f"{', '.join(parts)}, and no record says how it ended: see its log"
