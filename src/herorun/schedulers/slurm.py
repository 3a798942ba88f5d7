"""Slurm, on this machine or from a laptop through a login node (`host`, `user`).

A job is found by its name, the instance's, and by a comment that names the run: squeue first, then
sacct. One query of each covers any number of jobs. Secrets are passed by name (see
`_slurm.submit`).
"""

import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import TypeVar

from herorun.core.errors import CouldNotLook, WrongUse
from herorun.core.evidence import Directive, Job, Offered
from herorun.core.plan import Plan
from herorun.core.ports import Found, LogPart, Place, Scheduler, Submission
from herorun.core.remote.target import RemoteTarget
from herorun.schedulers import _submission_record as keeping
from herorun.schedulers._idempotent import end_once, known_job, taken_after
from herorun.schedulers._slurm.client import refusal
from herorun.schedulers._slurm.directives import Value, scheduler_table, unstated_directives
from herorun.schedulers._slurm.jobs import SlurmReader, login_of
from herorun.schedulers._slurm.limits import parse_offer, partition_argv
from herorun.schedulers._slurm.options import Options as Options
from herorun.schedulers._slurm.parse import (
    Tag,
    log_in,
    programs,
)
from herorun.schedulers._slurm.state import Accounting, judge_slurm, ours
from herorun.schedulers._slurm.state_names import slurm_state_of
from herorun.schedulers._slurm.submit import (
    RemotePaths,
    job_id,
    job_script,
    must_be_sound,
    request_digest,
    sbatch_argv,
    show_request,
    submit_stdin,
)
from herorun.schedulers._submission_record import SubmissionRecord
from herorun.schedulers._transport import transport_to
from herorun.schedulers._validate import must_be_instance, secret_values
from herorun.system.clock import now

T = TypeVar("T")

SCRIPT_SUFFIXES = (".sbatch", ".slurm")  # by custom
PROGRAMS = (("sbatch", "--version"), ("squeue", "--version"), ("sacct", "--version"))


def connect(options: Options, place: Place) -> Scheduler:
    return Slurm(options, place, transport_to(options))


def reach(options: Options) -> RemoteTarget | None:
    """The remote target for the run's paths: with a login node they are read by the same transport,
    because all nodes share the file system.
    """
    login = login_of(options)
    return RemoteTarget(login) if login.host else None


def table_of_script(script: str) -> Mapping[str, Value] | None:
    """The keys of `[scheduler]` that a batch script's `#SBATCH` lines say; None without any."""
    return scheduler_table(script)


MONTH = timedelta(days=30)  # an ended job is searched for this far back


class Slurm(SlurmReader):
    """The scheduler `slurm`."""

    sets = (
        "SLURM_*",
        "SBATCH_*",
        "SPANK_*",
        "*_VISIBLE_DEVICES",
        "GPU_DEVICE_ORDINAL",
        "ZE_AFFINITY_MASK",
    )  # in each job, by itself

    # --- logs and limits --------------------------------------------------------------------------

    def offers(self, plan: Plan) -> Offered:
        """The options decide it; the plan is not asked."""
        return parse_offer(self._slurm.output(partition_argv(self._options)), self._options)

    def ignored_directives(self, argv: Sequence[str], script: str) -> tuple[Directive, ...] | None:
        """The `#SBATCH` options of the script that the request does not state; None if `argv` calls
        sbatch itself.
        """
        return unstated_directives(argv, script, self._options)

    def tail(self, instance: str, lines: int) -> str:
        """The end of the log; FileNotFoundError if there is none yet."""
        return self._of_log(instance, lambda path: self._files.tail(path, lines)).decode(
            "utf-8", "replace"
        )

    def read_log(self, instance: str, offset: int, limit: int, mark: str = "") -> LogPart:
        return self._of_log(instance, lambda path: self._files.part(path, offset, limit, mark))

    def log_place(self, instance: str) -> str:
        """The path of the instance's log on the cluster; empty if another clone's folder has it."""
        must_be_instance(instance)
        return self._files.log(instance) if self.log is None else self.log(instance)

    def _of_log(self, instance: str, reader: Callable[[str], T]) -> T:
        path = self._files.log(must_be_instance(instance))
        try:
            return reader(path)
        except FileNotFoundError:
            elsewhere = (
                "" if self._submission_record(instance).is_ours else self._log_from_slurm(instance)
            )
            if elsewhere in ("", path):
                raise
            return reader(elsewhere)

    def _log_from_slurm(self, instance: str) -> str:
        """The log's path if another clone submitted the job, while the controller remembers it."""
        rows = ours(self._queue([instance]), instance, self._run, SubmissionRecord(), None)
        if not rows:
            return ""
        return log_in(self._slurm.ask(["scontrol", "show", "job", rows[0].id]).text)

    # --- acting ----------------------------------------------------------------------------------

    def request(self, submission: Submission, code: str, admission: str) -> str:
        """The request: sbatch's arguments. The comment's last number is the time of the submission,
        in seconds since 1970.
        """
        where = self._files.where(submission.instance, code, admission)
        argv = sbatch_argv(submission, self._options, where, self._tag(submission))
        return show_request(
            argv, job_script(submission, where), submission.secrets, self._slurm.transport.where
        )

    def dependent_command(self, job: str, script: str, log: str, name: str) -> str:
        """A shell command for the login node that submits the script as a job that starts after
        `job` succeeds. `script` and `log` are already quoted.
        """
        conf, programs = self._options.slurm_conf, self._options.slurm_bin
        return (
            f"{f'SLURM_CONF={shlex.quote(conf)} ' if conf else ''}"
            f"{shlex.quote(f'{programs}/sbatch') if programs else 'sbatch'} "
            f"--dependency=afterok:{shlex.quote(job)} --kill-on-invalid-dep=yes "
            f"--job-name={name} --output={log} --open-mode=append {script}"
        )

    def submit(self, submission: Submission, code: str, admission: str) -> Job:
        """Submit, with queries before and after: of two jobs with one name, the one with the lower
        number stays.
        """
        instance = must_be_instance(submission.instance)
        must_be_sound(submission)
        secrets = secret_values(submission)
        with keeping.submission_lock(self._folder, instance, self._slurm.timeout):
            submitted_job = self._submitted_job(instance)
            if submitted_job:
                return submitted_job
            self._must_know(self._options.dependencies)
            where = self._files.bring(instance, code, admission)
            keeping.record_attempt(self._folder, instance)
            number = self._sbatch(submission, where, secrets)
            keeping.record_id(self._folder, instance, number)
            return self._keep_earliest(instance, number)

    def stop(self, instance: str, by: str) -> None:
        """Cancel exactly the job that was just found by the name; Slurm sends SIGTERM, and SIGKILL
        after KillWait.
        """
        job = self._to_stop(instance)
        if job is None:
            raise WrongUse(f"There is no job {instance} on {self._slurm.transport.where}.")
        end_once(self._folder, job, by, "Slurm", lambda job: self._cancel(job, by))

    def _cancel(self, job: Job, by: str) -> None:
        comment = replace(self._seen_tag(job.instance, job.id), by=by).comment
        # For other clones; it may fail.
        self._slurm.ask(["scontrol", "update", f"JobId={job.id}", f"Comment={comment}"])
        self._scancel(job.instance, job.id)

    def _submitted_job(self, instance: str) -> Job | None:
        """The job with this name, if it was submitted within the last month."""
        return known_job(self.find, instance, now() - MONTH)

    def _to_stop(self, instance: str) -> Job | None:
        """The same for a stop: a live job counts at any age, because a hero run may be old."""
        rows = ours(
            self._queue([instance]), instance, self._run, self._submission_record(instance), None
        )
        living = [row.submitted for row in rows if row.submitted and slurm_state_of(row.word).live]
        return known_job(self.find, instance, min([now() - MONTH, *living]))

    def _sbatch(
        self, submission: Submission, where: RemotePaths, secrets: Mapping[str, str]
    ) -> str:
        argv = sbatch_argv(submission, self._options, where, self._tag(submission))
        program = programs(self._options.slurm_bin, self._options.slurm_conf, argv[0])
        stdin = submit_stdin(
            program, argv, job_script(submission, where), where, submission.cwd, secrets
        )
        try:
            answer = self._slurm.transport.run(["sh"], self._slurm.timeout, stdin=stdin)
        except CouldNotLook as error:
            return taken_after(lambda: self._submitted_job(submission.instance), error).id
        number = job_id(answer.text) if answer.code == 0 else None
        if number:
            return number
        why = refusal(submission.instance, answer, where, self._slurm.transport.where)
        if isinstance(why, WrongUse):
            raise why
        return taken_after(lambda: self._submitted_job(submission.instance), why).id

    def _keep_earliest(self, instance: str, number: str) -> Job:
        queue = self._queue([instance])
        record = self._submission_record(instance)
        rows = ours(queue, instance, self._run, record, None)
        stays = min([number, *(row.id for row in rows)], key=int)
        if stays != number:
            self._scancel(instance, number)
            keeping.record_id(self._folder, instance, stays)
        it = [row for row in rows if row.id == stays]
        answer = judge_slurm(
            instance, it, (), Accounting(silent="accounting was not asked yet"), record
        )
        return answer.job if isinstance(answer, Found) else self._current_job(instance, number)

    def _current_job(self, instance: str, number: str) -> Job:
        job = self._submitted_job(instance)
        if job is None:
            raise CouldNotLook(
                f"Slurm accepted {instance} as job {number}, but no longer lists it: see `sacct "
                f"-j {number}`, then repeat the command, which looks for the job before it "
                "submits."
            )
        return job

    def _scancel(self, instance: str, number: str) -> None:
        answer = self._slurm.ask(["scancel", number])
        if "permission denied" in answer.err.decode("utf-8", "replace").lower():
            raise WrongUse(
                f"{instance} is job {number} of another user: only they or an operator may cancel "
                "it."
            )
        if answer.code:
            raise self._slurm.trouble("scancel", answer)

    def _must_know(self, numbers: Iterable[str]) -> None:
        """Raise for unknown jobs: Slurm ignores a dependency on an unknown job, and starts at
        once.
        """
        dependencies = set(numbers)
        live_ids = {row.id for row in self._queue()} if dependencies else set()
        if dependencies - live_ids:
            raise WrongUse(
                f"--dependency names job {min(dependencies - live_ids)}, which Slurm does not "
                "list, so the new job would not wait for it: remove it."
            )

    def _tag(self, submission: Submission) -> Tag:
        key = submission.instance, request_digest(submission)
        return self._tags.setdefault(key, Tag(self._run, key[1], int(now().timestamp())))

    def _seen_tag(self, instance: str, number: str) -> Tag:
        rows = [row for row in self._queue([instance]) if row.id == number and row.tag]
        return rows[0].tag if rows and rows[0].tag else Tag(self._run, "0" * 12, 0)
