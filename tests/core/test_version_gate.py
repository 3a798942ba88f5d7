"""Which herorun may act: asked once a change, answered by the replay or by a person."""

from dataclasses import replace

import pytest

from builders import NOON
from herorun.core.event import Replayed
from herorun.core.recovery.policy import RelaunchAnswer
from herorun.core.replay import Replay, ReplayResult
from herorun.core.version_change import summarize_replays
from herorun.core.version_gate import VersionGate, must_replay, observe_reason, question_key
from screens.notices import Notice
from wording import mentions

OLD, NEW = "0.1.0", "0.2.0"
SAME = Replay(at=NOON, version=OLD, same_rules=False, result=ReplayResult.SAME)
OTHERWISE = Replay(
    at=NOON,
    version=OLD,
    same_rules=False,
    result=ReplayResult.DIFFERS,
    differences=("alerts.a[].state: 1 -> 2",),
)
ACTS = replace(OTHERWISE, interventions=("relaunch/tiny-1: only now",))
UNKNOWN_REPLAY = Replay(
    at=NOON, version=OLD, same_rules=False, result=ReplayResult.UNKNOWN, why="it is gone"
)
BEFORE = VersionGate().after_tick(OLD)


def after(
    *again: Replay, before: VersionGate = BEFORE, version: str = NEW, pin: str = ""
) -> VersionGate:
    return before.after_replay(summarize_replays(before, version, pin, NOON, again)).after_tick(
        version
    )


@pytest.mark.parametrize(
    ("version", "pin", "must"),
    [
        (OLD, "", False),
        (NEW, "", True),
        (OLD, "~=0.1.0", False),
        (OLD, "~=0.2.0", True),
        (NEW, "~=0.2.0", True),
    ],
)
def test_another_version_and_another_pin_are_compared(version: str, pin: str, must: bool) -> None:
    assert must_replay(BEFORE, version, pin) is must


def test_the_first_tick_of_a_run_has_nothing_to_be_compared_with() -> None:
    assert not must_replay(VersionGate(), NEW, "") and must_replay(VersionGate(), NEW, "==9")


def test_it_is_compared_once_a_change() -> None:
    judge = after(SAME)
    assert not must_replay(judge, NEW, "")
    assert must_replay(judge.after_tick(OLD), NEW, "") and must_replay(judge, OLD, "")
    pinned_answer = after(SAME, pin="==9")
    assert not must_replay(pinned_answer, NEW, "==9") and must_replay(pinned_answer, NEW, "==8")


@pytest.mark.parametrize(
    "again",
    [
        (SAME, SAME),
        (SAME, OTHERWISE),
        (SAME, ACTS),
        (SAME, UNKNOWN_REPLAY),
        (),
    ],
)
def test_only_one_that_would_have_acted_alike_at_every_tick_may_act(
    again: tuple[Replay, ...], notice: Notice
) -> None:
    reason = observe_reason(after(*again), NEW)
    assert reason == notice


def test_what_it_judges_otherwise_is_news_also_where_it_acts_alike() -> None:
    replay = after(SAME, OTHERWISE).replayed
    assert replay is not None and replay.key.startswith("tell/judge/")
    assert replay.changed == ("2026-01-01 12:00 UTC alerts.a[].state: 1 -> 2",)
    quiet = after(SAME).replayed
    assert quiet is not None and quiet.key == ""


@pytest.mark.parametrize(("yes", "words"), [(True, ""), (False, "denied by Dri: go back")])
def test_a_person_answers_for_it(yes: bool, words: str) -> None:
    judge = after(ACTS).with_answer(
        [question_key(NEW, OLD, "")], RelaunchAnswer(yes, NOON, "Dri", "go back")
    )
    reason = observe_reason(judge, NEW)
    assert bool(reason) is bool(words) and words in reason


def test_the_answer_about_one_version_is_none_about_another() -> None:
    judge = after(ACTS).with_answer([question_key(NEW, OLD, "")], RelaunchAnswer(True, NOON, "Dri"))
    third = after(ACTS, before=judge, version="0.3.0")
    assert observe_reason(third, "0.3.0")


def test_a_third_version_does_not_slip_past_a_question_without_a_yes() -> None:
    """It would have acted as the second one, which nobody let act."""
    third = after(SAME, before=after(ACTS), version="0.3.0")
    assert mentions(observe_reason(third, "0.3.0"), "approved", "0.2.0")


def test_only_what_is_compared_is_held() -> None:
    assert observe_reason(BEFORE, OLD) == "" and observe_reason(after(ACTS), OLD) == ""
    assert isinstance(after(ACTS).replayed, Replayed)
