"""What is reported of a job without a contract, once, and what is known of its failure."""

from types import SimpleNamespace
from typing import Any

import pytest

from builders import NOON, a_crashed_job, a_job
from herorun.core.adhoc_jobs.cause import JobCause
from herorun.core.adhoc_jobs.spec import JobSpec
from herorun.core.adhoc_jobs.tasks import TaskEnd
from herorun.core.errors import CouldNotLook
from herorun.core.evidence import Job, JobState, Nothing, Triage
from herorun.operations.jobs import news
from wording import mentions

RUN = "https://wandb.ai/lab/grug/runs/abc123"
LINE = f"wandb: View run tiny at: {RUN}"


class Scheduler:
    """A back end that tells what the test says."""

    def __init__(self, **result: Any) -> None:
        self.result = result

    def _tell(self, what: str, default: Any) -> Any:
        answer = self.result.get(what, default)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def tail(self, instance: str, lines: int) -> str:
        return str(self._tell("tail", ""))

    def events(self, instance: str) -> tuple[str, ...]:
        return tuple(self._tell("events", ()))

    def results(self, instance: str) -> str:
        return str(self._tell("results", ""))

    def tasks(self, instance: str) -> tuple[TaskEnd, ...]:
        return tuple(self._tell("tasks", ()))

    def reused(self, instance: str) -> bool:
        return bool(self._tell("reused", False))


def reported_news(
    scheduler: Any, *keys: str, job: Job | None = None, cause: Any = None
) -> list[Any]:
    memory: Any = SimpleNamespace(
        current=SimpleNamespace(name="tiny-1", job="4711"), done=dict.fromkeys(keys, NOON)
    )
    return news.job_news(scheduler, memory, {Job: job or a_job()}, cause)


def test_before_the_job_there_is_no_news() -> None:
    scheduler: Any = Scheduler(tail=LINE)
    memory: Any = SimpleNamespace(current=None, done={})
    assert news.job_news(scheduler, memory, {}, None) == []


def test_a_tracker_run_is_reported_once_whichever_instance_names_it() -> None:
    scheduler = Scheduler(tail=f"step 1\n{LINE}\n{LINE}\n")
    (tell,) = reported_news(scheduler)
    assert (tell.key, tell.why) == ("tell/tiny-1/run-lab.grug.abc123", RUN)
    assert reported_news(scheduler, tell.key) == []
    assert reported_news(scheduler, "tell/tiny-0/run-lab.grug.abc123") == []
    assert len(reported_news(scheduler, "tell/tiny-0/run-lab.grug.other")) == 1


def test_the_runs_that_were_reported_come_with_their_ids() -> None:
    keys = (
        "tell/tiny-1/run-lab.grug.abc",
        "tell/tiny-1/run-plain",
        "tell/tiny-1/results",
        "stop/x",
    )
    memory: Any = SimpleNamespace(done=dict.fromkeys(keys, NOON))
    assert news.reported_runs(memory) == [("lab.grug.abc", "abc"), ("plain", "plain")]


def test_each_event_is_reported_once_and_a_log_that_cannot_be_read_hides_none() -> None:
    scheduler = Scheduler(events=("calibrated", "exported"), tail=CouldNotLook("away"))
    first, second = reported_news(scheduler)
    assert (first.title, second.title) == ("calibrated", "exported")
    assert [tell.title for tell in reported_news(scheduler, first.key)] == ["exported"]


@pytest.mark.parametrize(("results", "keys"), [("score 0.7", ["tell/tiny-1/results"]), ("", [])])
def test_what_came_of_a_job_that_ended_well_is_reported(results: str, keys: list[str]) -> None:
    tells = reported_news(Scheduler(results=results), job=a_job(JobState.SUCCEEDED))
    assert [tell.key for tell in tells] == keys
    assert [tell.why for tell in tells] == ([results] if keys else [])


@pytest.mark.parametrize(("cause", "count"), [(JobCause(failure="numeric"), 1), (None, 0)])
def test_why_it_failed_is_reported_where_it_is_known(cause: JobCause | None, count: int) -> None:
    tells = reported_news(Scheduler(results="of another end"), job=a_crashed_job(), cause=cause)
    assert [(tell.key, tell.why) for tell in tells] == [("tell/tiny-1/cause", str(cause))] * count
    assert reported_news(Scheduler(), job=a_job(), cause=cause) == []


@pytest.mark.parametrize(
    ("triage", "cause"),
    [
        (
            Triage(
                failure_class="code-bug-small",
                file="a.py",
                line=3,
                excerpt="NameError",
                advice="fix it",
            ),
            JobCause(
                failure="code-bug-small", file="a.py", line=3, excerpt="NameError", advice="fix it"
            ),
        ),
        (Triage(failure_class="unknown", excerpt="?", advice="look"), JobCause(advice="look")),
        (Nothing("no log"), JobCause()),
    ],
)
def test_a_failure_is_what_triage_says_unless_it_says_nothing(triage: Any, cause: Any) -> None:
    for tasks in ((), CouldNotLook("away")):
        scheduler: Any = Scheduler(tasks=tasks)
        assert news.cause_of(scheduler, {Job: a_crashed_job(), Triage: triage}) == cause


@pytest.mark.parametrize("job", [a_job(), a_job(JobState.SUCCEEDED), Nothing("none")])
def test_what_did_not_fail_has_no_cause(job: Any) -> None:
    scheduler: Any = Scheduler()
    assert news.cause_of(scheduler, {Job: job, Triage: Triage(failure_class="numeric")}) is None


def test_a_doubt_about_the_job_is_reported_with_the_command_where_its_id_was_reused() -> None:
    spec, job = JobSpec(job="4711", kind="local", log="/l"), a_job(JobState.GONE, reason="gone")
    scheduler: Any = Scheduler()
    (way_on,) = news.job_doubts(scheduler, spec, {Job: job})
    assert mentions(way_on, job.id, "/l", "babysit", "NEW", "local`")
    unknown_job = a_job(JobState.UNKNOWN, reason="no answer")  # a later query may say more
    assert news.job_doubts(scheduler, spec, {Job: unknown_job}) == ["no answer"]
    scheduler = Scheduler(reused=True)
    reason, command = news.job_doubts(scheduler, spec, {Job: job})
    options = f"--job {job.id} --scheduler local --log /l --new-job"
    assert reason == "gone" and options in command
    for certain in (a_job(reason="busy"), a_job(JobState.GONE), Nothing("none")):
        assert news.job_doubts(scheduler, spec, {Job: certain}) == []
