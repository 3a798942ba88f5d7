"""The end of a job's log, by Ray's state API: the Jobs API gives only the whole of it, and only if
it is UTF-8.
"""

from urllib.parse import urlencode

from herorun.core.errors import CouldNotLook
from herorun.core.lazy_regex import lazy_regex
from herorun.schedulers._ray.parse import STATES, RayJob
from herorun.schedulers._ray.snapshot import RaySnapshot

MAX_LOG = 2**20  # bytes of a log that are kept
_PREFACE = 2  # lines of Ray's own; the command that one of them repeats may have more
_SETTING_UP = lazy_regex(
    rb"\A[-0-9]+ [0-9:,]+\tINFO job_manager\.py:\d+ -- Runtime env is setting up\.\n"
)


def read_log(snapshot: RaySnapshot, record: RayJob, lines: int) -> str:
    """At most the last MiB; FileNotFoundError before the job is placed. Of one whose log is lost,
    Ray's last words.
    """
    has_ended = STATES.get(record.status) is not None and STATES[record.status].is_final
    if not record.node and not has_ended:
        raise FileNotFoundError(f"{record.name} has no log until Ray starts it")
    try:
        return (
            own_lines(_fetch_log_end(snapshot, record, lines), record, lines)
            if record.node
            else _describe_missing_log(record, lines)
        )
    except CouldNotLook:
        if not has_ended or not record.message:
            raise
        return _describe_missing_log(record, lines)


def _fetch_log_end(snapshot: RaySnapshot, record: RayJob, lines: int) -> bytes:
    query = {
        "node_id": record.node,
        "filename": f"job-driver-{record.name}.log",
        "lines": lines + _PREFACE + record.entrypoint.count("\n"),
        "timeout": max(1, int(snapshot.dashboard.timeout)),
    }
    return snapshot.dashboard.ask("GET", f"/api/v0/logs/file?{urlencode(query)}", end=MAX_LOG).body


def own_lines(data: bytes, record: RayJob, lines: int) -> str:
    """The log without the two lines of Ray's own. The one that repeats the command is written after
    its start, so it may stand amid the command's first lines."""
    own = _SETTING_UP.sub(b"", data, count=1)
    own = own.replace(
        f"Running entrypoint for job {record.name}: {record.entrypoint}\n".encode(), b"", 1
    )
    return _last(own, lines).decode("utf-8", "replace")


def _describe_missing_log(record: RayJob, lines: int) -> str:
    """What Ray itself reports, if the log is lost or the job ended before it had one."""
    return _last(record.message.encode(), lines).decode("utf-8", "replace")


def _last(data: bytes, lines: int) -> bytes:
    return b"".join(data.splitlines(keepends=True)[-lines:]) if lines > 0 else b""
