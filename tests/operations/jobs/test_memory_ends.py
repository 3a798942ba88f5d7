"""How the tasks of a job ended is read before anything is decided about it."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest

from herorun.core.adhoc_jobs.tasks import TaskEnd, ended_for_memory
from herorun.core.errors import CouldNotLook
from herorun.core.event import Launched
from herorun.core.evidence import Job, JobState
from herorun.core.ports import Found, Search, Unknown
from herorun.operations.jobs.file_journal import Journal
from herorun.operations.jobs.scheduler import ExternalJobs
from wording import mentions

AT = datetime(2026, 3, 1, tzinfo=UTC)


class Ended:
    """A back end whose only job has failed."""

    def __init__(self, tasks: Sequence[TaskEnd] | Exception) -> None:
        self._tasks = tasks

    def find_job(self, job: str) -> Search:
        return Found(
            Job(id=job, instance=job, state=JobState.FAILED, raw="JOB_STATE_FAILED", exit_code=1)
        )

    def tail(self, job: str, lines: int) -> str:
        return ""

    def stop(self, job: str) -> None:
        raise AssertionError

    def tasks(self, job: str) -> Sequence[TaskEnd]:
        if isinstance(self._tasks, Exception):
            raise self._tasks
        return self._tasks


def killed_task(peak: float | None, state: str = "failed") -> TaskEnd:
    return TaskEnd(name="0", state=state, exit_code=137, peak_mb=peak, failed=True)


def search_tasks(tmp_path: Path, tasks: Sequence[TaskEnd] | Exception) -> Search:
    journal = Journal(tmp_path / "journal.jsonl", "x")
    journal.append(
        Launched(
            at=AT,
            instance="x-1",
            number=1,
            job="/ada/x",
            plan_digest="",
            output_root="/o",
            commit="",
            entry={},
        )
    )
    return ExternalJobs(Ended(tasks), journal, tmp_path, limit=16_384.0).find("x-1", AT)


def test_thirteen_of_fourteen_near_the_limit_are_an_end_for_memory(tmp_path: Path) -> None:
    tasks = [killed_task(16_000.0)] * 13 + [TaskEnd(name="13", state="succeeded", exit_code=0)]
    output = search_tasks(tmp_path, tasks)
    assert isinstance(output, Found)
    assert output.job.state is JobState.OUT_OF_MEMORY
    assert mentions(output.job.reason, "13 of", "14 tasks", "near")


def test_without_the_ends_of_its_tasks_nothing_is_decided(tmp_path: Path) -> None:
    assert isinstance(search_tasks(tmp_path, CouldNotLook("the summary hangs")), Unknown)


@pytest.mark.parametrize(
    ("tasks", "memory"),
    [
        ([killed_task(None)], False),  # a kill alone may have another reason
        ([killed_task(None, "OUT_OF_MEMORY")], True),
        ([TaskEnd(name="0", state="failed", exit_code=1, failed=True)], False),
        ([], False),
    ],
)
def test_only_what_points_to_memory_is_taken_for_it(tasks: list[TaskEnd], memory: bool) -> None:
    assert ended_for_memory(tasks) is memory
