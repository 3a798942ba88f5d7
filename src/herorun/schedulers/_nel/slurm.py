"""Slurm's own answer about the jobs of nel's Slurm executor: one round trip per login node."""

from collections.abc import Mapping, Sequence
from datetime import timedelta

from herorun.core.errors import CouldNotLook
from herorun.core.evidence import Job
from herorun.core.ports import Found, Unknown
from herorun.schedulers._nel.options import Options
from herorun.schedulers._nel.parse import NelTask, last_ids
from herorun.schedulers._nel.state import NoSlurmJob
from herorun.schedulers._slurm.client import Programs, new_separator
from herorun.schedulers._slurm.parse import SlurmRow, sacct_argv, sacct_rows
from herorun.schedulers._slurm.state import Accounting, judge_slurm
from herorun.schedulers._submission_record import SubmissionRecord
from herorun.schedulers._transport import Transport, transport_to

_ABSENT = 44
_PRINT_JOB_ID = (
    'n=$(tail -n 1 -- "$2/.slurm_job_id.list" 2>/dev/null) && [ -n "$n" ] && echo "$1 ${n##* }"; '
    "shift 2"
)
_EACH = f"while [ $# -gt 0 ]; do {_PRINT_JOB_ID}; done; exit 0"
_READ = f'test -e "$1" || exit {_ABSENT}; head -c "$2" -- "$1"'
_TAIL = (
    f'f=$(ls -t -- "$1"/logs/*.log 2>/dev/null | head -n 1); [ -n "$f" ] || exit {_ABSENT}; tail '
    '-n "$2" -- "$f"'
)


def outputs(separator: str) -> list[str]:
    return ["squeue", "-h", "-O", f"JobID:{separator},State:{separator},STDOUT:{separator}"]


def below(text: str, separator: str, folders: Sequence[str]) -> list[str]:
    """The numbers of the jobs whose log lies below one of nel's task folders; those that wait come
    first.

    >>> text = "7|RUNNING|/o/t/logs/slurm-7.log|\\n8|PENDING|/o/t/logs/slurm-%A.log|\\n"
    >>> below(text, "|", ["/o/t"])
    ['8', '7']
    """
    rows = [line.split(separator) for line in text.split("\n") if line.count(separator) >= 3]
    mine = [
        row for row in rows if any(row[2].startswith(f"{folder}/") for folder in folders if folder)
    ]
    return [row[0].strip() for row in sorted(mine, key=lambda row: row[1] != "PENDING")]


class SlurmJobs:
    """Asked on the login node that the options name, otherwise on the one that nel itself uses."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._timeout = options.timeout.total_seconds()

    def jobs(self, tasks: Sequence[NelTask]) -> Mapping[str, Job | str]:
        """Slurm's job of each, or why it is unknown."""
        results: dict[str, Job | str] = {}
        for host in dict.fromkeys(_login(job) for job in tasks):
            mine = [job for job in tasks if _login(job) == host]
            try:
                results.update(self._on_one(mine))
            except CouldNotLook as error:
                results.update({job.id: str(error).rstrip(".") for job in mine})
        return results

    def _on_one(self, jobs: Sequence[NelTask]) -> dict[str, Job | str]:
        slurm = self._programs(jobs[0])
        with_id = [job for job in jobs if job.slurm_id]
        results: dict[str, Job | str] = {
            job.id: NoSlurmJob("nel has written down no Slurm job") for job in jobs
        }
        if not with_id:
            return results
        ids_and_folders = [word for job in with_id for word in (job.slurm_id, job.folder)]
        ids = last_ids(
            slurm.transport.run(["sh", "-c", _EACH, "sh", *ids_and_folders], self._timeout).text,
            with_id,
        )
        newest_ids = sorted(set(ids.values()))
        queue = slurm.queue()
        since = min(job.at for job in with_id) - timedelta(days=1)
        separator = new_separator()
        accounting = sacct_rows(
            slurm.output(sacct_argv(separator, since, ids=newest_ids)), separator
        )
        return {
            **results,
            **{job.id: _find_slurm_job(ids[job.slurm_id], queue, accounting) for job in with_id},
        }

    def _programs(self, job: NelTask) -> Programs:
        return Programs(
            self._transport(job), self._timeout, self._options.slurm_bin, self._options.slurm_conf
        )

    def end(self, jobs: Sequence[NelTask]) -> None:
        """Cancel all their jobs in Slurm. nel cancels only the job that it submitted, and none of
        those that this job has submitted itself: the one that resumed it after a time limit, and
        the one that waits for its end.
        """
        for host in dict.fromkeys(_login(job) for job in jobs):
            mine = [job for job in jobs if _login(job) == host]
            slurm = self._programs(mine[0])
            separator = new_separator()
            numbers = below(
                slurm.output(outputs(separator)), separator, [job.folder for job in mine]
            )
            answer = slurm.ask(["scancel", *numbers]) if numbers else None
            if answer and answer.code:
                raise slurm.trouble("scancel", answer)

    def tail(self, job: NelTask, lines: int) -> str | None:
        """None if it has no log yet."""
        transport = self._transport(job)
        answer = transport.run(
            ["sh", "-c", _TAIL, "sh", job.folder, str(max(0, lines))], self._timeout
        )
        if answer.code == _ABSENT:
            return None
        if answer.code:
            raise CouldNotLook(
                f"The log of {job.id} on {transport.where} could not be read: {answer.complaint}"
            )
        return answer.out.decode("utf-8", "replace")

    def read(self, job: NelTask, name: str, most: int) -> str | None:
        """The first `most` bytes of a file in its folder; None without a file."""
        transport = self._transport(job)
        answer = transport.run(
            ["sh", "-c", _READ, "sh", f"{job.folder}/{name}", str(most)], self._timeout
        )
        if answer.code == _ABSENT:
            return None
        if answer.code:
            raise CouldNotLook(
                f"{name} of {job.id} on {transport.where} could not be read: {answer.complaint}"
            )
        return answer.text

    def _transport(self, job: NelTask) -> Transport:
        options = self._options
        if options.host:
            return transport_to(options)
        host, user = _login(job)
        return transport_to(
            options.model_copy(update={"host": host or None, "user": options.user or user or None})
        )


def _login(job: NelTask) -> tuple[str, str]:
    return str(job.data.get("hostname") or ""), str(job.data.get("username") or "")


def _find_slurm_job(
    number: str, queue: Sequence[SlurmRow], accounting: Sequence[SlurmRow]
) -> Job | str:
    rows_of_queue = [row for row in queue if row.id == number]
    rows_of_job = [row for row in accounting if row.id == number]
    answer = judge_slurm(
        number,
        rows_of_queue,
        rows_of_job,
        Accounting(rows_of_job),
        SubmissionRecord(is_ours=True, id=number),
    )
    if isinstance(answer, Found):
        return answer.job
    return (
        answer.why
        if isinstance(answer, Unknown)
        else NoSlurmJob(f"Slurm does not know job {number}")
    )
