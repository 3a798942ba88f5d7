"""The second query of a job of nel: an unconfirmed end counts once none of its files has changed
since the first.

The job monitors around nel take `failed`, `killed`, `error` and `not found` for ends; nel also
reports them if its own query failed. A job that is then gone counts as gone, not failed: how it
ended is unknown.
"""

import os
from contextlib import suppress
from dataclasses import field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from herorun.core.canonical_json import canonical
from herorun.core.evidence import JobState
from herorun.core.lazy_dataclass import dataclass
from herorun.core.untrusted_json import read_json
from herorun.schedulers._nel.parse import Stages, plain
from herorun.schedulers._nel.state import JudgedTask, NoSlurmJob
from herorun.system.files import make_folders, write_atomic

CONFIRM_AFTER = timedelta(
    seconds=120
)  # between the two queries: as long as the monitors wait after a start
QUIET = timedelta(
    hours=1
)  # without a change in its folder, after which a local job does not count as running
ENDS = ("success", "failed", "killed", "error", "not_found")


@dataclass(frozen=True)
class EndEvidence:
    """The evidence for the state that nel reports: a local job's stage files and the newest change
    in its folder, or Slurm's answer.
    """

    stages: Stages = field(default_factory=Stages)
    has_ended: bool = False  # it has written down its end, with an exit code or without
    written_at: datetime | None = None  # None: there is no such folder
    slurm: str = ""


def confirm_state(
    part: JudgedTask, behind: EndEvidence, since: datetime, at: datetime
) -> JudgedTask:
    """The state of a task for which nel has reported the same since `since`. It stays unknown while
    it may run. Pure.
    """
    word = plain(part.raw)
    if part.state is not JobState.UNKNOWN or word not in ENDS or at - since < CONFIRM_AFTER:
        return part
    if part.entry.executor == "slurm":
        return (
            _mark_missing(part, behind.slurm, since)
            if isinstance(behind.slurm, NoSlurmJob)
            else part
        )
    code = behind.stages.exit_code
    if code is not None and word != "failed":
        state = JobState.FAILED if code else JobState.SUCCEEDED
        why = f"{part.reason}; it wrote down exit code {code} itself"
        return replace(part, state=state, reason=why, exit_code=code, ended=behind.stages.ended)
    if behind.has_ended:
        return _mark_missing(part, "it wrote down that it ended, and not how", since)
    if behind.written_at is None or at - behind.written_at >= QUIET:
        return _mark_missing(part, "none of its files changes", since)
    return part


def _mark_missing(part: JudgedTask, why: str, since: datetime) -> JudgedTask:
    reason = (
        f"nel says {part.raw!r} of {part.entry.id} since {since:%Y-%m-%d %H:%M} UTC, and {why}: "
        "how it ended is unknown"
    )
    return replace(part, state=JobState.GONE, reason=reason, exit_code=None, ended=None)


def find_last_change(folder: Path) -> datetime | None:
    """When anything in a task's folder was written last; None where it is not there.

    A file that is deleted meanwhile is skipped. One that cannot be read is an OSError, and never
    counts as unchanged.
    """
    times: list[float] = []
    for top, _, files in os.walk(folder, onerror=_ignore_missing):
        for name in (".", *files):
            with suppress(FileNotFoundError):  # it went away this moment, as a busy job's do
                times.append(os.stat(os.path.join(top, name)).st_mtime)
    return datetime.fromtimestamp(max(times), UTC) if times else None


def _ignore_missing(error: OSError) -> None:
    if not isinstance(error, FileNotFoundError):
        raise error


class UnconfirmedEnds:
    """Since when nel reports its present state of each job that it lost: one small file each, which
    the next process reads too.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def since(self, part: JudgedTask, at: datetime) -> datetime:
        """When a query first reported this state; now, if none did or nothing can be saved."""
        path = self._folder / f"{part.entry.id}.doubt.json"
        with suppress(OSError, ValueError, KeyError, TypeError):
            document = read_json(path.read_bytes())
            if document["word"] == part.raw:
                return datetime.fromtimestamp(document["since"], UTC)
        with suppress(OSError):
            make_folders(self._folder)
            write_atomic(
                path, (canonical({"word": part.raw, "since": int(at.timestamp())}) + "\n").encode()
            )
        return at

    def forget(self, part: JudgedTask) -> None:
        """The end is no longer unconfirmed."""
        with suppress(OSError):
            (self._folder / f"{part.entry.id}.doubt.json").unlink(missing_ok=True)
