"""A clock that is set makes no stall, and hides none: through the sources and the check."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from builders import EVERY, MINUTE, NOON, a_contract, a_history, a_job, a_row, an_instance
from herorun.checks.health.stalled_steps import Limits, stalled_steps
from herorun.core.evidence import Cadence, FinalStep, Job, JobState, Metrics, Nothing, Now
from herorun.core.finding import Outcome, Verdict
from herorun.core.ports import Found, Place, Row, Rows
from herorun.sources.jobs import read_job
from herorun.sources.metrics import keep_metrics, read_metrics

LOOK = 5 * MINUTE  # from one look to the next
IDLE, STARTUP = Limits().idle, Limits().startup
LEAPS = [timedelta(hours=3), timedelta(hours=-3), 2 * MINUTE, -2 * MINUTE]


def each_by_one_clock(first: list[int]) -> pytest.MarkDecorator:
    """All pairs with each leap, by one clock; by the other `make test-thorough` tries them too."""
    cases = [
        pytest.param(
            minutes,
            leap,
            is_shared,
            marks=() if is_shared is ((row + column) % 2 == 0) else pytest.mark.thorough,
        )
        for row, minutes in enumerate(first)
        for column, leap in enumerate(LEAPS)
        for is_shared in (True, False)
    ]
    return pytest.mark.parametrize(("minutes", "leap", "is_shared"), cases)


class World:
    """A job that began at noon and writes a row a minute until it stalls. The clock of this machine
    leaps once; those who date rows and jobs go by it, or by a clock that is right.
    """

    def __init__(self, folder: Path, leap: timedelta, at: timedelta, is_shared: bool) -> None:
        self.place = Place("tiny", str(folder), "", "")
        self.leap, self.leaps_at, self.is_shared = leap, at, is_shared
        self.ahead = timedelta()  # before the leap
        self.first_row, self.stall = MINUTE, timedelta(days=99)
        self.time_passed = timedelta()
        self.rows: list[Row] = []
        self.job = a_job(started=self.date_of(timedelta()), id="1")
        started_at = self.clock(timedelta())
        self.history = a_history(
            instances=(an_instance(started=started_at, intended=started_at - timedelta(seconds=1)),)
        )

    def clock(self, time_passed: timedelta) -> datetime:
        """What this machine's shows after so much time."""
        return (
            NOON
            + time_passed
            + self.ahead
            + (self.leap if time_passed >= self.leaps_at else timedelta())
        )

    def date_of(self, time_passed: timedelta) -> datetime:
        return self.clock(time_passed) if self.is_shared else NOON + time_passed

    def read(self, cursor: str) -> Rows:
        offset = int(cursor or 0)
        return Rows(rows=tuple(self.rows[offset:]), cursor=str(len(self.rows)), changed_at=None)

    def find(self, instance: str, since: datetime) -> Found:
        return Found(self.job)

    def look(self) -> Verdict:
        """After so much time has passed, with the rows that were written until then."""
        minute = self.first_row + MINUTE * len(self.rows)
        while minute <= min(self.time_passed, self.stall):
            self.rows.append(a_row(len(self.rows), 2.0, self.date_of(minute)))
            minute += MINUTE
        now = Now(self.clock(self.time_passed), "boot", 1000 + self.time_passed.total_seconds())
        job = read_job(self, self.history, self.place, now)
        metrics = read_metrics(self, a_contract(), self.place, now, self.history)
        keep_metrics(self.place, metrics)
        assert isinstance(job, Job) and isinstance(metrics, Metrics | Nothing)
        self.metrics = metrics
        final = FinalStep(100_000, "runs/tiny.toml")
        nothing = Nothing()
        answer = stalled_steps(
            job, metrics, nothing, nothing, self.history, now, Cadence(EVERY), final, Limits()
        )
        assert isinstance(answer, Verdict)
        return answer

    def looks(self, until: timedelta) -> Iterator[tuple[timedelta, Outcome]]:
        """For how long no row came, and the answer."""
        while self.time_passed <= until:
            answer = self.look()
            newest = self.first_row + MINUTE * (len(self.rows) - 1) if self.rows else timedelta()
            yield self.time_passed - newest, answer.outcome
            self.time_passed += self.pause(self.time_passed - newest)

    def pause(self, idle: timedelta) -> timedelta:
        """Until the next look: long ones where nothing is to happen soon."""
        until_leap = self.leaps_at - self.time_passed
        if idle > 3 * STARTUP and until_leap > 8 * LOOK:
            return until_leap - 4 * LOOK
        near_leap = abs(until_leap) <= 4 * LOOK
        return LOOK if near_leap or idle <= STARTUP + 2 * LOOK else 4 * LOOK


def wrong_answers(
    world: World, until: timedelta, limit: timedelta
) -> list[tuple[timedelta, Outcome]]:
    """The answers that are wrong: those of a look around the limit may be either, and as far as
    two clocks differ by less than a look, no look can say it.
    """
    differ = timedelta() if world.is_shared else min(abs(world.leap), LOOK)
    return [
        (idle, outcome)
        for idle, outcome in world.looks(until)
        if (idle <= limit - differ and outcome is not Outcome.PASS)
        or (idle > limit + LOOK and outcome is not Outcome.FAIL)
    ]


@pytest.mark.parametrize("is_shared", [True, False])
@pytest.mark.parametrize("leap", LEAPS)
def test_a_run_that_trains(tmp_path: Path, leap: timedelta, is_shared: bool) -> None:
    world = World(tmp_path, leap, 31 * MINUTE, is_shared)
    assert wrong_answers(world, timedelta(hours=4), IDLE) == []


@each_by_one_clock([-15, 2, 40, 60 * 24 * 3])
def test_a_stall_with_a_leap_so_long_after_it_began(
    tmp_path: Path, leap: timedelta, minutes: int, is_shared: bool
) -> None:
    stall = 61 * MINUTE
    world = World(tmp_path, leap, stall + minutes * MINUTE, is_shared)
    world.stall = stall
    assert wrong_answers(world, world.leaps_at + timedelta(hours=5), IDLE) == []


@pytest.mark.parametrize("leap", LEAPS)
@pytest.mark.parametrize("first_look", [50, 60])
def test_a_row_keeps_its_own_time(tmp_path: Path, leap: timedelta, first_look: int) -> None:
    """Other times of then, such as that of the job's end, are compared with it."""
    world = World(tmp_path, leap, 61 * MINUTE, is_shared=True)
    world.stall = 60 * MINUTE
    for minutes in (first_look, 62, 67, 90):
        world.time_passed = minutes * MINUTE
        world.look()
    assert isinstance(world.metrics, Metrics)
    assert abs(world.metrics.stamped_at - world.date_of(world.stall)) <= 3 * MINUTE
    assert world.metrics.advanced_at >= world.date_of(world.stall) + min(leap, timedelta())


@each_by_one_clock([30, 60 * 9])
def test_before_the_first_row(
    tmp_path: Path, leap: timedelta, minutes: int, is_shared: bool
) -> None:
    world = World(tmp_path, leap, 12 * MINUTE, is_shared)
    world.first_row = minutes * MINUTE
    until = timedelta(hours=5)
    limit = STARTUP if minutes > 60 else max(IDLE, 30 * MINUTE)
    assert wrong_answers(world, until, limit) == []


@pytest.mark.parametrize("stall", [5, 60])
@pytest.mark.parametrize("ahead", [timedelta(hours=3), 2 * MINUTE])
def test_a_clock_that_was_ahead_before_the_first_look(
    tmp_path: Path, ahead: timedelta, stall: int
) -> None:
    world = World(tmp_path, -ahead, 2 * MINUTE, is_shared=True)
    world.ahead = ahead
    world.job = replace(world.job, started=world.date_of(timedelta()))
    world.stall, world.time_passed = stall * MINUTE, 3 * MINUTE
    assert wrong_answers(world, world.stall + timedelta(hours=5), IDLE) == []


def test_rows_of_the_future_prove_nothing_in_the_first_look(tmp_path: Path) -> None:
    world = World(tmp_path, timedelta(), timedelta(), is_shared=True)
    world.rows = [a_row(0, 2.0, NOON + timedelta(hours=3))]
    now = Now(NOON, "boot", 1000.0)
    first = read_metrics(world, a_contract(), world.place, now, world.history)
    assert isinstance(first, Metrics) and (first.advanced_at, first.undated) == (NOON, True)


class ReckoningWorld(World):
    """Whose scheduler tells a start that differs a little from look to look."""

    differs_by = timedelta()

    def find(self, instance: str, since: datetime) -> Found:
        self.differs_by = -self.differs_by
        return Found(replace(self.job, started=NOON + self.differs_by))


@pytest.mark.parametrize("seconds", [0.000_001, 2.0])
def test_a_start_that_differs_a_little_at_each_look_makes_no_younger_job(
    tmp_path: Path, seconds: float
) -> None:
    world = ReckoningWorld(tmp_path, timedelta(), timedelta(days=9), is_shared=True)
    world.differs_by, world.first_row = timedelta(seconds=seconds), timedelta(days=9)
    while world.time_passed <= STARTUP + 2 * LOOK:
        answer = world.look()
        world.time_passed += LOOK
    assert answer.outcome is Outcome.FAIL


def test_a_job_that_waits_for_hours_has_not_run_since(tmp_path: Path) -> None:
    """The clock leaps while it waits, and the scheduler dates its start by one that is right."""
    world = World(tmp_path, timedelta(hours=3), 10 * MINUTE, is_shared=False)
    first_job, world.job = world.job, a_job(JobState.PENDING, started=None)
    for minute in (0, 5, 10):
        world.time_passed = minute * MINUTE
        world.look()
    world.job = replace(first_job, started=NOON + 12 * MINUTE)
    world.time_passed = 15 * MINUTE
    now = Now(world.clock(world.time_passed), "boot", 1000 + world.time_passed.total_seconds())
    job = read_job(world, world.history, world.place, now)
    assert isinstance(job, Job) and job.began is not None
    assert timedelta() <= now.at - job.began <= 5 * MINUTE
