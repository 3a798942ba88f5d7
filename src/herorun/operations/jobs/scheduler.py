"""Jobs that others submitted, behind the ports that the one engine asks: the scheduler's, and the
tracker's.
"""

import threading
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from herorun import adapters
from herorun.core.adhoc_jobs.log_parser import ends_with_step, progress_in
from herorun.core.adhoc_jobs.spec import JobSpec
from herorun.core.adhoc_jobs.tasks import TaskEnd, ended_for_memory, summary
from herorun.core.babysit.action_key import Verb, write_key
from herorun.core.errors import CouldNotLook, WrongUse, describe_error
from herorun.core.evidence import Job, JobState
from herorun.core.lazy_dataclass import dataclass
from herorun.core.ports import Absent, ById, Found, Place, Row, Rows, Search, Submission, Unknown
from herorun.job_kinds import PORT, job_kind, must_be_id
from herorun.record import RunRecord
from herorun.system.clock import now

LINES = 20_000  # of a log's end
# Linux stamps files by a clock that ticks 100 to 1,000 times a second: a line can seem older than
# the process that wrote it
GRAIN = timedelta(milliseconds=20)


def adapter_for(facts: JobSpec, folder: Path) -> ById:
    """What reads the job by its id."""
    must_be_id(facts.kind, facts.job)
    return connect_kind(facts, folder)


def connect_kind(facts: JobSpec, folder: Path) -> ById:
    """The same where no job is named yet: only where it would be is read."""
    place = str(folder)
    options = job_kind(facts.kind).adapter_options(facts)
    return adapters.connect(PORT, facts.kind, {}, Place("job", place, place, place), options)


class ExternalJobs:
    """The scheduler port over jobs that others submitted: an instance is the job id that the
    journal has for it.

    One object serves one tick: of each log it fetches the end once.
    """

    cluster_wide = True

    def __init__(
        self, jobs: ById, record: RunRecord, folder: Path, limit: float | None = None
    ) -> None:
        self._jobs, self._record, self._folder = jobs, record, folder
        self._limit = limit  # MB of memory that the command for it asks for
        self._tails: dict[str, str | CouldNotLook] = {}
        self._changes: dict[str, datetime | None] = {}
        self._tasks: dict[str, tuple[TaskEnd, ...]] = {}
        self._lock = threading.Lock()

    def find(self, instance: str, intended_at: datetime) -> Search:
        answer = self._jobs.find_job(self._job(instance))
        if not isinstance(answer, Found):
            return answer
        job = answer.job
        is_earlier = (
            job.submitted and job.ended and job.ended < intended_at and self._is_ours(instance)
        )
        if is_earlier:  # a fixed name: what is listed is still the job before it
            return Unknown(f"{job.id} is listed as it ended before {instance} was submitted")
        return self._with_tasks(replace(job, instance=instance))

    def _with_tasks(self, job: Job) -> Search:
        """A failure with the ends of its tasks: what they say of memory comes before any decision,
        and without them there is none.
        """
        if not job.has_crashed or job.state is JobState.OUT_OF_MEMORY:
            return Found(job)
        try:
            tasks = self.tasks(job.instance)
        except (CouldNotLook, OSError) as error:
            return Unknown(
                f"how the tasks of {job.id} ended could not be read: {describe_error(error)}"
            )
        if not ended_for_memory(tasks):
            return Found(job)
        return Found(replace(job, state=JobState.OUT_OF_MEMORY, reason=summary(tasks)))

    def live_jobs(self, slug: str) -> tuple[Job, ...]:
        current = self._record.memory().current
        answer = self.find(current.name, current.started) if current else Absent()
        if isinstance(answer, Unknown):
            raise CouldNotLook(answer.why)
        return (answer.job,) if isinstance(answer, Found) and not answer.job.state.is_final else ()

    def tail(self, instance: str, lines: int) -> str:
        with self._lock:
            if instance not in self._tails:
                self._tails[instance] = self._fetch_log(instance, lines)
        text = self._tails[instance]
        if isinstance(text, CouldNotLook):
            raise CouldNotLook(str(text))
        return text

    def _fetch_log(self, instance: str, lines: int) -> str | CouldNotLook:
        """Who asks next in this tick must not wait for the same silent machine once more."""
        try:
            text: str = self._jobs.tail(self._job(instance), lines)
        except CouldNotLook as error:
            return error
        return text

    def stop(self, instance: str, by: str) -> None:
        self._jobs.stop(self._job(instance))

    def submit(self, submission: Submission, code: str, admission: str) -> Job:
        raise WrongUse("A job without a contract is submitted only by its own command.")

    def tasks(self, instance: str) -> tuple[TaskEnd, ...]:
        """How each of its tasks ended, with the limit that the resubmit command asks for where the
        scheduler has none; empty if it does not report it. Asked once a tick.
        """
        ask = getattr(self._jobs, "tasks", None)
        if instance not in self._tasks:
            ends = ask(self._job(instance)) if ask else ()
            self._tasks[instance] = tuple(
                task if task.limit_mb else replace(task, limit_mb=self._limit) for task in ends
            )
        return self._tasks[instance]

    def live_namesakes(self) -> tuple[str, ...]:
        """Other live jobs of the current one's name and user, of schedulers that know names;
        `CouldNotLook` where they could not be listed.
        """
        current, ask = self._record.memory().current, getattr(self._jobs, "live_namesakes", None)
        return tuple(ask(current.job)) if ask and current else ()

    def results(self, instance: str) -> str:
        """The result as a message, from schedulers that report it."""
        ask = getattr(self._jobs, "results", None)
        return str(ask(self._job(instance))) if ask else ""

    def events(self, instance: str) -> tuple[str, ...]:
        """Key events in words, of schedulers that print some."""
        ask = getattr(self._jobs, "events", None)
        return tuple(ask(self._job(instance))) if ask else ()

    def warnings(self, instance: str) -> tuple[str, ...]:
        """What its back end warned of, of schedulers that report it; kept in the evidence."""
        ask = getattr(self._jobs, "warnings", None)
        return tuple(ask(self._job(instance))) if ask else ()

    def describe(self, job: str) -> str:
        """What runs under the id, of schedulers that are asked about processes."""
        ask = getattr(self._jobs, "describe", None)
        return str(ask(job)) if ask else ""

    def reused(self, instance: str) -> bool:
        """Whether its id now belongs to another job, of schedulers that report it."""
        ask = getattr(self._jobs, "reused", None)
        return bool(ask(self._job(instance))) if ask else False

    def log_changed_at(self, instance: str) -> datetime | None:
        """By our own clock, asked once a tick; None if its kind of job has none, or nobody
        could read it.
        """
        with self._lock:
            if instance not in self._changes:
                self._changes[instance] = self._ask_change(instance)
        return self._changes[instance]

    def _ask_change(self, instance: str) -> datetime | None:
        ask = getattr(self._jobs, "log_age", None)
        if ask is None:
            return None
        try:
            age: timedelta = ask(self._job(instance))
        except (CouldNotLook, OSError):
            return None
        return now() - max(timedelta(), age - GRAIN)

    def _job(self, instance: str) -> str:
        jobs = {each.name: each.job for each in self._record.memory().instances}
        return jobs[instance]

    def _is_ours(self, instance: str) -> bool:
        """Whether this watch submitted it, and did not only take it up."""
        memory = self._record.memory()
        names = [each.name for each in memory.instances]
        at = names.index(instance)
        return at > 0 and write_key(Verb.RESUBMIT, names[at - 1]) in memory.done


class JobLogTracker:
    """The tracker port over a job's log: a row whenever it reports a further step.

    A step that was there before the first poll, or that came while nobody polled for longer than
    `gap`, may be hours old. It is dated by the log's own change; where that does not date the step,
    the row is undated.
    """

    def __init__(self, scheduler: ExternalJobs, instance: str, gap: timedelta) -> None:
        self._scheduler, self._instance, self._gap = scheduler, instance, gap

    def read(self, cursor: str) -> Rows:
        if not self._instance:
            return Rows(rows=(), cursor=cursor)
        text, at = self._scheduler.tail(self._instance, LINES), now()
        progress, previous = progress_in(text), _JobCursor.of(cursor)
        follows = previous is not None and previous.instance == self._instance
        if progress is None:
            return Rows(rows=(), cursor=cursor)
        after = str(_JobCursor(self._instance, progress.step, at))
        if previous and follows and previous.step == progress.step:
            return Rows(rows=(), cursor=after)
        # a job that begins again at an earlier step trains those steps once more
        again = previous is not None and follows and progress.step < previous.step
        changed_at = self._scheduler.log_changed_at(self._instance)
        is_continuous = previous is not None and follows and at - previous.read_at <= self._gap
        is_undated = not is_continuous and (changed_at is None or not ends_with_step(text))
        return Rows(
            rows=(Row(progress.step, {}, changed_at or at),),
            cursor=after,
            changed_at=at,
            restarted=again,
            undated=is_undated,
        )


@dataclass(frozen=True)
class _JobCursor:
    """The newest step that was read, of which job, and when."""

    instance: str
    step: int
    read_at: datetime

    def __str__(self) -> str:
        return f"{self.instance}:{self.step}:{int(self.read_at.timestamp())}"

    @classmethod
    def of(cls, cursor: str) -> "_JobCursor | None":
        parts = cursor.rsplit(":", 2)
        if len(parts) != 3:
            return None
        return cls(parts[0], int(parts[1]), datetime.fromtimestamp(int(parts[2]), UTC))
