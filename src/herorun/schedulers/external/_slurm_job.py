"""What scontrol and sacct say about one job: its owner, its result, how its parts ended. Pure."""

import re
from dataclasses import replace

from herorun.core.adhoc_jobs.tasks import OOM_CODE, TaskEnd
from herorun.core.errors import CouldNotLook
from herorun.core.evidence import JobState
from herorun.core.lazy_regex import lazy_regex
from herorun.core.ports import Origin
from herorun.schedulers._slurm.state_names import slurm_state_of

TASK_FIELDS = "JobID State ExitCode ElapsedRaw MaxRSS ReqMem"
_SIZE = lazy_regex(r"([0-9.]+)([KMGT]?)[cn]?")
_MB = {"": 1 / 2**20, "K": 1 / 1024, "M": 1.0, "G": 1024.0, "T": 1024.0**2}


def origin_in(text: str, uid: str) -> Origin:
    """The job as `scontrol show job` reports it, for the user `uid`.

    Its first line has the job's name, which may hold line breaks and any words. A field that stands
    twice is unknown; if it is the owner, that is `CouldNotLook`.

    >>> text = "JobId=7\\n   UserId=ada(1000) GroupId=ada\\n   Command=/x/a b.sh\\n   WorkDir=/x\\n"
    >>> origin_in(text, "1000").details
    '/x/a b.sh'
    """
    owners = re.findall(r"\bUserId=([^ (]*)\((\d+)\)", text)
    if len(owners) > 1:
        raise CouldNotLook("`scontrol` names two owners of it, one of them perhaps in its job name")
    user, number = owners[0] if owners else ("", "")
    command, folder = _single_value("Command", text), _single_value("WorkDir", text)
    return Origin(
        user,
        number == uid if number else None,
        details="" if command == "(null)" else command,
        folder=folder,
    )


def _single_value(key: str, text: str) -> str:
    values = re.findall(rf"^ +{key}=(.*)$", text, re.MULTILINE)
    return str(values[0]) if len(values) == 1 else ""


def result_in(text: str) -> str:
    """The result of a job; for an array, that of a part that did not complete.

    >>> result_in("COMPLETED|0:0|00:01:00\\nFAILED|1:0|00:00:09\\n")
    'FAILED, exit code 1:0, elapsed 00:00:09'
    """
    parts = [line.split("|") for line in text.splitlines() if line.count("|") == 2]
    result = next((part for part in parts if part[0] != "COMPLETED"), parts[0] if parts else None)
    return f"{result[0]}, exit code {result[1]}, elapsed {result[2]}" if result else ""


def task_ends(text: str) -> tuple[TaskEnd, ...]:
    """The parts of a job; a part's peak is the largest of its steps'.

    >>> task_ends("7|FAILED|9:0|60||2000M\\n7.0|FAILED|9:0|60|1990M|\\n")[0].peak_mb
    1990.0
    """
    jobs: dict[str, TaskEnd] = {}
    peaks: dict[str, float] = {}
    for line in text.splitlines():
        fields = line.split("|")
        if len(fields) != len(TASK_FIELDS.split()):
            continue
        ident, state, code, elapsed_text, rss, limit = fields
        job_id = ident.partition(".")[0]
        if peak := _mb(rss):
            peaks[job_id] = max(peak, peaks.get(job_id, 0.0))
        if ident == job_id:
            jobs[job_id] = TaskEnd(
                name=job_id,
                state=state,
                exit_code=OOM_CODE if state == "OUT_OF_MEMORY" else _parse_exit_code(code),
                seconds=float(elapsed_text) if elapsed_text.isdigit() else None,
                limit_mb=_mb(limit),
                failed=slurm_state_of(state)
                not in (JobState.SUCCEEDED, JobState.RUNNING, JobState.PENDING),
            )
    return tuple(_with_peak(task, peaks.get(name)) for name, task in jobs.items())


def _with_peak(task: TaskEnd, peak: float | None) -> TaskEnd:
    """Accounting drops the 128 of a code: a 9 at the limit is a 137."""
    with_peak = replace(task, peak_mb=peak)
    return (
        replace(with_peak, exit_code=OOM_CODE)
        if with_peak.exit_code == OOM_CODE - 128 and with_peak.near_limit
        else with_peak
    )


def _parse_exit_code(text: str) -> int | None:
    """137 where it was ended by signal 9."""
    code, _, signal = text.partition(":")
    if signal.isdigit() and int(signal):
        return 128 + int(signal)
    return int(code) if code.isdigit() else None


def _mb(text: str) -> float | None:
    match = _SIZE.fullmatch(text.strip())
    return float(match[1]) * _MB[match[2]] if match and float(match[1]) else None
