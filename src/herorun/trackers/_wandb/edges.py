"""Reads the beginning and the end of a run's logs, however long they are."""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from herorun.core.evidence import TrackerState
from herorun.core.lazy_dataclass import dataclass
from herorun.system._regular_file import open_regular
from herorun.trackers._leveldb_log import BLOCK, records
from herorun.trackers._protobuf_wire import MalformedMessage
from herorun.trackers._wandb.records import CONFIG, EXIT, HISTORY, RUN, kind_of, row_of
from herorun.trackers._wandb.run import WandbRun, config_items, exit_code_of, run_of

_BEGINNING = 4 << 20  # bytes; W&B writes what configures a run before its first row
_END = 8 * BLOCK


@dataclass(frozen=True)
class WandbEdges:
    """A run by its newest log."""

    state: TrackerState
    id: str
    display_name: str
    last_step: int | None
    heartbeat: str  # when the newest log last changed
    config: Mapping[str, Any]


@dataclass(frozen=True)
class RunHeader:
    id: str = ""
    display_name: str = ""
    config: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class WandbExit:
    exit_code: int | None = None
    last_step: int | None = None


def edges_of(logs: Sequence[Path]) -> WandbEdges:
    """The facts of the newest log; the last step of an older one, if the newest has no row yet."""
    newest = logs[-1]
    first_facts, end_facts = beginning_of(newest), end_of(newest)
    steps = (end_of(log).last_step for log in reversed(logs))
    changed_at = datetime.fromtimestamp(os.stat(newest).st_mtime, UTC)
    return WandbEdges(
        _state_of_exit_code(end_facts.exit_code),
        first_facts.id,
        first_facts.display_name,
        next((step for step in steps if step is not None), None),
        changed_at.isoformat(),
        first_facts.config,
    )


def _state_of_exit_code(exit_code: int | None) -> TrackerState:
    if exit_code is None:
        return TrackerState.RUNNING
    return TrackerState.FAILED if exit_code else TrackerState.FINISHED


def beginning_of(log: Path) -> RunHeader:
    """The run's identity and config, if they were written before its first rows."""
    run = WandbRun()
    config: dict[str, Any] = {}
    for end, kind, content in _records(log, 0):
        if kind == RUN:
            run = run_of(content)
            _set_config(config, run.config)
        elif kind == CONFIG:
            _set_config(config, content)
        if end > _BEGINNING or kind == HISTORY:
            break
    config.pop("_wandb", None)  # W&B's own
    return RunHeader(run.id, run.display_name, config)


def end_of(log: Path) -> WandbExit:
    """How the process ended, if it did, and the last step that it logged: searched from the
    end.
    """
    size, back = log.stat().st_size, _END
    while True:
        start = max(size - back, 0) // BLOCK * BLOCK
        end = _end_from(log, start)
        if end.last_step is not None or not start:
            return end
        back *= 8


def _end_from(log: Path, start: int) -> WandbExit:
    """The end, searched from a block's first byte; a record that began in an earlier block is
    skipped.
    """
    exit_code, history = None, b""
    for _, kind, content in _records(log, start):
        if kind == EXIT:
            exit_code = exit_code_of(content)
        elif kind == HISTORY:
            history = content
    row = row_of(history, "") if history else None
    return WandbExit(exit_code, row.step if row else None)


def _records(log: Path, offset: int) -> Iterator[tuple[int, int, bytes]]:
    with open_regular(log) as file:
        for end, record in records(file, offset):
            try:
                yield end, *kind_of(record or b"")
            except MalformedMessage:
                continue


def _set_config(config: dict[str, Any], content: bytes) -> None:
    """Add the values of a ConfigRecord; invalid JSON is left out."""
    for path, raw in config_items(content):
        table: Any = config
        for key in path[:-1]:
            table = table.setdefault(key, {}) if isinstance(table, dict) else None
        if path and isinstance(table, dict):
            with suppress(ValueError, RecursionError):
                table[path[-1]] = json.loads(raw)
