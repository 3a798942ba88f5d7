from datetime import timedelta

import pytest

from builders import MINUTE, NOON, TEMPORARY, a_checkpoint, a_contract, a_job, answer, some_metrics
from herorun.checks.health.late_checkpoints import Limits, late_checkpoints
from herorun.core.check import Response, Topic
from herorun.core.evidence import Checkpoints, JobState, Metrics, Nothing
from herorun.core.finding import Outcome
from wording import mentions

SECOND = timedelta(seconds=1)
BY_STEPS = a_contract(checkpoints={"permanent_every": 100, "temporary_every": None})
BY_TIME = a_contract(checkpoints={"permanent_every": None, "temporary_every": "20m"})
UNSTATED_CONTRACT = a_contract(checkpoints={"permanent_every": None, "temporary_every": None})
LONG = a_job(started=NOON - timedelta(days=1))


def saved_checkpoints(*steps, age=None, **changes):
    from dataclasses import replace

    fields = {"modified": NOON - age} if age is not None else {}
    return Checkpoints(tuple(replace(a_checkpoint(step, **changes), **fields) for step in steps))


def at(step, *changes, contract=BY_STEPS):
    rows = some_metrics(step, advanced_at=NOON, first_step=1)
    return answer(late_checkpoints, contract, LONG, rows, *changes)


@pytest.mark.parametrize(("step", "outcome"), [(350, Outcome.PASS), (351, Outcome.FAIL)])
def test_one_and_a_half_intervals_of_steps(step, outcome):
    assert at(step, saved_checkpoints(100, 200)).outcome is outcome


def test_it_says_which_is_the_newest():
    assert mentions(
        at(400, saved_checkpoints(200)).message,
        "400",
        "newest",
        "200",
        "100 steps",
        "permanent_every",
        "2.0",
    )


@pytest.mark.parametrize(
    ("age", "outcome"), [(40 * MINUTE, Outcome.PASS), (40 * MINUTE + SECOND, Outcome.FAIL)]
)
def test_one_and_a_half_intervals_of_time_and_ten_minutes_for_the_save(age, outcome):
    assert at(300, saved_checkpoints(200, age=age), contract=BY_TIME).outcome is outcome


@pytest.mark.parametrize(
    ("up", "outcome"), [(85 * MINUTE, Outcome.PASS), (85 * MINUTE + SECOND, Outcome.FAIL)]
)
def test_a_start_may_take_45_minutes_before_time_counts(up, outcome):
    rows = some_metrics(90, advanced_at=NOON)
    job = a_job(started=NOON - up)

    assert (
        answer(
            late_checkpoints, BY_TIME, job, rows, saved_checkpoints(10, age=timedelta(days=2))
        ).outcome
        is outcome
    )


def test_where_nothing_is_stated_the_last_gaps_decide():
    assert (
        at(190, saved_checkpoints(10, 20, 30, 40, 50, 150), contract=UNSTATED_CONTRACT).outcome
        is Outcome.FAIL
    )
    assert (
        at(164, saved_checkpoints(10, 20, 30, 40, 50, 150), contract=UNSTATED_CONTRACT).outcome
        is Outcome.PASS
    )
    assert (
        at(900, saved_checkpoints(10, 20), contract=UNSTATED_CONTRACT).outcome
        is Outcome.NOT_APPLICABLE
    )


def test_temporary_ones_do_not_make_up_for_permanent_ones():
    both = Checkpoints(
        (
            *saved_checkpoints(200).candidates,
            *saved_checkpoints(340, root=TEMPORARY, temporary=True).candidates,
        )
    )

    assert at(351, both).outcome is Outcome.FAIL


def test_an_incomplete_one_counts_only_while_it_is_written():
    def incomplete_checkpoints(age):
        return Checkpoints(
            (
                *saved_checkpoints(200).candidates,
                *saved_checkpoints(300, age=age, problem="no metadata.json").candidates,
            )
        )

    assert at(351, incomplete_checkpoints(10 * MINUTE)).outcome is Outcome.PASS
    assert at(351, incomplete_checkpoints(10 * MINUTE + SECOND)).outcome is Outcome.FAIL


def test_an_older_one_that_was_only_listed_is_there():
    from dataclasses import replace

    checkpoint = replace(a_checkpoint(300), examined=False)

    assert at(351, Checkpoints((checkpoint,))).outcome is Outcome.PASS


def test_a_run_that_starts_from_a_parents_step_owes_nothing_before_it():
    rows = some_metrics(1050, advanced_at=NOON, first_step=1001)

    assert (
        answer(late_checkpoints, BY_STEPS, LONG, rows, saved_checkpoints()).outcome is Outcome.PASS
    )


def test_a_run_without_a_complete_checkpoint_is_not_said_to_have_one():
    rows = some_metrics(250, advanced_at=NOON, first_step=1)

    verdict = answer(late_checkpoints, BY_STEPS, LONG, rows, saved_checkpoints())
    assert verdict.outcome is Outcome.FAIL
    assert "newest" not in verdict.message


def test_a_job_that_does_not_train_owes_none():
    ended_job, none = a_job(JobState.FAILED), {Metrics: Nothing("no rows yet")}

    assert answer(late_checkpoints, ended_job, some_metrics(900)).outcome is Outcome.NOT_APPLICABLE
    assert answer(late_checkpoints, none).outcome is Outcome.NOT_APPLICABLE
    assert answer(late_checkpoints, a_job(JobState.GONE)).outcome is Outcome.UNKNOWN


def test_the_limits_are_the_contracts():
    rows = some_metrics(150, advanced_at=NOON, first_step=1)

    assert (
        answer(
            late_checkpoints,
            BY_STEPS,
            LONG,
            rows,
            saved_checkpoints(100),
            limits=Limits(intervals=0.4),
        ).outcome
        is Outcome.FAIL
    )


def test_it_warns():
    assert (late_checkpoints.response, late_checkpoints.topic) == (Response.WARN, Topic.CHECKPOINTS)
