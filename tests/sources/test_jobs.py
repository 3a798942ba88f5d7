"""What lives next to the current instance is listed, and blinds nobody where it cannot be."""

from dataclasses import replace
from datetime import datetime

from builders import NOON, a_contract, a_history, a_job
from herorun.core.errors import CouldNotLook
from herorun.core.evidence import (
    Job,
    JobState,
    JobWarnings,
    LiveJobs,
    Nothing,
    Now,
    OtherJobs,
    Unavailable,
)
from herorun.core.ports import Found, Place, Search
from herorun.sources.jobs import read_job, read_job_warnings, read_other_jobs

PROBE = Job(id="72", instance="tiny-probe", state=JobState.RUNNING)
OLD = Job(id="70", instance="tiny-0", state=JobState.RUNNING)


class Scheduler:
    down = False

    def find(self, instance: str, intended_at: datetime) -> Search:
        return Found(a_job())

    def other_jobs(self, slug: str) -> tuple[Job, ...]:
        if self.down:
            raise CouldNotLook("the queue does not answer")
        return (PROBE,)


def test_old_attempts_and_diagnostics_are_distinguished_and_neither_is_the_job() -> None:
    live = LiveJobs((OLD, a_job()))
    assert read_other_jobs(Scheduler(), a_contract(), a_history(), live) == OtherJobs(
        (OLD,), (PROBE,)
    )
    place = Place("tiny", "/nowhere", "", "")
    assert read_job(Scheduler(), a_history(), place, Now(NOON)) == a_job()


def test_a_list_that_cannot_be_read_is_reported_and_is_no_gap() -> None:
    down = Scheduler()
    down.down = True
    other_jobs = read_other_jobs(down, a_contract(), a_history(), LiveJobs((OLD,)))
    assert other_jobs == OtherJobs((OLD,), why="the queue does not answer")
    blind = read_other_jobs(Scheduler(), a_contract(), a_history(), Unavailable("timed out"))
    assert blind == OtherJobs(why="timed out")


def test_a_scheduler_that_knows_only_its_own_jobs_lists_no_other() -> None:
    assert read_other_jobs(object(), a_contract(), a_history(), LiveJobs()) == OtherJobs()


def test_warnings_are_kept_and_are_no_gap_where_they_cannot_be_read() -> None:
    class ReportsWarnings:
        def warnings(self, instance: str) -> tuple[str, ...]:
            if instance == "tiny-2":
                raise CouldNotLook("forbidden")
            return (f"{instance}: BackOff",)

    history = a_history()
    assert history.current is not None
    name = history.current.name
    assert read_job_warnings(ReportsWarnings(), history) == JobWarnings((f"{name}: BackOff",))
    past = a_history(instances=(replace(history.current, name="tiny-2"),))
    assert isinstance(read_job_warnings(ReportsWarnings(), past), Nothing)
    assert isinstance(read_job_warnings(object(), history), Nothing)
