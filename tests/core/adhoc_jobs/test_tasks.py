"""The postmortem by a job's tasks, in one sentence."""

from dataclasses import replace

from herorun.core.adhoc_jobs.tasks import TaskEnd, memory_asked, summary
from wording import mentions

KILLED_TASK = TaskEnd(
    name="0", state="failed", exit_code=137, peak_mb=15.9, limit_mb=16.0, failed=True
)
FINE = TaskEnd(name="1", state="succeeded", exit_code=0, peak_mb=3.0, limit_mb=16.0)


def test_shards_at_the_limit_that_were_killed_need_more_memory() -> None:
    message = summary([*[KILLED_TASK] * 13, FINE], "shard")
    assert mentions(message, "13 of", "14 shards", "137", "raise")


def test_without_a_limit_the_code_speaks_and_the_peak_is_reported() -> None:
    message = summary([replace(KILLED_TASK, limit_mb=None, peak_mb=4096.0)])
    assert mentions(message, "1 of", "1 task", "137", "peak", "4,096", "MB")


def test_tasks_that_the_scheduler_calls_out_of_memory_count_without_a_sampled_peak() -> None:
    sampled_task = replace(KILLED_TASK, state="OUT_OF_MEMORY")
    message = summary([sampled_task, replace(sampled_task, name="1", peak_mb=1.1)])
    assert mentions(message, "2 of", "2 tasks", "137", "raise")


def test_a_failure_far_from_the_limit_is_no_matter_of_memory() -> None:
    assert "memory" not in summary([replace(KILLED_TASK, exit_code=1, peak_mb=2.0), FINE])


def test_nothing_is_reported_where_nothing_failed() -> None:
    assert summary([FINE]) == summary([]) == ""
    # one task tells no more than the job
    assert summary([replace(KILLED_TASK, exit_code=1, peak_mb=2.0)]) == ""


def test_the_limit_of_the_command_is_read_in_either_spelling() -> None:
    assert memory_asked(["--memory=2GB"]) == memory_asked(["--mem", "2048M"]) == 2048.0
    assert memory_asked(["--memory"]) is None
