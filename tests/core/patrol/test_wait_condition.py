"""What a wait waits for, and when it is over."""

from datetime import timedelta
from typing import Any

import pytest

from core.patrol.test_table import NOW, a_look
from herorun.core.errors import WrongUse
from herorun.core.patrol.advice import PatrolState
from herorun.core.patrol.observation import Liveness, LogEnd, MachineUnread
from herorun.core.patrol.wait_condition import (
    STALL,
    WaitCondition,
    WaitOutcome,
    condition_of,
    judge_condition,
)
from wording import mentions

RUNNING, STATE_DONE, DOWN, UNKNOWN = (
    PatrolState(s) for s in ("running", "done", "down", "unknown")
)
OUTCOME_REACHED, OVER, WAIT = WaitOutcome.REACHED, WaitOutcome.OVER, WaitOutcome.WAIT


def outcome(
    condition: WaitCondition,
    state: PatrolState = RUNNING,
    still: timedelta = timedelta(0),
    facts: dict[str, Any] | None = None,
    **changes: Any,
) -> WaitOutcome:
    return judge_condition(condition, a_look(**changes), state, facts or {}, still)[0]


@pytest.mark.parametrize(
    ("wish", "condition", "text"),
    [
        (("/d/DONE", None, None), WaitCondition("/d/DONE"), "marker /d/DONE"),
        ((None, "down", None), WaitCondition(state="down"), "state down"),
        ((None, "preempted", None), WaitCondition(state="preempted"), "state preempted"),
        ((None, "degraded", None), WaitCondition(state="degraded"), "state degraded"),
        ((None, None, 0), WaitCondition(step=0), "step 0"),
        ((None, None, None), WaitCondition(), "the end"),
    ],
)
def test_one_thing_is_awaited(
    wish: tuple[str | None, str | None, int | None], condition: WaitCondition, text: str
) -> None:
    assert (condition_of(*wish), str(condition_of(*wish))) == (condition, text)


@pytest.mark.parametrize(
    "wish",
    [
        ("/d/DONE", "down", None),
        ("/d/DONE", None, 0),
        (None, "down", 0),
        ("DONE", None, None),
        (None, "exploded", None),
        (None, None, -1),
    ],
)
def test_what_cannot_be_awaited_is_refused(wish: tuple[str | None, str | None, int | None]) -> None:
    with pytest.raises(WrongUse):
        condition_of(*wish)


@pytest.mark.parametrize(
    ("condition", "changes", "result"),
    [
        (WaitCondition("/d"), {"awaited_marker": NOW}, OUTCOME_REACHED),
        (WaitCondition("/d"), {"awaited_marker": None}, WAIT),
        (WaitCondition("/d"), {"awaited_marker": MachineUnread("x")}, WAIT),
        (WaitCondition(state="running"), {}, OUTCOME_REACHED),
        (WaitCondition(state="pending"), {"facts": {"job": "pending"}}, OUTCOME_REACHED),
        (WaitCondition(state="degraded"), {"facts": {"run": "degraded"}}, OUTCOME_REACHED),
        (WaitCondition(state="degraded"), {"facts": {"other": "degraded"}}, WAIT),
        (WaitCondition(step=120), {}, OUTCOME_REACHED),
        (WaitCondition(step=121), {}, WAIT),
        (WaitCondition(step=121), {"facts": {"step": 121}}, OUTCOME_REACHED),
        (WaitCondition(step=121), {"facts": {"step": None}}, WAIT),
        (WaitCondition(step=0), {"log": None}, WAIT),
        (WaitCondition(), {}, WAIT),
    ],
)
def test_what_is_reached(
    condition: WaitCondition, changes: dict[str, Any], result: WaitOutcome
) -> None:
    assert outcome(condition, **changes) is result


@pytest.mark.parametrize(
    ("condition", "state", "result"),
    [
        (WaitCondition(), STATE_DONE, OUTCOME_REACHED),
        (WaitCondition(step=999), STATE_DONE, OVER),
        (
            WaitCondition("/d"),
            STATE_DONE,
            WAIT,
        ),  # a marker may be made long after the job has ended
        (WaitCondition(), DOWN, OVER),
        (WaitCondition("/d"), DOWN, OVER),
        (WaitCondition(), UNKNOWN, WAIT),
    ],
)
def test_the_end_of_the_job_ends_most_waits(
    condition: WaitCondition, state: PatrolState, result: WaitOutcome
) -> None:
    assert outcome(condition, state) is result


def test_the_schedulers_success_alone_ends_no_wait_while_the_evidence_is_unread() -> None:
    end_facts = {"alive": Liveness.NO, "succeeded": True}
    for condition in (WaitCondition(), WaitCondition(step=999), WaitCondition(state="done")):
        assert outcome(condition, UNKNOWN, **end_facts) is WAIT


def test_only_a_job_that_wrote_a_log_stalls() -> None:
    minute = timedelta(minutes=1)
    assert outcome(WaitCondition(), still=STALL) is OVER
    assert outcome(WaitCondition(), still=STALL - minute) is WAIT
    assert outcome(WaitCondition(), still=STALL, log=None) is WAIT
    assert outcome(WaitCondition(), UNKNOWN, still=9 * STALL) is WAIT


def test_a_look_that_saw_nothing_gives_its_own_reason() -> None:
    def why(**changes: Any) -> str:
        look = a_look(alive=Liveness.UNKNOWN, log=LogEnd(), **changes)
        return judge_condition(WaitCondition(), look, UNKNOWN, {}, timedelta(0))[1]

    assert why(unreachable="cut", why="squeue") == "cut"
    assert why(why="squeue") == "squeue"
    assert why() != ""


@pytest.mark.parametrize("has_succeeded", [True, False])
def test_an_end_without_all_results_is_over_and_is_called_what_it_is(has_succeeded: bool) -> None:
    look = a_look(alive=Liveness.NO, succeeded=has_succeeded)
    result, text = judge_condition(WaitCondition(step=900), look, DOWN, {}, timedelta(0))
    assert result is OVER and mentions(text, "step 900")
    assert ("succeeded" in text) is has_succeeded is ("down" not in text)
