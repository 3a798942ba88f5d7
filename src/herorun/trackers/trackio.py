"""Trackio's database of a project, read-only, while it is written, without trackio.

Trackio gives each process that begins a run a random id, unless the trainer resumes: all runs of
the display name are one source, and each id is an attempt. It does not record a run's end, so this
adapter does not report one either.
"""

import hashlib
import json
import re
import sqlite3
from datetime import UTC, datetime
from pathlib import Path

from herorun.core.errors import WrongUse
from herorun.core.evidence import TrackerAlert
from herorun.core.lazy_pydantic import Field
from herorun.core.lazy_regex import lazy_regex
from herorun.core.ports import AdapterOptions, Place, Row, Rows, Tracker
from herorun.trackers._flatten import numbers
from herorun.trackers._open_remote import local_path
from herorun.trackers._sqlite import find_last_change, reading

MAX_ROWS = 50_000  # a read; the next one continues there
KEPT_PROBLEMS = 20
_CURSOR = lazy_regex(r"1:(\d{1,18}):([0-9a-f]{16}|)", re.ASCII)
_MINE = "run_id = :id or run_name = :name"
_NEXT = (
    f"select id, run_id, timestamp, step, metrics from metrics where id > :after and ({_MINE}) "
    "order by id limit :most"
)
_ALERTS = (
    "select id, run_id, timestamp, title, text, level, step from alerts where id > :after and "
    f"({_MINE}) order by id"
)


class Options(AdapterOptions):
    path: str = Field(
        "trackio",
        min_length=1,
        description=(
            "The folder of trackio's databases (TRACKIO_DIR), or one .db file; absolute, or "
            "relative to the output root."
        ),
    )
    project: str | None = Field(
        None, min_length=1, description="The project, if `path` is the folder of databases."
    )
    id: str | None = Field(None, min_length=1, description="Run id, if the trainer sets one.")
    name: str | None = Field(None, min_length=1, description="Display name.")


def connect(options: Options, place: Place) -> Tracker:
    path = local_path("trackio", options.path, place)
    if path.suffix != ".db":
        if not options.project:
            raise WrongUse(
                "The tracker trackio needs [tracker] `project`, or the database's .db file as "
                "`path`."
            )
        path /= f"{file_name(options.project)}.db"
    return Trackio(path, options.id or "", options.name or options.id or "")


def file_name(project: str) -> str:
    """The file name of a project's database."""
    return "".join(each for each in project if each.isalnum() or each in "-_").rstrip() or "default"


class Trackio:
    """One run of one database."""

    def __init__(self, path: Path, identity: str, name: str) -> None:
        self._path = path
        self._mine = {"id": identity, "name": name}

    def read(self, cursor: str) -> Rows:
        """The next rows; none only if there are no more."""
        at = find_last_change(self._path)
        with reading(self._path, "metrics") as database:
            after = _find_resume_row(database, cursor)
            is_restart = bool(cursor) and after is None
            parameters = {**self._mine, "after": after or 0, "most": MAX_ROWS}
            records = database.execute(_NEXT, parameters).fetchall()
            rows, problems = _parse_trackio_rows(records)
            last = int(records[-1][0]) if records else after or 0
            while records and not rows:  # no rows mean that there are no more
                records = database.execute(_NEXT, {**parameters, "after": last}).fetchall()
                rows, more = _parse_trackio_rows(records)
                problems += more
                last = int(records[-1][0]) if records else last
            now = f"1:{last}:{_sample(database, last)}"
        return Rows(
            rows=tuple(rows),
            cursor=now,
            changed_at=at,
            restarted=is_restart,
            problems=tuple(problems[-KEPT_PROBLEMS:]),
        )

    def alerts(self, since: int = 0) -> tuple[TrackerAlert, ...]:
        """The run's alerts after the one of that number, oldest first."""
        with reading(self._path, "alerts") as database:
            records = database.execute(_ALERTS, {**self._mine, "after": since}).fetchall()
        return tuple(
            TrackerAlert(
                number=int(number),
                attempt=str(run),
                title=str(title),
                text=str(text or ""),
                level=str(level),
                step=step,
                at=_utc(at),
            )
            for number, run, at, title, text, level, step in records
        )


def _find_resume_row(database: sqlite3.Connection, cursor: str) -> int | None:
    """The row to continue after; None if the content is not that of the cursor."""
    match = _CURSOR.fullmatch(cursor)
    return int(match[1]) if match and _sample(database, int(match[1])) == match[2] else None


def _sample(database: sqlite3.Connection, row: int) -> str:
    """A digest by which a row is recognised; "" without one. SQLite does not reuse the id of a
    deleted row.
    """
    record = database.execute(
        "select run_id, timestamp, step, metrics from metrics where id = ?", (row,)
    ).fetchone()
    return hashlib.sha256(repr(record).encode()).hexdigest()[:16] if record else ""


def _parse_trackio_rows(
    records: list[tuple[int, str, str, int, bytes | str]],
) -> tuple[list[Row], list[str]]:
    rows: list[Row] = []
    problems: list[str] = []
    for number, run, at, step, metrics in records:
        try:
            document = json.loads(metrics)
            if not isinstance(document, dict) or not isinstance(step, int):
                raise ValueError("no table of metrics under a step")
            rows.append(Row(step, dict(numbers(document)), _utc(at), run))
        except (ValueError, TypeError, RecursionError):
            problems.append(
                f"row {number} of the table metrics is no table of metrics under a step"
            )
    return rows, problems


def _utc(text: str) -> datetime | None:
    """The time; None without a zone."""
    try:
        moment = datetime.fromisoformat(text)
        return moment.astimezone(UTC) if moment.tzinfo else None
    except (ValueError, TypeError, OverflowError):
        return None
