"""The launcher's files and output: its list of jobs, `nel status --json`, the stage files of a
local job. Pure.

The list is JSON by lines, and of several lines of one job the last counts. It has no states: nel
determines them at each query. Source: nemo-evaluator-launcher 0.2.6.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from datetime import UTC, datetime
from typing import Any

from herorun.core.canonical_json import digest
from herorun.core.errors import CouldNotLook
from herorun.core.evidence import JobState
from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_regex import lazy_regex
from herorun.core.redaction.scrub import scrub
from herorun.core.untrusted_json import read_json
from herorun.schedulers._json_output import tables_in

STATES = {
    "pending": JobState.PENDING,
    "running": JobState.RUNNING,
    "success": JobState.SUCCEEDED,
    "failed": JobState.FAILED,  # or nel could not ask: only what backs it makes it one
    "killed": JobState.CANCELLED,
    # not_found, error and unknown are left out: nel does not know the state.
}
_INVOCATION = lazy_regex(r"Invocation ID: ([0-9a-f]{6,})")
_STAGE = lazy_regex(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)(?: (-?\d+))?")


@dataclass(frozen=True, kw_only=True)
class NelTask:
    """A job of the launcher: one task of an invocation."""

    invocation: str
    id: str
    executor: str
    output: str  # the invocation's output directory, as its configuration has it
    at: datetime
    data: Mapping[str, Any] = field(default_factory=dict)
    config: str = ""  # digest of all that it was started with; nel gives no names

    @property
    def folder(self) -> str:
        """The task's own, on the machine where it runs."""
        return str(self.data.get("output_dir") or self.data.get("remote_rundir_path") or "")

    @property
    def slurm_id(self) -> str:
        return str(self.data.get("slurm_job_id") or "")


def entries(text: str) -> tuple[NelTask, ...]:
    """The jobs as last written; a line that is not JSON is being written, or was cut off."""
    by_id: dict[str, NelTask] = {}
    for line in text.splitlines():
        entry = _parse_task_line(line)
        if entry:
            by_id[entry.id] = entry
    return tuple(by_id.values())


def _parse_task_line(line: str) -> NelTask | None:
    try:
        document = read_json(line)
        config = document.get("config") or {}
        output = (config.get("execution") or {}).get("output_dir")
        at = datetime.fromtimestamp(float(document["timestamp"]), UTC)
        return NelTask(
            invocation=str(document["invocation_id"]),
            id=str(document["job_id"]),
            executor=str(document["executor"]),
            output=str(output or ""),
            at=at,
            data=dict(document.get("data") or {}),
            config=digest(config) if config else "",
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def statuses(text: str) -> dict[str, str]:
    """The state of each job from `nel status --json` or `nel kill`; for a job unknown to nel, by
    the requested id.
    """
    return {
        str(each.get("job_id") or each.get("invocation")): str(each.get("status", ""))
        for each in _parse_json_list(text)
    }


def errors_in(text: str) -> str:
    """The error of one of the jobs, in one line."""
    errors = (
        str(dict(each.get("data") or {}).get("error") or "") for each in _parse_json_list(text)
    )
    return " ".join(next((each for each in errors if each), "").split())


def _parse_json_list(text: str) -> list[dict[str, Any]]:
    tables = tables_in(text)
    if not tables:
        raise CouldNotLook(f"nel printed something other than jobs: {scrub(text.strip())[:120]!r}")
    return tables


def nel_state_of(word: str) -> JobState:
    """
    >>> nel_state_of("success").value, nel_state_of("NOT FOUND").value
    ('succeeded', 'unknown')
    """
    return STATES.get(plain(word), JobState.UNKNOWN)


def plain(word: str) -> str:
    """A state as in nel's JSON, from any of the forms that nel prints.

    >>> plain("NOT FOUND")
    'not_found'
    """
    return word.strip().lower().replace(" ", "_")


def invocation_in(text: str) -> str | None:
    matches = _INVOCATION.findall(text)
    return matches[-1] if matches else None


@dataclass(frozen=True)
class Stages:
    """A local job's own stage files."""

    started: datetime | None = None
    ended: datetime | None = None
    exit_code: int | None = None


def stages(running: str, end_text: str) -> Stages:
    """From `stage.running` and `stage.exit`: a time in UTC, and at the end the exit code.

    >>> stages("", "2026-11-20T18:28:43Z 5").exit_code
    5
    """
    began, end_match = _STAGE.match(running.strip()), _STAGE.match(end_text.strip())
    return Stages(
        datetime.fromisoformat(began[1]) if began else None,
        datetime.fromisoformat(end_match[1]) if end_match else None,
        int(end_match[2]) if end_match and end_match[2] else None,
    )


def of_output(tasks: Iterable[NelTask], output: str) -> dict[str, list[NelTask]]:
    """The jobs of each invocation with that very output directory, newest invocation first."""
    by_invocation: dict[str, list[NelTask]] = {}
    for entry in sorted(
        (e for e in tasks if e.output.rstrip("/") == output), key=lambda e: e.at, reverse=True
    ):
        by_invocation.setdefault(entry.invocation, []).append(entry)
    return {name: sorted(jobs, key=_task_order) for name, jobs in by_invocation.items()}


def _task_order(entry: NelTask) -> tuple[int, str]:
    last = entry.id.rpartition(".")[2]
    return (int(last), "") if last.isdigit() else (0, last)


def last_ids(text: str, jobs: Sequence[NelTask]) -> dict[str, str]:
    """The newest Slurm job of each: nel starts a job again under a new number, and notes it next to
    the script.
    """
    newer_ids = dict(
        line.split(" ", 1) for line in text.splitlines() if re.fullmatch(r"[0-9]+ [0-9]+", line)
    )
    return {job.slurm_id: newer_ids.get(job.slurm_id, job.slurm_id) for job in jobs if job.slurm_id}
