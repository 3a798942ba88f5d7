from dataclasses import replace
from datetime import timedelta

import pytest

from builders import (
    MINUTE,
    NOON,
    ROOT,
    a_checkpoint,
    a_history,
    a_job,
    a_tree,
    an_instance,
    some_metrics,
)
from herorun.core.clock_skew import ClockJumps
from herorun.core.evidence import (
    Checkpoints,
    History,
    JobState,
    Nothing,
    StartSiblings,
    Unavailable,
    UnjudgedMetric,
    candidates_of,
)


def test_what_differs_from_head_is_named_by_kind():
    tree = a_tree(staged=("a",), unstaged=("b",), untracked=("c",), hidden=("d",))

    assert tree.dirty == ("a (staged)", "b (modified)", "c (untracked)", "d (hidden)")
    assert a_tree().dirty == ()


def test_the_newest_is_the_highest_complete_step_by_number():
    own = Checkpoints(
        (a_checkpoint(900), a_checkpoint(1000), a_checkpoint(1100, problem="no metadata.json"))
    )

    assert own.newest == a_checkpoint(1000)
    assert Checkpoints((a_checkpoint(1, problem="x"),)).newest is None


def test_of_one_step_the_later_one_counts():
    early, late = a_checkpoint(100), a_checkpoint(100, f"{ROOT}-temporary")
    later = replace(late, temporary=True, timestamp="2026-01-02T00:00:00")

    assert Checkpoints((later, early)).newest == later


def test_a_checkpoint_is_found_by_its_whole_path():
    own = Checkpoints((a_checkpoint(100),))

    assert own.at(f"{ROOT}/step-100/") == a_checkpoint(100)
    assert own.at(f"{ROOT}/step-10") is None


def test_only_what_could_be_read_has_candidates():
    own, beside = Checkpoints((a_checkpoint(1),)), StartSiblings((a_checkpoint(1), a_checkpoint(2)))

    assert candidates_of(own, beside) == (a_checkpoint(1), a_checkpoint(2))
    assert candidates_of(Nothing(), Unavailable("403")) == ()


LIVE = {JobState.PENDING, JobState.BUILDING, JobState.RUNNING}


@pytest.mark.parametrize("state", JobState)
def test_every_state_is_live_or_ended_but_for_the_unknown(state):
    assert state.live is (state in LIVE)
    assert state.in_doubt is (state in (JobState.UNKNOWN, JobState.GONE))
    assert state.is_final is (state not in LIVE | {JobState.UNKNOWN})


@pytest.mark.parametrize(
    "changes",
    [
        {"signal": "SIGKILL", "exit_code": 137},
        {"exit_code": 3},
        {"reason": "node lost"},
        {},
    ],
)
def test_an_ending_in_words(changes, notice):
    assert a_job(JobState.FAILED, **changes).ending == notice


@pytest.mark.parametrize(("age", "ours"), [(0, True), (59, True), (61, True), (62, False)])
def test_rows_are_an_instances_own_from_its_intent_on(age, ours):
    assert a_history().wrote(some_metrics(advanced_at=NOON - age * MINUTE)) is ours


def test_without_an_intent_its_start_counts():
    adopted_history = a_history(instances=(an_instance(intended=None, started=NOON),))

    assert adopted_history.wrote(some_metrics(advanced_at=NOON))
    assert not adopted_history.wrote(some_metrics(advanced_at=NOON - timedelta(seconds=1)))
    assert not History().wrote(some_metrics())


@pytest.mark.parametrize(
    ("writer", "age", "ours"), [("tiny-1", 1, True), ("tiny-0", 1, False), ("tiny-0", 0, True)]
)
def test_rows_of_a_launch_that_a_wrong_clock_dated_are_recognised_by_their_writer(
    writer: str, age: int, ours: bool
) -> None:
    leaps = ClockJumps().advance(NOON - 5 * MINUTE).advance(NOON + 55 * MINUTE)
    ahead = an_instance(intended=NOON + 56 * MINUTE, started=NOON + 57 * MINUTE)
    history = a_history(instances=(ahead,), leaps=leaps).at_tick(NOON)

    assert history.current is not None and history.current.since == NOON - 5 * MINUTE
    rows = some_metrics(advanced_at=NOON - age * MINUTE, instance=writer)
    assert history.wrote(rows) is ours


def test_a_check_that_cannot_judge_yet_says_why():
    loss = UnjudgedMetric("train/loss", ("loss-spike",), "too few rows", 30)
    metrics = some_metrics(unjudged=(loss,))

    assert metrics.why_not_judged("loss-spike") == loss.message
    assert metrics.why_not_judged("grad-norm-spike") == ""
