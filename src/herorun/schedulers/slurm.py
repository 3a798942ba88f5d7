"""Slurm, on this machine or from a laptop through a login node (`host`, `user`).

A job is found by its name, the instance's, and by a comment that names the run: squeue first, then
sacct. One question to each answers for any number of jobs. Secrets travel by name (see
`_slurm_submit`).
"""

import re
import shlex
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import TypeVar

from herorun.core.canonical_json import digest
from herorun.core.errors import CouldNotLook, WrongUse, in_words
from herorun.core.evidence import Job, Offered
from herorun.core.plan import Plan
from herorun.core.ports import Absent, Found, LogPart, Place, Scheduler, Search, Submission, Unknown
from herorun.core.remote.target import RemoteTarget, SshLogin
from herorun.schedulers import _submission_record as keeping
from herorun.schedulers._idempotent import end_once, known_job, taken_after
from herorun.schedulers._road import Transport, transport_to
from herorun.schedulers._slurm_client import Programs, refusal
from herorun.schedulers._slurm_files import FarFiles, HereFiles, files_for
from herorun.schedulers._slurm_limits import offered, partition_argv
from herorun.schedulers._slurm_options import Options as Options
from herorun.schedulers._slurm_parse import (
    SlurmRow,
    Tag,
    log_in,
    programs,
)
from herorun.schedulers._slurm_snapshot import ByName, SlurmSnapshot, by_name, not_live
from herorun.schedulers._slurm_state import Books, judge_slurm, live_jobs, needs_books, ours
from herorun.schedulers._slurm_state_names import slurm_state_of
from herorun.schedulers._slurm_submit import (
    RemotePaths,
    handed_over,
    job_id,
    job_script,
    must_be_sound,
    request_digest,
    sbatch_argv,
    show_request,
)
from herorun.schedulers._submission_record import SubmissionRecord
from herorun.schedulers._validate import must_be_instance, secret_values
from herorun.system.clock import now
from herorun.system.files import locked

T = TypeVar("T")

PROGRAMS = (("sbatch", "--version"), ("squeue", "--version"), ("sacct", "--version"))


def connect(options: Options, place: Place) -> Scheduler:
    return Slurm(options, place, transport_to(options))


def reach(options: Options) -> RemoteTarget | None:
    """Behind a login node the run's paths are read by the same road: that node sees what the others
    see.
    """
    login = login_of(options)
    return RemoteTarget(login) if login.host else None


def login_of(options: Options) -> SshLogin:
    return SshLogin(**options.model_dump(include=set(SshLogin.model_fields)))


MONTH = timedelta(days=30)  # so long ago a job that has ended is looked for


class Slurm:
    """The scheduler `slurm`."""

    sets = (
        "SLURM_*",
        "SBATCH_*",
        "SPANK_*",
        "*_VISIBLE_DEVICES",
        "GPU_DEVICE_ORDINAL",
        "ZE_AFFINITY_MASK",
    )  # in each job, by itself

    def __init__(self, options: Options, place: Place, road: Transport) -> None:
        self._options = options
        timeout = options.timeout.total_seconds()
        self._slurm = Programs(road, timeout, options.slurm_bin, options.slurm_conf)
        self._run = digest(place.output_root).removeprefix("sha256:")[
            :16
        ]  # one name may be used for two runs
        self._folder = Path(place.state).absolute() / "slurm"
        self._files: HereFiles | FarFiles = files_for(
            road=road,
            login=login_of(options),
            state=self._folder,
            folder=options.folder,
            run=self._run,
            slug=place.slug,
            timeout=self._slurm.timeout,
        )
        self.reach = road.reach
        client = {"programs": options.slurm_bin, "conf": options.slurm_conf}
        self.slurm_client = {name: value for name, value in client.items() if value}
        self.everywhere = True  # until it turns out that the cluster keeps no accounting
        self.log: Callable[[str], str] | None = self._files.log if self.reach == "here" else None
        self._sight: SlurmSnapshot | None = None
        self._tags: dict[tuple[str, str], Tag] = {}  # so that what was shown is what is sent

    # --- looking ---------------------------------------------------------------------------------

    def find(self, instance: str, intended_at: datetime) -> Search:
        return self.find_all({instance: intended_at})[instance]

    def find_all(self, intents: Mapping[str, datetime]) -> Mapping[str, Search]:
        """One squeue, and one sacct where something has ended or is not there, for any number of
        instances.
        """
        for instance in intents:
            must_be_instance(instance)
        asked_at = self._sight.at if self._sight else now()
        try:
            queue = by_name(self._queue(intents))
            own = {
                name: ours(queue.get(name, ()), name, self._run, self._kept(name), at)
                for name, at in intents.items()
            }
            others = [name for name in intents if needs_books(own[name])]
            books, rows_by_name = self._told(others, intents)
        except (CouldNotLook, OSError) as error:
            return dict.fromkeys(intents, Unknown(in_words(error)))
        return {
            name: self._answer(
                name, at, own[name], replace(books, rows=rows_by_name.get(name, ())), asked_at
            )
            for name, at in intents.items()
        }

    def _told(self, names: Sequence[str], intents: Mapping[str, datetime]) -> tuple[Books, ByName]:
        if not names:
            return Books(), {}
        if self._sight and self._sight.names.issuperset(names):
            return self._sight.books, self._sight.told
        books = self._books(names, min(intents[name] for name in names))
        return books, by_name(books.rows)

    def _answer(
        self,
        instance: str,
        intended_at: datetime,
        queue: list[SlurmRow],
        accounting: Books,
        asked_at: datetime,
    ) -> Search:
        record = self._kept(instance)
        books = ours(accounting.rows, instance, self._run, record, intended_at)
        answer = judge_slurm(instance, queue, books, accounting, record)
        if isinstance(answer, Absent) and asked_at - intended_at <= self._options.settle:
            return Unknown(
                f"too early to tell: {instance} was to be submitted at {intended_at:%H:%M:%S}"
            )
        if isinstance(answer, Found) and (answer.job.stopped_by or "").startswith("uid "):
            by = self._slurm.user((answer.job.stopped_by or "").removeprefix("uid "))
            return Found(replace(answer.job, stopped_by=by))
        return answer

    @property
    def cluster(self) -> Hashable:
        options = self._options
        return (
            "slurm",
            self._slurm.road.where,
            options.port,
            options.ssh_config,
            options.slurm_conf,
            options.slurm_bin,
        )

    def look(self, intents: Mapping[str, datetime]) -> SlurmSnapshot:
        """One squeue of all jobs, and at most one sacct."""
        at = now()
        queue = by_name(self._queue())
        names = not_live(queue, intents)
        books = self._books(names, min(intents[name] for name in names)) if names else Books()
        return SlurmSnapshot(
            at, queue, replace(books, rows=()), by_name(books.rows), frozenset(names)
        )

    def by(self, look: SlurmSnapshot) -> "Slurm":
        view = copy(self)
        view._sight = look
        return view

    def live(self, slug: str) -> tuple[Job, ...]:
        """Of this cluster's controller; a job of the name whose comment says nothing counts, as it
        may be ours.
        """
        whole = re.compile(rf"{re.escape(slug)}-[0-9]+")
        rows = [row for row in self._queue() if whole.fullmatch(row.name)]
        records = {row.name: self._kept(row.name) for row in rows}
        return live_jobs(
            [
                r
                for r in rows
                if r.id == records[r.name].id or r.tag is None or r.tag.run == self._run
            ]
        )

    def beside(self, slug: str) -> tuple[Job, ...]:
        """Jobs that no herorun has submitted; of all users."""
        instance = re.compile(rf"{re.escape(slug)}-[0-9]+")
        rows = (row for row in self._queue() if row.name.startswith(f"{slug}-") and row.tag is None)
        return live_jobs([row for row in rows if not instance.fullmatch(row.name)])

    def offers(self, plan: Plan) -> Offered:
        """The options decide it; the plan is not asked."""
        return offered(self._slurm.told(partition_argv(self._options)), self._options)

    def tail(self, instance: str, lines: int) -> str:
        """FileNotFoundError where it has no log, or none yet."""
        return self._of_log(instance, lambda path: self._files.tail(path, lines)).decode(
            "utf-8", "replace"
        )

    def read_log(self, instance: str, offset: int, limit: int, mark: str = "") -> LogPart:
        return self._of_log(instance, lambda path: self._files.part(path, offset, limit, mark))

    def log_place(self, instance: str) -> str:
        """The path of the instance's log there, as this clone has told the job to write it."""
        return self._files.log(must_be_instance(instance))

    def _of_log(self, instance: str, read: Callable[[str], T]) -> T:
        path = self._files.log(must_be_instance(instance))
        try:
            return read(path)
        except FileNotFoundError:
            elsewhere = "" if self._kept(instance).asked else self._log_as_told(instance)
            if elsewhere in ("", path):
                raise
            return read(elsewhere)

    def _log_as_told(self, instance: str) -> str:
        """Where another clone has let the job write, while the controller remembers it."""
        rows = ours(self._queue([instance]), instance, self._run, SubmissionRecord(), None)
        if not rows:
            return ""
        return log_in(self._slurm.ask(["scontrol", "show", "job", rows[0].id]).text)

    # --- acting ----------------------------------------------------------------------------------

    def request(self, submission: Submission, code: str, admission: str) -> str:
        """What sbatch is given: the comment's last number is the time of the submission, in seconds
        since 1970.
        """
        where = self._files.where(submission.instance, code, admission)
        argv = sbatch_argv(submission, self._options, where, self._tag(submission))
        return show_request(
            argv, job_script(submission, where), submission.secrets, self._slurm.road.where
        )

    def dependent_command(self, job: str, script: str, log: str, name: str) -> str:
        """For a shell on the login node: the script as a job of its own, once `job` has ended well.
        `script` and `log` are quoted already.
        """
        conf, programs = self._options.slurm_conf, self._options.slurm_bin
        return (
            f"{f'SLURM_CONF={shlex.quote(conf)} ' if conf else ''}"
            f"{shlex.quote(f'{programs}/sbatch') if programs else 'sbatch'} "
            f"--dependency=afterok:{shlex.quote(job)} --kill-on-invalid-dep=yes "
            f"--job-name={name} --output={log} --open-mode=append {script}"
        )

    def submit(self, submission: Submission, code: str, admission: str) -> Job:
        """Looks before and after: of two jobs of one name the one with the lower number stays."""
        instance = must_be_instance(submission.instance)
        must_be_sound(submission)
        secrets = secret_values(submission)
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with locked(
            self._folder / f"{instance}.lock",
            self._slurm.timeout,
            f"another submission of {instance}",
        ):
            there = self._there(instance)
            if there:
                return there
            self._must_know(self._options.dependencies)
            where = self._files.bring(instance, code, admission)
            keeping.record_attempt(self._folder, instance)
            number = self._sbatch(submission, where, secrets)
            keeping.record_id(self._folder, instance, number)
            return self._the_only_one(instance, number)

    def stop(self, instance: str, by: str) -> None:
        """Cancels the very job that was just seen under the name; Slurm sends SIGTERM, and SIGKILL
        after KillWait.
        """
        job = self._to_stop(instance)
        if job is None:
            raise WrongUse(f"There is no job {instance} on {self._slurm.road.where}.")
        end_once(self._folder, job, by, "Slurm", lambda job: self._cancel(job, by))

    def _cancel(self, job: Job, by: str) -> None:
        comment = replace(self._seen_tag(job.instance, job.id), by=by).comment
        # For other clones; it may fail.
        self._slurm.ask(["scontrol", "update", f"JobId={job.id}", f"Comment={comment}"])
        self._scancel(job.instance, job.id)

    def _there(self, instance: str) -> Job | None:
        """The job of the name, if it was submitted within the last month."""
        return known_job(self.find, instance, now() - MONTH)

    def _to_stop(self, instance: str) -> Job | None:
        """The same; one that lives counts however long ago it was submitted, as a hero run's
        may.
        """
        rows = ours(self._queue([instance]), instance, self._run, self._kept(instance), None)
        living = [row.submitted for row in rows if row.submitted and slurm_state_of(row.word).live]
        return known_job(self.find, instance, min([now() - MONTH, *living]))

    def _sbatch(
        self, submission: Submission, where: RemotePaths, secrets: Mapping[str, str]
    ) -> str:
        argv = sbatch_argv(submission, self._options, where, self._tag(submission))
        program = programs(self._options.slurm_bin, self._options.slurm_conf, argv[0])
        stdin = handed_over(
            program, argv, job_script(submission, where), where, submission.cwd, secrets
        )
        try:
            answer = self._slurm.road.run(["sh"], self._slurm.timeout, stdin=stdin)
        except CouldNotLook as error:
            return taken_after(lambda: self._there(submission.instance), error).id
        number = job_id(answer.text) if answer.code == 0 else None
        if number:
            return number
        why = refusal(submission.instance, answer, where, self._slurm.road.where)
        if isinstance(why, WrongUse):
            raise why
        return taken_after(lambda: self._there(submission.instance), why).id

    def _the_only_one(self, instance: str, number: str) -> Job:
        queue = self._queue([instance])
        record = self._kept(instance)
        rows = ours(queue, instance, self._run, record, None)
        stays = min([number, *(row.id for row in rows)], key=int)
        if stays != number:
            self._scancel(instance, number)
            keeping.record_id(self._folder, instance, stays)
        it = [row for row in rows if row.id == stays]
        answer = judge_slurm(instance, it, (), Books(silent="accounting was not asked yet"), record)
        return answer.job if isinstance(answer, Found) else self._as_found(instance, number)

    def _as_found(self, instance: str, number: str) -> Job:
        job = self._there(instance)
        if job is None:
            raise CouldNotLook(
                f"Slurm took {instance} as job {number}, and does not know it any more."
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
        """Slurm takes a dependency on a job that it does not know, and starts at once."""
        dependencies = set(numbers)
        live_ids = {row.id for row in self._queue()} if dependencies else set()
        if dependencies - live_ids:
            raise WrongUse(
                f"--dependency names job {min(dependencies - live_ids)}, which Slurm does not know:"
                " it would not wait at all."
            )

    # --- what is known ----------------------------------------------------------------------------

    def _queue(self, names: Iterable[str] = ()) -> tuple[SlurmRow, ...]:
        sorted_names = sorted(names)
        return (
            self._sight.in_queue(sorted_names) if self._sight else self._slurm.queue(sorted_names)
        )

    def _books(self, names: Iterable[str], since: datetime) -> Books:
        books = self._slurm.books(names, since)
        if books.none_kept:
            self.everywhere = False  # only this clone remembers what it has submitted
        return books

    def _kept(self, instance: str) -> SubmissionRecord:
        return keeping.read_submission(self._folder, instance)

    def _tag(self, submission: Submission) -> Tag:
        key = submission.instance, request_digest(submission)
        return self._tags.setdefault(key, Tag(self._run, key[1], int(now().timestamp())))

    def _seen_tag(self, instance: str, number: str) -> Tag:
        rows = [row for row in self._queue([instance]) if row.id == number and row.tag]
        return rows[0].tag if rows and rows[0].tag else Tag(self._run, "0" * 12, 0)
