"""Parses the answers of iris, in the three generations of its command line. Pure."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from datetime import UTC, datetime
from typing import Any

from herorun.core.errors import CouldNotLook
from herorun.core.finding import count
from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_regex import lazy_regex
from herorun.core.redaction.scrub import scrub
from herorun.schedulers._iris.argv import LIMIT, Generation
from herorun.schedulers._iris.state_names import plain
from herorun.schedulers._json_output import tables_in

NONE = "No jobs found."
_LINE = lazy_regex(
    r"\[?(?:\d{4}-\S+[T ])?[0-9:.]+\S*\]?(?: worker=\S+)? (?:task=)?(/\S+?)(?: \||:) ?(.*)",
    re.DOTALL,
)
_SUBMISSION = lazy_regex(r"Job submitted: (/\S+)")
_STATE = lazy_regex(r"^State: (\S+)(?: +exit=(-?\d+))?", re.MULTILINE)
_TASKS = lazy_regex(r"^Tasks: \d+/(\d+) completed(.*)$", re.MULTILINE)
_ERROR = lazy_regex(r"^Error: (.*)$", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class IrisRow:
    """A job as iris reports it."""

    id: str  # `/user/job`, a child's below it
    word: str  # the state as Iris names it
    submitted: datetime | None = None  # None: not reported, or without a zone
    started: datetime | None = None
    ended: datetime | None = None
    reason: str = ""
    exit_code: int | None = None
    tasks: int | None = None
    counts: dict[str, int] = field(default_factory=dict)  # tasks by state


@dataclass(frozen=True)
class IrisListing:
    rows: tuple[IrisRow, ...]
    partial: str = ""  # why some jobs may be missing


def listing(generation: Generation, out: str, err: str) -> IrisListing:
    """The list; `CouldNotLook` for any other output, including an empty one."""
    rows = _from_json(out) if generation is Generation.A else _from_table(out)
    full = (
        f"Iris lists no more than {LIMIT} jobs"
        if generation is Generation.C and len(rows) >= LIMIT
        else ""
    )
    warning = next((line for line in err.splitlines() if line.startswith("Warning: ")), "")
    return IrisListing(rows, full or warning.removeprefix("Warning: "))


def _from_json(text: str) -> tuple[IrisRow, ...]:
    rows = tables_in(text)
    if rows is None or not all(each.get("job_id") for each in rows):
        raise CouldNotLook(f"iris printed something other than jobs: {scrub(text.strip())[:120]!r}")
    return tuple(_parse_iris_row(each) for each in rows)


def _parse_iris_row(row: Mapping[str, Any]) -> IrisRow:
    """A row from JSON, in which fields that are zero or empty are absent."""
    word = str(row.get("state", ""))
    peer = str(row.get("peer_status", "")).removeprefix("PEER_STATUS_")
    handover_text = (
        f"handed to {row.get('cluster') or 'another cluster'}: {peer.lower()}"
        if peer not in ("", "NONE", "SYNCED")
        else ""
    )
    reasons = (str(row.get(key, "")) for key in ("error", "pending_reason", "status_message"))
    counts = {
        str(key): _parse_int(value) or 0
        for key, value in dict(row.get("task_state_counts") or {}).items()
    }
    return IrisRow(
        id=str(row["job_id"]),
        word=word,
        submitted=_parse_milliseconds(row.get("submitted_at")),
        started=_parse_milliseconds(row.get("started_at")),
        ended=_parse_milliseconds(row.get("finished_at")),
        reason="; ".join(
            part for part in (next((each for each in reasons if each), ""), handover_text) if part
        ),
        exit_code=_parse_int(row.get("exit_code")),
        tasks=_parse_int(row.get("task_count")),
        counts=counts,
    )


def _parse_milliseconds(timestamp: Any) -> datetime | None:
    milliseconds = _parse_int(timestamp.get("epoch_ms")) if isinstance(timestamp, Mapping) else None
    return datetime.fromtimestamp(milliseconds / 1000, UTC) if milliseconds else None


def _parse_int(value: Any) -> int | None:
    try:
        return int(value)
    except (TypeError, ValueError):
        return None


def _from_table(text: str) -> tuple[IrisRow, ...]:
    """Rows from a table, whose columns begin at their headings; other lines are continued reasons,
    or output of plug-ins.
    """
    lines = text.splitlines()
    if NONE in (line.strip() for line in lines):
        return ()
    at = next((n for n, line in enumerate(lines) if re.match(r"JOB ID +STATE\b", line)), None)
    if at is None:
        raise CouldNotLook(f"iris printed something other than jobs: {scrub(text.strip())[:120]!r}")
    cells = (_cells(lines[at], line) for line in lines[at + 1 :] if line.startswith("/"))
    return tuple(
        IrisRow(
            id=each["JOB ID"],
            word=each["STATE"],
            submitted=_parse_zoned_time(each.get("SUBMITTED", "")),
            reason=each.get("REASON", ""),
        )
        for each in cells
    )


def _cells(heading: str, line: str) -> dict[str, str]:
    starts = [(match[0], match.start()) for match in re.finditer(r"\S+(?: \S+)*", heading)]
    ends = [start for _, start in starts[1:]] + [len(line)]
    return {name: line[start:end].strip() for (name, start), end in zip(starts, ends, strict=True)}


def _parse_zoned_time(text: str) -> datetime | None:
    """A time with a zone; None without a zone, because it must not be compared with now."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment.astimezone(UTC) if moment.tzinfo else None


def add_details(generation: Generation, row: IrisRow, text: str) -> IrisRow:
    """The row with the details of `job summary` or `job describe`; unchanged if there are none."""
    details = _summary(text) if generation is Generation.A else _parse_description(text)
    if details is None or plain(details.word) != plain(row.word):
        return row  # the job changed between the two queries: the next one shows it
    return IrisRow(
        id=row.id,
        word=row.word,
        submitted=row.submitted,
        started=row.started,
        ended=row.ended,
        reason=details.reason or row.reason,
        exit_code=details.exit_code if details.exit_code is not None else row.exit_code,
        tasks=details.tasks if details.tasks is not None else row.tasks,
        counts=details.counts or row.counts,
    )


def _summary(text: str) -> IrisRow | None:
    start = text.find("{")
    try:
        document = json.loads(text[start:]) if start >= 0 else None
    except ValueError:
        return None
    if not isinstance(document, dict):
        return None
    tasks = [task for task in document.get("tasks") or () if isinstance(task, dict)]
    codes = [_parse_int(task.get("exit_code")) for task in tasks]
    return IrisRow(
        id=str(document.get("job_id", "")),
        word=str(document.get("state", "")),
        reason="; ".join(
            filter(None, (str(document.get("error") or ""), _describe_killed_tasks(tasks)))
        ),
        exit_code=_first_failure([_parse_int(document.get("exit_code")), *codes]),
        tasks=_parse_int(document.get("task_count")),
        counts={
            str(key): _parse_int(value) or 0
            for key, value in dict(document.get("task_state_counts") or {}).items()
        },
    )


def _describe_killed_tasks(tasks: Sequence[Mapping[str, Any]]) -> str:
    """How many tasks were killed, and their memory: near their limit the kernel killed them."""
    killed_tasks = [task for task in tasks if _parse_int(task.get("exit_code")) in (137, -9)]
    peak = max((_parse_int(task.get("memory_peak_mb")) or 0 for task in killed_tasks), default=0)
    if not peak:
        return ""
    return (
        f"{len(killed_tasks)} of {count(len(tasks), 'task')} ended by SIGKILL, with up to {peak} "
        "MB of memory in use"
    )


def _parse_description(text: str) -> IrisRow | None:
    state = _STATE.search(text)
    if not state:
        return None
    tasks, error = _TASKS.search(text), _ERROR.search(text)
    counts = dict(re.findall(r"(\w+)=(\d+)", tasks[2])) if tasks else {}
    codes = [_parse_int(state[2]), *(_parse_int(code) for code in _task_codes(text))]
    return IrisRow(
        id="",
        word=state[1],
        reason=error[1] if error else "",
        exit_code=_first_failure(codes),
        tasks=int(tasks[1]) if tasks else None,
        counts={word: int(count) for word, count in counts.items()},
    )


def _task_codes(text: str) -> list[str]:
    lines = text.splitlines()
    at = next(
        (n for n, line in enumerate(lines) if re.match(r"\s*TASK +STATE +EXIT\b", line)), None
    )
    if at is None:
        return []
    return [
        match[1] for line in lines[at + 1 :] if (match := re.match(r"\s*\d+ +\w+ +(-?\d+)\b", line))
    ]


def _first_failure(codes: Iterable[int | None]) -> int | None:
    """The first exit code of a failed task: the job's own code is 0 until its end, and often after
    it.
    """
    present = [code for code in codes if code is not None]
    return next((code for code in present if code), 0 if present else None)


def log_text(out: str, job: str) -> str:
    """The tasks' output. With several tasks, each line has the name of its task."""
    task_lines: list[tuple[str, str]] = []
    for line in out.split("\n")[: -1 if out.endswith("\n") else None]:
        match = _LINE.fullmatch(line)
        task = match[1] if match else task_lines[-1][0] if task_lines else job
        task_lines.append((task, match[2] if match else line))
    alone = len({task for task, _ in task_lines}) <= 1
    return "".join(
        f"{'' if alone else task.removeprefix(job).strip('/') + ': '}{line}\n"
        for task, line in task_lines
    )


def submitted_id(out: str, err: str) -> str | None:
    """The job's id, from its own line on standard output, or, for older versions, from the log
    line.

    >>> submitted_id("", "I0701 Job submitted: /ada/tiny-1")
    '/ada/tiny-1'
    """
    bare = [line.strip() for line in out.splitlines() if re.fullmatch(r"/\S+/\S+", line.strip())]
    job_ids = _SUBMISSION.findall(f"{out}\n{err}")
    return (bare or job_ids or [None])[-1]
