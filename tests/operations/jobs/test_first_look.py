"""The first look at a job's log: a step that stood there before may be hours old, and proves
nothing until it is dated.
"""

import os
import time
from datetime import datetime, timedelta
from typing import Any

import pytest

from herorun.operations.jobs.scheduler import JobLogTracker
from herorun.system.clock import now
from jobs_alone import Alone, babysit
from wording import mentions

STEP = "step 49/90 loss 2\nstep 50/90 loss 2\n"
CHATTER = STEP + "NCCL WARN a slow link\n"
GAP = timedelta(minutes=15)
HOUR = timedelta(hours=1)


class LogOf:
    """What a tracker asks of a `ExternalJobs`."""

    def __init__(self, text: str, age: timedelta | None) -> None:
        self.text, self.age = text, age

    def tail(self, instance: str, lines: int) -> str:
        return self.text

    def log_changed_at(self, instance: str) -> datetime | None:
        return None if self.age is None else now() - self.age


def tracker(text: str, age: timedelta | None) -> JobLogTracker:
    scheduler: Any = LogOf(text, age)
    return JobLogTracker(scheduler, "x-1", GAP)


@pytest.mark.parametrize(
    ("text", "age", "is_undated", "old"),
    [
        (STEP, timedelta(), False, timedelta()),
        (STEP, 3 * HOUR, False, 3 * HOUR),
        (CHATTER, timedelta(), True, timedelta()),  # the log's change is that of another line
        (CHATTER, 3 * HOUR, True, 3 * HOUR),
        (STEP, None, True, timedelta()),  # its kind of job tells no age
    ],
)
def test_a_step_of_the_first_look_is_as_old_as_the_log_says_or_undated(
    text: str, age: timedelta | None, is_undated: bool, old: timedelta
) -> None:
    rows = tracker(text, age).read("")
    (row,) = rows.rows
    assert rows.undated is is_undated and row.at is not None
    assert abs(now() - row.at - old) < timedelta(seconds=30)


def test_a_step_that_came_since_the_last_look_is_dated_by_it_and_the_same_step_is_no_row() -> None:
    first = tracker(STEP, None).read("")
    again = tracker(STEP, None).read(first.cursor)
    later = tracker("step 51/90\nNCCL WARN a slow link\n", None).read(again.cursor)
    assert (again.rows, later.undated) == ((), False)
    assert [row.step for row in later.rows] == [51]


def test_after_a_long_sleep_a_further_step_is_undated_like_a_first_one() -> None:
    asleep = (now() - 2 * GAP).timestamp()
    assert tracker("step 51/90\n", None).read(f"x-1:50:{int(asleep)}").undated
    assert not tracker("step 51/90\n", timedelta()).read(f"x-1:50:{int(asleep)}").undated
    # the row of a job that was submitted again is a first one, too
    assert tracker("step 51/90\n", None).read(f"x-0:50:{int(now().timestamp())}").undated


def test_one_look_at_a_live_job_is_healthy_by_a_step_of_now_alone(
    alone: Alone, capsys: pytest.CaptureFixture[str]
) -> None:
    log = alone.folder / "log"
    words = ("--job", str(os.getpid()), "--scheduler", "local", "--log", "log", "--once")
    log.write_text(STEP)
    os.utime(log, (time.time() - 10_800,) * 2)
    old = babysit(alone, capsys, *words)
    assert old.code == 3 and "starting" in old.out and "healthy" not in old.out, old
    (row,) = [line for line in old.out.splitlines() if "expected" in line]
    assert mentions(row, f" {os.getpid()} ", "due by 20"), old

    log.write_text("step 51/90 loss 2\n")
    assert babysit(alone, capsys, *words).code == 0


def test_a_step_before_other_lines_is_awaited_once_more(
    alone: Alone, capsys: pytest.CaptureFixture[str]
) -> None:
    (alone.folder / "log").write_text(CHATTER)
    words = ("--job", str(os.getpid()), "--scheduler", "local", "--log", "log", "--once")
    first = babysit(alone, capsys, *words)
    assert first.code == 3 and mentions(first.out, "waiting", "due by"), first
    assert "~50/90" in first.out
