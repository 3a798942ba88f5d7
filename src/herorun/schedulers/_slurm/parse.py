"""Builds the queries for squeue and sacct, and parses their answers. Pure.

Every time is asked for as seconds since 1970, because Slurm prints the local time of whatever host
it runs on and names no zone. A job's name may hold any character, line breaks too, and could so
write rows of other jobs: the separator of the columns is new for each query (`separator` below), so
no name can contain it. Variables such as SQUEUE_PARTITION, which would silently leave jobs out of
the answer, are unset.
"""

import re
from collections.abc import Iterable
from datetime import UTC, datetime
from urllib.parse import quote, unquote

from herorun.core.errors import CouldNotLook
from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_regex import lazy_regex
from herorun.core.redaction.scrub import scrub

SEPARATOR = "\x1f"  # begins what parts the columns
MARK = "herorun"  # the first word of our comments
SQUEUE = (
    "JobArrayID Name UserName State exit_code RestartCnt SubmitTime StartTime EndTime NumNodes "
    "NodeList Comment Reason"
)
SACCT = (
    "JobID JobName User State ExitCode Submit Start End NNodes NodeList Reason Comment SubmitLine"
)
NO_ACCOUNTING = "accounting storage is disabled"
_WITHOUT = (
    "SQUEUE_ACCOUNT SQUEUE_ALL SQUEUE_ARRAY SQUEUE_CLUSTERS SQUEUE_FORMAT SQUEUE_FORMAT2 "
    "SQUEUE_LICENSES SQUEUE_LOCAL SQUEUE_NAMES SQUEUE_PARTITION SQUEUE_PRIORITY SQUEUE_QOS "
    "SQUEUE_SIBLING SQUEUE_SORT SQUEUE_STATES SQUEUE_USERS SACCT_LOCAL SLURM_CLUSTERS"
)
_ID = lazy_regex(r"([0-9]+)([_+].*)?")
_TAG = lazy_regex(
    rf"\b{MARK} (?P<run>[0-9a-f]{{16}}) (?P<request>[0-9a-f]{{12}}) (?P<at>[0-9]+)(?: "
    r"stop=(?P<by>\S+))?"
)


@dataclass(frozen=True)
class Tag:
    """The content of our comment: whose run, which request, when it was submitted, and who ordered
    the end.
    """

    run: str
    request: str
    at: int
    by: str | None = None

    @property
    def comment(self) -> str:
        stop = f" stop={quote(self.by, safe='@')}" if self.by else ""
        return f"{MARK} {self.run} {self.request} {self.at}{stop}"


@dataclass(frozen=True, kw_only=True)
class SlurmRow:
    """A job as one of the two programs reports it."""

    id: str  # the number alone
    part: str  # `_3` of an array, `+1` of a heterogeneous job; otherwise empty
    name: str
    user: str
    word: str  # the state as Slurm says it
    exit_code: int | None = None
    signal: int | None = None
    restarts: int = 0
    submitted: datetime | None = None
    started: datetime | None = None
    ended: datetime | None = None
    nodes: int | None = None
    node_list: str = ""
    reason: str = ""
    tag: Tag | None = None


def programs(folder: str | None, conf: str | None, program: str, *names: str) -> list[str]:
    """A program of Slurm with its environment in order, the same here and behind ssh."""
    env = ["env", *(f"-u{name}" for name in _WITHOUT.split()), "SLURM_TIME_FORMAT=%s"]
    env += [f"SLURM_CONF={conf}"] if conf else []
    return [*env, f"{folder}/{program}" if folder else program, *names]


def squeue_argv(separator: str, names: Iterable[str] = (), ids: Iterable[str] = ()) -> list[str]:
    """All that the controller remembers, ended jobs too; of these names, or of every job."""
    form = ",".join(f"{field}:{separator}" for field in SQUEUE.split())
    argv = ["squeue", "-h", "-t", "all", "-O", form]
    argv += [f"--name={','.join(names)}"] if names else []
    return argv + ([f"--jobs={','.join(ids)}"] if ids else [])


def sacct_argv(
    separator: str, since: datetime, names: Iterable[str] = (), ids: Iterable[str] = ()
) -> list[str]:
    """The command for the jobs of all users with these names or ids since a time: without a time,
    sacct reports only today.
    """
    form = ",".join(SACCT.split())
    start = f"uts{int(since.timestamp())}"
    argv = [
        "sacct",
        "-a",
        "-X",
        "-n",
        "-P",
        f"--delimiter={separator}",
        f"--format={form}",
        "-S",
        start,
    ]
    return [*argv, f"--jobs={','.join(ids)}" if ids else f"--name={','.join(names)}"]


def squeue_rows(text: str, separator: str) -> tuple[SlurmRow, ...]:
    rows = _tables(text, separator, len(SQUEUE.split()) + 1, "squeue")  # one ends each row too
    return tuple(_squeue_row(fields[:-1]) for fields in rows)


def sacct_rows(text: str, separator: str) -> tuple[SlurmRow, ...]:
    return tuple(
        _sacct_row(fields) for fields in _tables(text, separator, len(SACCT.split()), "sacct")
    )


def _tables(text: str, separator: str, count: int, program: str) -> list[list[str]]:
    """The fields of each job. Names and comments may have line breaks in them; an answer without a
    single job, such as a word about maintenance, is none."""
    lines = text.split("\n")
    rows, strange, at = [], "", 0
    while at < len(lines):
        fields, end = _row_at(lines, at, separator, count)
        if len(fields) == count and _ID.fullmatch(fields[0]):
            rows.append(fields)
            at = end
        else:
            strange = strange or lines[at].strip()
            at += 1
    if strange and not rows:
        raise CouldNotLook(f"{program} printed something other than jobs: {scrub(strange)[:120]!r}")
    return rows


def _row_at(lines: list[str], at: int, separator: str, count: int) -> tuple[list[str], int]:
    """The fields from this line on, as many lines as they take, and where the next ones begin."""
    parts, end = lines[at].count(separator), at + 1
    while 0 < parts < count - 1 and end < len(lines):
        parts, end = parts + lines[end].count(separator), end + 1
    return [field.strip() for field in "\n".join(lines[at:end]).split(separator)], end


def _squeue_row(fields: list[str]) -> SlurmRow:
    row = dict(zip(SQUEUE.split(), fields, strict=True))
    return _slurm_row(
        *(row[name] for name in ("JobArrayID", "Name", "UserName", "State")),
        ending=_wait_status(row["exit_code"]),
        times=(row["SubmitTime"], row["StartTime"], row["EndTime"]),
        nodes=(row["NumNodes"], row["NodeList"]),
        reason=row["Reason"],
        tag=tag_in(row["Comment"]),
        restarts=_parse_int(row["RestartCnt"]) or 0,
    )


def _sacct_row(fields: list[str]) -> SlurmRow:
    row = dict(zip(SACCT.split(), fields, strict=True))
    return _slurm_row(
        *(row[name] for name in ("JobID", "JobName", "User", "State")),
        ending=_code_and_signal(row["ExitCode"]),
        times=(row["Submit"], row["Start"], row["End"]),
        nodes=(row["NNodes"], "" if row["NodeList"] == "None assigned" else row["NodeList"]),
        reason=row["Reason"],
        # accounting keeps comments only if it is configured to
        tag=tag_in(row["Comment"]) or tag_in(row["SubmitLine"]),
    )


def _slurm_row(
    ident: str,
    name: str,
    user: str,
    word: str,
    *,
    ending: tuple[int | None, int | None],
    times: tuple[str, str, str],
    nodes: tuple[str, str],
    reason: str,
    tag: Tag | None,
    restarts: int = 0,
) -> SlurmRow:
    """`ending` is the exit code and the signal; `times` are those of submission, start and end;
    `nodes` their number and their names.
    """
    number, part = _split_array_id(ident)
    submitted_at, started_at, ended_at = map(_parse_slurm_time, times)
    return SlurmRow(
        id=number,
        part=part,
        name=name,
        user=user,
        word=word,
        exit_code=ending[0],
        signal=ending[1],
        restarts=restarts,
        submitted=submitted_at,
        started=started_at,
        ended=ended_at,
        nodes=_parse_int(nodes[0]),
        node_list=nodes[1],
        reason="" if reason == "None" else reason,
        tag=tag,
    )


def log_in(text: str) -> str:
    """The log that `scontrol show job` names; empty if it names none, or if a job's own name
    contains one too.
    """
    paths = re.findall(r"^ *StdOut=(.*?)\n *\w+=", text, re.MULTILINE | re.DOTALL)
    return paths[0].strip().replace("%%", "%") if len(paths) == 1 else ""


def tag_in(text: str) -> Tag | None:
    match = _TAG.search(text)
    return (
        Tag(match["run"], match["request"], int(match["at"]), unquote(match["by"] or "") or None)
        if match
        else None
    )


def _split_array_id(ident: str) -> tuple[str, str]:
    match = _ID.fullmatch(ident)
    assert match  # seen before
    return match[1], match[2] or ""


def _wait_status(text: str) -> tuple[int | None, int | None]:
    """squeue gives the number that the kernel gave: 768 is exit code 3, and 9 is signal 9.

    >>> _wait_status("35072"), _wait_status("9"), _wait_status("3:0")
    ((137, None), (None, 9), (3, None))
    """
    if ":" in text:
        return _code_and_signal(text)
    status = _parse_int(text)
    if status is None:
        return None, None
    return (None, status & 127) if status & 127 else (status >> 8, None)


def _code_and_signal(text: str) -> tuple[int | None, int | None]:
    code, _, signal = text.partition(":")
    return (None, _parse_int(signal)) if _parse_int(signal) else (_parse_int(code), None)


def _parse_int(text: str) -> int | None:
    return int(text) if text.isdigit() else None


def _parse_slurm_time(text: str) -> datetime | None:
    """None if the event has not happened: `N/A`, `Unknown`, `None`, 0."""
    return datetime.fromtimestamp(int(text), UTC) if text.isdigit() and int(text) else None
