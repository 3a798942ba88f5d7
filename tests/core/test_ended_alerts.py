"""An alert whose instance ends before evidence shows that its condition is gone is ended
unresolved.
"""

from dataclasses import replace
from datetime import timedelta

from builders import (
    MINUTE,
    NOON,
    a_checkpoint,
    a_crashed_job,
    a_job,
    a_receipt,
    an_excursion,
    some_metrics,
)
from core.story import Story, begun, launched
from herorun.core.alert import AlertState
from herorun.core.event import Ordered, Word
from herorun.core.evidence import (
    Checkpoints,
    History,
    Job,
    JobState,
    Metrics,
    Nothing,
    Now,
    Receipt,
)
from herorun.core.journal import fold

HOUR = timedelta(hours=1)


def ticked(*seen, **told):
    story = Story(**told)
    return story, list(story.ticks(seen))


NO_RECEIPT = {Receipt: Nothing()}
DONE = {
    Job: a_job(JobState.SUCCEEDED, ended=NOON),
    Metrics: some_metrics(200),
    Checkpoints: Checkpoints((a_checkpoint(200),)),
}
STALLED = {Metrics: some_metrics(advanced_at=NOON - 50 * MINUTE)}


def test_the_end_of_its_job_resolves_no_alert():
    story, (_, fires, over, after) = ticked(
        NO_RECEIPT, NO_RECEIPT, DONE | NO_RECEIPT, DONE | NO_RECEIPT
    )

    assert [alert.state for alert in fires.alerts.values()] == [AlertState.FIRING]
    assert (over.alerts, [(a.check, a.state.value) for a in over.ended]) == (
        {},
        [("not-checked-in", "ended-unresolved")],
    )
    assert [a.title for a in over.actions if a.key.endswith("/ended")] == [
        "not-checked-in [tiny-1] ended unresolved"
    ]
    assert not [
        action for turn in (over, after) for action in turn.actions if "is over" in str(action)
    ]
    assert after.ended == () and [a.check for a in story.memory.unacknowledged] == [
        "not-checked-in"
    ]


def test_evidence_resolves_it_at_the_end_too():
    story, (*_, over) = ticked(NO_RECEIPT, NO_RECEIPT, DONE)

    assert [alert.state for alert in over.alerts.values()] == [AlertState.RESOLVED]
    assert story.memory.ended == {}


def test_a_stall_of_a_job_that_crashed_is_ended_and_the_crash_is_answered_by_the_relaunch():
    story, (stalled, down, *_) = ticked(
        STALLED, STALLED | {Job: a_crashed_job()}, {Job: a_job(instance="tiny-2")}
    )

    assert [alert.check for alert in stalled.alerts.values()] == ["stalled-steps"]
    assert [(a.check, a.state) for a in down.ended] == [("stalled-steps", AlertState.ENDED)]
    assert story.memory.history.current.name == "tiny-2"
    assert [a.check for a in story.memory.unacknowledged] == ["stalled-steps"]


def test_a_launch_resolves_nothing_that_fired():
    """A spike that was never seen to end, and then a rollback: nobody knows, and a person takes
    note of it.
    """
    spike = {Metrics: some_metrics(spikes=(an_excursion(12, first=412),), advanced_at=NOON + HOUR)}
    story, _ = ticked(spike)
    story.memory = fold(launched(2, NOON + MINUTE, "tiny-1"), story.memory)
    assert story.memory.alerts == {} and len(story.memory.left) == 1
    second = {Job: a_job(instance="tiny-2"), Receipt: a_receipt("tiny-2")}
    (turn,) = story.ticks(
        [second | {Metrics: some_metrics(advanced_at=NOON + 2 * MINUTE), Now: Now(NOON)}]
    )

    assert [(a.check, a.instance, a.state) for a in turn.ended] == [
        ("loss-spike", "tiny-1", AlertState.ENDED)
    ]
    assert story.memory.left == () and story.memory.unacknowledged


def test_an_acknowledged_one_is_kept_and_asked_about_no_more():
    story, _ = ticked(NO_RECEIPT, NO_RECEIPT, DONE | NO_RECEIPT)
    (key,) = story.memory.ended
    story.memory = fold([Ordered(NOON, "dri", Word.ACK, (key,), "known image")], story.memory)

    assert story.memory.unacknowledged == () and key in story.memory.ended


def test_an_alert_about_the_monitor_does_not_end_with_the_job():
    late = {History: replace(begun().history, last_tick=NOON - 9 * HOUR)}
    story, (first, *_) = ticked(late, DONE)

    assert "late-tick" in {alert.check for alert in first.alerts.values()}
    assert "late-tick" not in {alert.check for alert in story.memory.ended.values()}
