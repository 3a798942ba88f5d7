"""Jobs that others submitted, behind the ports that the one engine asks: the scheduler's, and the
tracker's.
"""

import threading
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from herorun import discover
from herorun.core.adhoc_jobs.log_parser import progress_in
from herorun.core.adhoc_jobs.spec import JobSpec, must_be_id
from herorun.core.adhoc_jobs.tasks import TaskEnd, ended_for_memory, summary
from herorun.core.canonical_json import canonical, digest
from herorun.core.errors import CouldNotLook, WrongUse, in_words
from herorun.core.evidence import Job, JobState
from herorun.core.ports import Absent, ById, Found, Place, Row, Rows, Search, Submission, Unknown
from herorun.core.untrusted_json import read_json
from herorun.operations.jobs.clusters import address_of
from herorun.record import RunRecord
from herorun.system.clock import now
from herorun.system.files import write_whole

LINES = 20_000  # of a log's end


def adapter_for(facts: JobSpec, folder: Path) -> Any:
    """What looks at the job by its id."""
    must_be_id(facts.kind, facts.job)
    told = {name: getattr(facts, name) for name in ("cluster", "config", "host", "user", "log")}
    if facts.kind == "ray":
        told["cluster"] = address_of(facts.cluster)
    place = str(folder)
    options = {name: value for name, value in told.items() if value}
    return discover.connect(
        "schedulers.external", facts.kind, {}, Place("job", place, place, place), options
    )


class Followed:
    """The scheduler port over jobs that others submitted: an instance is the job id that the
    journal has for it.

    One object serves one tick: of each log it fetches the end once.
    """

    everywhere = True

    def __init__(
        self, jobs: ById, record: RunRecord, folder: Path, limit: float | None = None
    ) -> None:
        self._jobs, self._record, self._folder = jobs, record, folder
        self._limit = limit  # MB of memory that the command for it asks for
        self._tails: dict[str, str | CouldNotLook] = {}
        self._tasks: dict[str, tuple[TaskEnd, ...]] = {}
        self._lock = threading.Lock()

    def find(self, instance: str, intended_at: datetime) -> Search:
        answer = self._jobs.look(self._job(instance))
        if not isinstance(answer, Found):
            return answer
        job = answer.job
        late = job.submitted and job.ended and job.ended < intended_at and self._is_ours(instance)
        if late:  # a fixed name: what is listed is still the job before it
            return Unknown(f"{job.id} is listed as it ended before {instance} was submitted")
        return self._with_tasks(replace(job, instance=instance))

    def _with_tasks(self, job: Job) -> Search:
        """A failure with the ends of its tasks: what they say of memory comes before any decision,
        and without them there is none.
        """
        if not job.crashed or job.state is JobState.OUT_OF_MEMORY:
            return Found(job)
        try:
            tasks = self.tasks(job.instance)
        except (CouldNotLook, OSError) as error:
            return Unknown(f"how the tasks of {job.id} ended could not be read: {in_words(error)}")
        if not ended_for_memory(tasks):
            return Found(job)
        return Found(replace(job, state=JobState.OUT_OF_MEMORY, reason=summary(tasks)))

    def live(self, slug: str) -> tuple[Job, ...]:
        current = self._record.memory().current
        found = self.find(current.name, current.started) if current else Absent()
        if isinstance(found, Unknown):
            raise CouldNotLook(found.why)
        return (found.job,) if isinstance(found, Found) and not found.job.state.ended else ()

    def tail(self, instance: str, lines: int) -> str:
        with self._lock:
            if instance not in self._tails:
                self._tails[instance] = self._fetched(instance, lines)
        text = self._tails[instance]
        if isinstance(text, CouldNotLook):
            raise CouldNotLook(str(text))
        return text

    def _fetched(self, instance: str, lines: int) -> str | CouldNotLook:
        """Who asks next in this tick must not wait for the same silent machine once more."""
        try:
            text: str = self._jobs.tail(self._job(instance), lines)
        except CouldNotLook as error:
            return error
        return text

    def stop(self, instance: str, by: str) -> None:
        self._jobs.stop(self._job(instance))

    def submit(self, submission: Submission, code: str, admission: str) -> Job:
        raise WrongUse("A job without a contract is submitted by its own command alone.")

    def tasks(self, instance: str) -> tuple[TaskEnd, ...]:
        """How each of its tasks ended, with the limit that the resubmit command asks for where the
        scheduler tells none; empty where it does not tell. Asked once a tick.
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
        """What came of it, in words, of schedulers that know."""
        ask = getattr(self._jobs, "results", None)
        return str(ask(self._job(instance))) if ask else ""

    def events(self, instance: str) -> tuple[str, ...]:
        """Key events in words, of schedulers that print some."""
        ask = getattr(self._jobs, "events", None)
        return tuple(ask(self._job(instance))) if ask else ()

    def describe(self, job: str) -> str:
        """What runs under the id, of schedulers that are asked about processes."""
        ask = getattr(self._jobs, "describe", None)
        return str(ask(job)) if ask else ""

    def reused(self, instance: str) -> bool:
        """Whether its id is another job's by now, of schedulers that can tell."""
        ask = getattr(self._jobs, "reused", None)
        return bool(ask(self._job(instance))) if ask else False

    def log_changed_at(self, instance: str) -> datetime | None:
        """When a look last found its log changed, by our own clock."""
        told = digest(self.tail(instance, LINES))
        kept, path = None, self._folder / "log-seen.json"
        try:
            kept = read_json(path.read_bytes())
            if kept["digest"] == told and kept["instance"] == instance:
                return datetime.fromisoformat(kept["at"])
        except (OSError, ValueError, KeyError, TypeError):
            pass
        seen = {"instance": instance, "digest": told, "at": now()}
        write_whole(path, (canonical(seen) + "\n").encode())
        return now()

    def _job(self, instance: str) -> str:
        known = {each.name: each.job for each in self._record.memory().instances}
        return known[instance]

    def _is_ours(self, instance: str) -> bool:
        """Whether this watch submitted it, and did not only take it up."""
        memory = self._record.memory()
        names = [each.name for each in memory.instances]
        at = names.index(instance)
        return at > 0 and f"resubmit/{names[at - 1]}" in memory.done


class JobLogTracker:
    """The tracker port over a job's log: a row whenever it tells of a further step."""

    def __init__(self, scheduler: Followed, instance: str) -> None:
        self._scheduler, self._instance = scheduler, instance

    def read(self, cursor: str) -> Rows:
        known, _, step = cursor.rpartition(":")
        found = progress_in(self._scheduler.tail(self._instance, LINES)) if self._instance else None
        if found is None or (known == self._instance and found.step == int(step)):
            return Rows((), cursor)
        # a job that begins again at an earlier step trains those steps once more
        again = known == self._instance and found.step < int(step)
        row, at = Row(found.step, {}, now()), f"{self._instance}:{found.step}"
        return Rows((row,), at, now(), restarted=again)
