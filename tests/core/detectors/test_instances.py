"""Whose rows they are: by what the record says of each launch."""

import math
from datetime import timedelta

import pytest

from builders import NOON, a_row
from curves import NAMES, curve, summarise
from herorun.core.detectors.instances import Boundary, launched_by
from herorun.core.detectors.pipeline import fold_rows
from herorun.core.detectors.state import MetricsState

HOUR = timedelta(hours=1)
LATER = NOON + HOUR
TWO = (
    Boundary(instance="tiny-1", since=NOON - HOUR, start=0),
    Boundary(instance="tiny-2", since=LATER, start=120),
)


def metrics_of(rows, boundaries=TWO, observed_at=None):
    return summarise(
        fold_rows(MetricsState(), rows, NAMES, seen_at=observed_at, boundaries=boundaries)
    )


def at(rows, since):
    """The rows, one a second from then on."""
    return [
        type(row)(row.step, row.values, since + timedelta(seconds=n), row.attempt)
        for n, row in enumerate(rows)
    ]


def untimed_rows(rows):
    return [type(row)(row.step, row.values, None, row.attempt) for row in rows]


def test_the_newest_that_had_been_launched_by_then_wrote_it():
    assert launched_by(TWO, NOON - 2 * HOUR) == -1
    assert launched_by(TWO, NOON) == 0
    assert launched_by(TWO, LATER) == 1
    assert launched_by(TWO, NOON, at_least=1) == 1  # a clock that is set back takes nothing back
    assert launched_by(TWO, None) == -1


def test_a_launch_dated_by_a_clock_that_was_set_back_takes_no_older_rows():
    """All rows are read again: those of the instance before are younger than the launch seems."""
    back = (TWO[0], Boundary(instance="tiny-2", since=NOON - 2 * HOUR, start=120))
    rows = [*at(curve(*[2.0] * 120), NOON), *at(curve(*[2.0] * 20, first=120), LATER)]
    metrics = metrics_of(rows, boundaries=back)

    assert (metrics.first_step, metrics.instance) == (121, "tiny-2")
    assert launched_by(back, NOON, step=120) == 0
    assert launched_by(back, NOON, step=121) == launched_by(back, NOON) == 1


@pytest.mark.parametrize("read", [120, 130])
def test_a_launch_dated_by_a_clock_that_ran_ahead_gets_its_rows_by_their_steps(read):
    """It was launched between two looks; the rows are read at once, or in two parts."""
    before, after = at(curve(*[2.0] * 130), NOON), at(curve(*[2.0] * 40, first=120), LATER)
    rows, looks = [*before, *after], {"misdated": LATER + timedelta(seconds=30)}
    ahead = (
        TWO[0],
        Boundary(instance="tiny-2", since=NOON + timedelta(seconds=60), start=120, **looks),
    )
    state = fold_rows(MetricsState(), rows[:read], NAMES, boundaries=ahead)
    metrics = summarise(fold_rows(state, rows[read:], NAMES, boundaries=ahead))

    assert (metrics.instance, metrics.first_step) == ("tiny-2", 121)
    assert launched_by(ahead, LATER, step=120) == 0
    assert launched_by(ahead, looks["misdated"], step=120) == 1  # it began anew


def test_rows_dated_in_the_future_stay_with_the_instance_before():
    """All rows are read again; the last thirty of the older instance were dated an hour ahead."""
    old = [*at(curve(*[2.0] * 90), NOON), *at(curve(*[2.0] * 30, first=90), LATER + HOUR)]
    observations = LATER + timedelta(minutes=1)
    metrics = metrics_of(
        [*old, *at(curve(*[2.0] * 20, first=120), LATER)], observed_at=observations
    )

    assert (metrics.instance, metrics.first_step) == ("tiny-2", 121)


@pytest.mark.parametrize("first", [120, 150])
def test_a_resume_that_repeats_no_step_is_seen_anyway(first):
    """The checkpoint is of the last step; or the tracker drops the steps that it has, as W&B's
    client does.
    """
    before, after = curve(*[2.0] * first, lr=1e-4), curve(*[2.0] * 20, first=first, lr=16e-4)
    metrics = metrics_of([*at(before, NOON), *at(after, LATER)])

    assert (metrics.attempts, metrics.first_step, metrics.instance) == (2, first + 1, "tiny-2")
    resume = metrics.resume
    assert (resume.step, resume.high_water, resume.instance) == (first + 1, first, "tiny-2")
    assert (resume.rate_before, resume.rate_after) == (1e-4, 16e-4)
    assert metrics_of([*at(before, NOON), *at(after, LATER)], boundaries=()).resume is None


@pytest.mark.parametrize("overlap", [1, 5, 30])
@pytest.mark.parametrize("is_counted", [True, False])
def test_a_short_repetition_without_times_is_the_relaunch_once_its_writer_is_certain(
    overlap, is_counted
):
    """Not rows that came late: steps, pace and loss would stay those of the crash before."""
    start = 120 - overlap
    boundaries = (
        TWO[0],
        Boundary(instance="tiny-2", since=LATER, start=start, rows=120, counted=is_counted),
    )
    before, after = untimed_rows(curve(*[2.0] * 120)), untimed_rows(curve(*[2.0] * 40, first=start))
    state = fold_rows(MetricsState(), before, NAMES, seen_at=LATER, boundaries=TWO[:1])
    state.polled_at = LATER + timedelta(seconds=0 if not is_counted else -1)
    seen_at = LATER + timedelta(minutes=1)
    metrics = summarise(fold_rows(state, after, NAMES, seen_at=seen_at, boundaries=boundaries))

    assert (metrics.instance, metrics.first_step) == ("tiny-2", start + 1)
    assert (metrics.attempts, metrics.late, metrics.step) == (2, 0, start + 40)


def test_a_last_row_without_a_time_that_came_late_does_not_begin_the_relaunch():
    boundaries = (
        TWO[0],
        Boundary(instance="tiny-2", since=LATER, start=100, rows=120, counted=True),
    )
    old, new = untimed_rows(curve(*[2.0] * 123)), untimed_rows(curve(*[2.0] * 60, first=100))
    state = fold_rows(MetricsState(), old[:120], NAMES, seen_at=LATER, boundaries=TWO[:1])
    state = fold_rows(state, old[120:], NAMES, seen_at=LATER, boundaries=boundaries)
    assert summarise(state).instance == "tiny-1"
    metrics = summarise(fold_rows(state, new, NAMES, seen_at=LATER, boundaries=boundaries))

    assert (metrics.instance, metrics.first_step, metrics.step) == ("tiny-2", 101, 160)


@pytest.mark.parametrize("overlap", [1, 5])
@pytest.mark.parametrize("at_first", [7, 20])
def test_a_relaunch_whose_repetition_was_taken_for_late_rows_is_seen_at_the_next_look(
    overlap, at_first
):
    """No tick had counted the rows before it, and it repeats what was logged to the last digit."""
    start = 120 - overlap
    boundaries = (TWO[0], Boundary(instance="tiny-2", since=LATER, start=start, rows=120))
    old, new = untimed_rows(curve(*[2.0] * 120)), untimed_rows(curve(*[2.0] * 60, first=start))
    state = fold_rows(MetricsState(), old, NAMES, seen_at=LATER, boundaries=TWO[:1])
    state.polled_at = LATER - timedelta(minutes=1)
    for rows in (new[:at_first], new[at_first:]):
        state = fold_rows(state, rows, NAMES, seen_at=LATER + HOUR, boundaries=boundaries)
        state.polled_at = LATER + HOUR

    assert (summarise(state).instance, summarise(state).step) == ("tiny-2", start + 60)


def test_a_level_that_is_off_behind_such_a_resume_is_measured():
    on = [2.0 * (1 + 0.001 * math.sin(n)) for n in range(300)]
    rows = [
        *at(curve(*on[:150]), NOON),
        *at(curve(*(x * 1.015 for x in on[150:]), first=150), LATER),
    ]
    resume = metrics_of(rows).resume

    assert resume.after == 50 and math.expm1(resume.offset) == pytest.approx(0.015, abs=0.001)


def test_the_first_row_alone_tells_the_learning_rate_where_the_loss_is_nan():
    rows = [*at(curve(*[2.0] * 120, lr=1e-4), NOON), *at([a_row(120, math.nan, lr=16e-4)], LATER)]
    metrics = metrics_of(rows)

    assert metrics.resume.rate_after == 16e-4
    assert [excursion.open for excursion in metrics.non_finite] == [True]


# --- a restart by the back end, under the same instance -------------------------------------------

ONE = (Boundary(instance="tiny-1", since=NOON - HOUR, start=0),)
AGAIN = (*ONE, Boundary(instance="tiny-1", since=LATER, attempt=2))


@pytest.mark.parametrize("first", [120, 150])
def test_a_restart_of_the_same_instance_is_known_by_its_check_in(first):
    before, after = curve(*[2.0] * first, lr=1e-4), curve(*[2.0] * 20, first=first, lr=16e-4)
    metrics = metrics_of([*at(before, NOON), *at(after, LATER)], AGAIN)

    assert (metrics.attempts, metrics.first_step, metrics.instance) == (2, first + 1, "tiny-1")
    assert (metrics.resume.rate_before, metrics.resume.rate_after) == (1e-4, 16e-4)
    assert metrics_of([*at(before, NOON), *at(after, LATER)], ONE).resume is None


def restarted_late(rows, later):
    """The look that sees the check-in has read rows of the restart already."""
    state = fold_rows(MetricsState(), rows, NAMES, boundaries=ONE)
    return summarise(fold_rows(state, later, NAMES, boundaries=AGAIN))


@pytest.mark.parametrize("read", [3, 20])
def test_a_check_in_that_is_read_after_the_first_rows_of_the_restart_parts_them(read):
    after = at(curve(*[2.0] * 40, first=120, lr=16e-4), LATER)
    metrics = restarted_late([*at(curve(*[2.0] * 120, lr=1e-4), NOON), *after[:read]], after[read:])

    assert (metrics.attempts, metrics.first_step, metrics.step) == (2, 121, 160)
    resume = metrics.resume
    assert (resume.step, resume.high_water, resume.rate_before, resume.rate_after) == (
        121,
        120,
        1e-4,
        16e-4,
    )


def test_a_level_that_is_off_is_measured_where_the_check_in_is_read_late():
    on = [2.0 * (1 + 0.001 * math.sin(n)) for n in range(300)]
    after = at(curve(*(x * 1.015 for x in on[150:]), first=150), LATER)
    resume = restarted_late([*at(curve(*on[:150]), NOON), *after[:60]], after[60:]).resume

    assert resume.after == 50 and math.expm1(resume.offset) == pytest.approx(0.015, abs=0.002)


def test_a_restart_whose_steps_went_back_is_one_attempt_however_late_it_is_known():
    after = at(curve(*[2.1] * 60, first=100), LATER)
    metrics = restarted_late([*at(curve(*[2.0] * 120), NOON), *after[:30]], after[30:])

    assert (metrics.attempts, metrics.first_step, metrics.resume.step) == (2, 101, 101)
    assert metrics.resume.compared == 20


def test_rows_of_a_restart_that_are_still_to_come_are_waited_for():
    rows = at(curve(*[2.0] * 120, lr=1e-4), NOON)
    state = fold_rows(MetricsState(), rows, NAMES, boundaries=AGAIN)
    metrics = summarise(
        fold_rows(state, at(curve(2.0, first=120, lr=2e-4), LATER), NAMES, boundaries=AGAIN)
    )

    assert (metrics.attempts, metrics.resume.rate_after) == (2, 2e-4)


def test_a_restart_says_nothing_of_rows_without_a_time():
    rows = untimed_rows(curve(*[2.0] * 140))

    assert metrics_of(rows, AGAIN, observed_at=LATER + HOUR).attempts == 1


def test_the_next_launch_forgets_the_restarts_of_the_one_before():
    state = fold_rows(MetricsState(), at(curve(*[2.0] * 120), NOON), NAMES, boundaries=AGAIN)
    state = fold_rows(state, at(curve(*[2.0] * 5, first=120), LATER), NAMES, boundaries=AGAIN)
    later = at(curve(*[2.0] * 5, first=125), LATER + HOUR)
    both = (*ONE, Boundary(instance="tiny-2", since=LATER + HOUR, start=125))

    assert summarise(fold_rows(state, [], NAMES, boundaries=both)).attempts == 2
    assert summarise(fold_rows(state, later, NAMES, boundaries=both)).instance == "tiny-2"


def test_rows_without_a_time_change_hands_where_they_pass_the_start():
    rows = untimed_rows([*curve(*[2.0] * 120, lr=1e-4), *curve(*[2.0] * 20, first=120, lr=16e-4)])
    metrics = metrics_of(
        rows,
        (TWO[0], Boundary(instance="tiny-2", since=LATER, start=120, rows=110)),
        observed_at=LATER + HOUR,
    )

    assert metrics.instance == "tiny-2" and metrics.resume.rate_after == 16e-4
    early = metrics_of(
        rows, TWO, observed_at=LATER - HOUR / 2
    )  # the source has not changed since the launch
    assert early.instance == "tiny-1" and early.resume is None


def test_rows_without_a_time_that_a_tick_knew_before_the_launch_are_the_older_ones():
    rows = untimed_rows(curve(*[2.0] * 130))
    metrics = metrics_of(
        rows,
        (TWO[0], Boundary(instance="tiny-2", since=LATER, start=120, rows=130)),
        observed_at=LATER + HOUR,
    )

    assert metrics.instance == "tiny-1" and metrics.resume is None


def test_rows_without_a_time_change_hands_where_they_go_back():
    rows = untimed_rows([*curve(*[2.0] * 150), *curve(*[2.1] * 20, first=120)])
    metrics = metrics_of(
        rows,
        (TWO[0], Boundary(instance="tiny-2", since=LATER, start=120, rows=140)),
        observed_at=LATER + HOUR,
    )

    assert metrics.instance == metrics.resume.instance == "tiny-2"


# --- rows without a time that nobody counted before the launch ------------------------------------

UNCOUNTED_BOUNDARIES = (TWO[0], Boundary(instance="tiny-2", since=LATER, start=120))
COUNTED_BOUNDARIES = (
    TWO[0],
    Boundary(instance="tiny-2", since=LATER, start=120, rows=150, counted=True),
)
RESTARTED_CURVE = untimed_rows(
    [*curve(*[2.0] * 150), *curve(*[2.1] * 60, first=100)]
)  # back to step 100


def test_rows_that_nobody_counted_begin_as_the_oldest_instances_and_pass_on_at_the_start():
    """No tick looked between the two launches: the rows up to the start are not the new
    instance's.
    """
    rows = untimed_rows(curve(*[2.0] * 125))
    assert (
        metrics_of(rows[:120], UNCOUNTED_BOUNDARIES, observed_at=LATER + HOUR).instance == "tiny-1"
    )
    metrics = metrics_of(rows, UNCOUNTED_BOUNDARIES, observed_at=LATER + HOUR)

    assert (metrics.instance, metrics.first_step) == ("tiny-2", 121)


def test_an_attempt_below_the_start_is_nobodys_where_the_rows_were_not_counted():
    """It may as well be a restart of the older job by its scheduler."""
    assert (
        metrics_of(RESTARTED_CURVE, UNCOUNTED_BOUNDARIES, observed_at=LATER + HOUR).instance
        == "tiny-1"
    )
    assert (
        metrics_of(RESTARTED_CURVE, COUNTED_BOUNDARIES, observed_at=LATER + HOUR).instance
        == "tiny-2"
    )


def test_rows_that_came_after_a_look_since_the_launch_are_the_new_instances():
    state = fold_rows(
        MetricsState(),
        RESTARTED_CURVE[:150],
        NAMES,
        seen_at=LATER - HOUR / 2,
        boundaries=UNCOUNTED_BOUNDARIES,
    )
    state.polled_at = LATER + HOUR / 2
    metrics = summarise(
        fold_rows(
            state,
            RESTARTED_CURVE[150:],
            NAMES,
            seen_at=LATER + HOUR,
            boundaries=UNCOUNTED_BOUNDARIES,
        )
    )

    assert (metrics.instance, metrics.first_step) == ("tiny-2", 101)


def test_of_several_uncounted_instances_none_is_accused_of_the_steps_of_another():
    three = (
        TWO[0],
        Boundary(instance="tiny-2", since=LATER, start=100),
        Boundary(instance="tiny-3", since=LATER + HOUR, start=120),
    )
    metrics = metrics_of(
        RESTARTED_CURVE[:170], three, observed_at=LATER + 2 * HOUR
    )  # tiny-2 came to 120 at least

    assert metrics.first_step == 101 and metrics.instance != "tiny-3"


def test_an_instance_that_wrote_nothing_is_passed_over():
    three = (*TWO, Boundary(instance="tiny-3", since=LATER + HOUR, start=120))
    rows = [*at(curve(*[2.0] * 120), NOON), *at(curve(*[2.0] * 20, first=120), LATER + 2 * HOUR)]

    assert metrics_of(rows, three).resume.instance == "tiny-3"


def test_two_relaunches_in_one_read_are_two_attempts():
    three = (*TWO, Boundary(instance="tiny-3", since=LATER + HOUR, start=120))
    rows = [
        *at(curve(*[2.0] * 120), NOON),
        *at(curve(*[2.0] * 3, first=120), LATER),
        *at(curve(*[2.0] * 20, first=123), LATER + 2 * HOUR),
    ]

    assert (metrics_of(rows, three).attempts, metrics_of(rows, three).resume.instance) == (
        3,
        "tiny-3",
    )


def test_a_learning_rate_that_continues_moving_is_no_jump():
    """In the warm-up each row's is another one; one that is far away says nothing."""
    rate = [1e-5 * (n + 1) for n in range(30)]
    rows = [a_row(n, 2.0, lr=rate[n]) for n in range(8)]
    resume = metrics_of([*at(rows, NOON), *at([a_row(10, 2.0, lr=rate[10])], LATER)]).resume
    assert resume.rate_before == pytest.approx(rate[10])

    later_resume = metrics_of([*at(rows, NOON), *at([a_row(28, 2.0, lr=rate[28])], LATER)]).resume
    assert later_resume.rate_before is None


@pytest.mark.parametrize("has_times", [True, False])
@pytest.mark.parametrize("first_look", [0, 160])
def test_rows_of_a_discarded_lineage_show_nothing_of_the_present_one(has_times, first_look):
    """NaN from step 122 to the end of the first instance; the second does the steps since 120
    again, and they are sound.
    """
    old = at(curve(*[2.0] * 121, *[math.nan] * 60), NOON)
    new = at(curve(*[2.0] * 7, first=120), LATER)
    boundaries = (TWO[0], Boundary(instance="tiny-2", since=LATER, start=120, rows=len(old)))
    rows = [*old, *new] if has_times else untimed_rows([*old, *new])
    observations = LATER + HOUR

    state = fold_rows(
        MetricsState(), rows[:first_look], NAMES, seen_at=observations, boundaries=boundaries
    )
    metrics = summarise(
        fold_rows(state, rows[first_look:], NAMES, seen_at=observations, boundaries=boundaries)
    )
    assert (metrics.instance, metrics.step) == ("tiny-2", 127)
    assert metrics.non_finite == ()
    assert metrics.of("spike", "elevated", "drift", "diverged") == ()


def test_what_was_not_finite_before_the_step_that_the_next_one_started_from_is_of_its_lineage():
    old = at(curve(*[2.0] * 100, *[math.nan] * 10, *[2.0] * 40), NOON)
    rows = [*old, *at(curve(*[2.0] * 7, first=120), LATER)]

    (excursion,) = metrics_of(rows).non_finite
    assert (excursion.first_step, excursion.open) == (101, False)
