"""W&B's own log of a run, read from this machine's disk while it is written: offline or online,
without W&B's client.

W&B writes its log in pieces of 32 KiB, or every 15 seconds. Each process that logs has its own
folder, even if it resumes a run: all folders of the id are one source, in the order of their names,
and each is an attempt.
"""

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from herorun.core.evidence import TrackerIdentity, TrackerState
from herorun.core.lazy_pydantic import Field
from herorun.core.lazy_regex import lazy_regex
from herorun.core.plan import TrackerRun
from herorun.core.ports import AdapterOptions, Place, Rows, Tracker
from herorun.trackers._leveldb_log import records
from herorun.trackers._open_remote import local_path
from herorun.trackers._protobuf_wire import MalformedMessage
from herorun.trackers._tail_reader import Batch, ReadPosition, read_growing
from herorun.trackers._wandb.edges import beginning_of, edges_of
from herorun.trackers._wandb.environment import (
    CLIENT_VARIABLES,
    OFFLINE,
    RUN_ID,
    SERVICE,
    wandb_problem,
)
from herorun.trackers._wandb.identity import NAME_RULES
from herorun.trackers._wandb.mentions import wandb_mentions
from herorun.trackers._wandb.records import HISTORY, kind_of, row_of

_FOLDER = lazy_regex(r"(?:offline-)?run-(\d{8}_\d{6})-(.+)", re.DOTALL)
_FILE = lazy_regex(r"run-.+\.wandb", re.DOTALL)


class Options(AdapterOptions):
    path: str = Field(
        "wandb",
        min_length=1,
        description="W&B's folder, the folder of one run, or one .wandb "
        "file; absolute, or relative to "
        "the output root. "
        "A link such as `wandb/latest-run` means all folders of that run.",
    )
    id: str | None = Field(
        None, min_length=1, description="Run id, by which its folders are found."
    )
    name: str | None = Field(None, min_length=1, description="Display name.")


def connect(options: Options, place: Place) -> Tracker:
    return WandbOffline(local_path("wandb_offline", options.path, place), options.id, options.name)


class WandbOffline:
    """The logs of one run."""

    client_variables = CLIENT_VARIABLES
    mentions = staticmethod(wandb_mentions)
    label = "W&B"
    resumes_by_id = True
    drops_past_steps = True
    name_rules = NAME_RULES
    id_variable = RUN_ID

    def __init__(self, path: Path, identity: str | None = None, name: str | None = None) -> None:
        self._path = path
        self._id = identity
        self._name = name

    def read(self, cursor: str) -> Rows:
        """The next rows; none only if there are no more. A long run takes several reads."""
        return read_growing(self._logs(), cursor, _read_wandb_records)

    def client_problem(self, name: str, value: str, run: TrackerRun, forks: bool) -> str:
        return wandb_problem(name, value, run, forks, OFFLINE)

    def identify(self) -> TrackerIdentity:
        """The run by its newest log.

        A log without an end is of a running process, or of a killed one: only a missing heartbeat
        distinguishes them.
        """
        return replace(self._identify(), service=SERVICE)

    def _identify(self) -> TrackerIdentity:
        try:
            logs = self._logs()
        except FileNotFoundError:
            return TrackerIdentity(state=TrackerState.ABSENT, id=self._id or "")
        except OSError as error:
            why = f"its log could not be read: {error.strerror or error}"
            return TrackerIdentity(state=TrackerState.UNREACHABLE, why=why, id=self._id or "")
        try:
            edges = edges_of(list(logs.values()))
            namesakes = self._namesakes(edges.id)
        except (OSError, MalformedMessage) as error:
            return TrackerIdentity(
                state=TrackerState.UNREACHABLE,
                why=f"its log could not be read: {error}",
                id=self._id or "",
            )
        return TrackerIdentity(
            state=edges.state,
            id=edges.id or self._id or "",
            display_name=edges.display_name,
            namesakes=namesakes,
            last_step=edges.last_step,
            heartbeat=edges.heartbeat,
            config=edges.config,
        )

    def _logs(self) -> Mapping[str, Path]:
        """The run's logs by name, oldest first; FileNotFoundError where there is none yet."""
        logs = list(self._find_logs())
        if not logs:
            whose = f" of the run {self._id}" if self._id else ""
            raise FileNotFoundError(f"{self._path} holds no .wandb log{whose}")
        return {f"{log.parent.name}/{log.name}": log for log in logs}

    def _find_logs(self) -> Iterator[Path]:
        if not self._path.is_dir():
            self._path.stat()  # raises what is wrong with it
            yield self._path
        elif own := _log_in(self._path):
            match = _FOLDER.fullmatch(self._path.resolve().name)
            if self._path.is_symlink() and match:
                yield from _of_run(self._path.resolve().parent, match[2])
            else:
                yield own
        elif self._id:
            yield from _of_run(self._inner(), self._id)
        elif newest := _log_in(self._inner() / "latest-run"):
            yield from WandbOffline(newest.parent, self._id)._find_logs()

    def _inner(self) -> Path:
        """W&B makes a folder `wandb` in the configured one."""
        inner = self._path / "wandb"
        return inner if inner.is_dir() else self._path

    def _namesakes(self, own: str) -> tuple[str, ...]:
        """Ids of the other runs in the folder with the contract's display name."""
        if not self._name or not self._path.is_dir() or _log_in(self._path):
            return ()
        runs = (beginning_of(log) for log in _of_run(self._inner(), None))
        return tuple(
            sorted({run.id for run in runs if run.display_name == self._name and run.id != own})
        )


def _of_run(folder: Path, identity: str | None) -> Iterator[Path]:
    """The logs of a run, or of all, in the order of the time in their folders' names."""
    matches = [match for name in os.listdir(folder) if (match := _FOLDER.fullmatch(name))]
    for match in sorted(matches, key=lambda match: (match[1], match[0])):
        if identity in (None, match[2]) and (log := _log_in(folder / match[0])):
            yield log


def _log_in(folder: Path) -> Path | None:
    """The log in a run's folder; None where there is none, or not yet."""
    try:
        names = [name for name in os.listdir(folder) if _FILE.fullmatch(name)]
    except (FileNotFoundError, NotADirectoryError):
        return None
    return folder / min(names) if names else None


def _read_wandb_records(
    file: BinaryIO, name: str, mark: ReadPosition, batch: Batch
) -> ReadPosition:
    attempt, end_offset = name.partition("/")[0], mark.offset
    for end, record in records(file, mark.offset):
        try:
            if record is None:
                raise MalformedMessage("a damaged record")
            kind, content = kind_of(record)
            row = row_of(content, attempt) if kind == HISTORY else None
            if row:
                batch.rows.append(row)
            elif kind == HISTORY:
                raise MalformedMessage("a row without a step")
        except MalformedMessage as why:
            batch.problems.append(f"{name}, before byte {end}: {why}")
        end_offset = end
        if batch.is_full(end - mark.offset):
            break
    return ReadPosition(end_offset)
