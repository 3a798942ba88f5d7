"""An alert whose instance ends before evidence shows that its condition is gone is ended
unresolved.
"""

from dataclasses import replace
from datetime import timedelta

import pytest

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
from core.story import Story, first_memory, launch_events
from herorun.core.babysit.alert import AlertState
from herorun.core.event import Ordered, Word
from herorun.core.evidence import (
    Checkpoints,
    History,
    Job,
    JobState,
    LateReceipts,
    Metrics,
    Nothing,
    Now,
    Receipt,
)
from herorun.core.journal import fold
from herorun.core.journal.decision import checked_in
from wording import mentions

HOUR = timedelta(hours=1)


def tick_story(*observations, **result):
    story = Story(**result)
    return story, list(story.ticks(observations))


NO_RECEIPT = {Receipt: Nothing()}
END_EVIDENCE = {
    Job: a_job(JobState.SUCCEEDED, ended=NOON),
    Metrics: some_metrics(200),
    Checkpoints: Checkpoints((a_checkpoint(200),)),
}
STALLED_EVIDENCE = {Metrics: some_metrics(advanced_at=NOON - 50 * MINUTE)}


def test_the_end_of_its_job_resolves_no_alert():
    story, (_, fires, over, after) = tick_story(
        NO_RECEIPT, NO_RECEIPT, END_EVIDENCE | NO_RECEIPT, END_EVIDENCE | NO_RECEIPT
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
        action for turn in (over, after) for action in turn.actions if "is resolved" in str(action)
    ]
    assert after.ended == () and [a.check for a in story.memory.unacknowledged_alerts] == [
        "not-checked-in"
    ]


def test_evidence_resolves_it_at_the_end_too():
    story, (*_, over) = tick_story(NO_RECEIPT, NO_RECEIPT, END_EVIDENCE)

    assert [alert.state for alert in over.alerts.values()] == [AlertState.RESOLVED]
    assert story.memory.ended == {}


def test_a_stall_of_a_job_that_crashed_is_ended_and_the_crash_is_answered_by_the_relaunch():
    story, (stalled_tick, down, *_) = tick_story(
        STALLED_EVIDENCE, STALLED_EVIDENCE | {Job: a_crashed_job()}, {Job: a_job(instance="tiny-2")}
    )

    assert [alert.check for alert in stalled_tick.alerts.values()] == ["stalled-steps"]
    assert [(a.check, a.state) for a in down.ended] == [("stalled-steps", AlertState.ENDED)]
    assert story.memory.history.current.name == "tiny-2"
    assert [a.check for a in story.memory.unacknowledged_alerts] == ["stalled-steps"]


def test_a_launch_resolves_nothing_that_fired():
    """A spike that was never seen to end, and then a rollback: nobody knows, and a person takes
    note of it.
    """
    spike = {Metrics: some_metrics(spikes=(an_excursion(12, first=412),), advanced_at=NOON + HOUR)}
    story, _ = tick_story(spike)
    story.memory = fold(launch_events(2, NOON + MINUTE, "tiny-1"), story.memory)
    assert story.memory.alerts == {} and len(story.memory.left_alerts) == 1
    second = {Job: a_job(instance="tiny-2"), Receipt: a_receipt("tiny-2")}
    (turn,) = story.ticks(
        [second | {Metrics: some_metrics(advanced_at=NOON + 2 * MINUTE), Now: Now(NOON)}]
    )

    assert [(a.check, a.instance, a.state) for a in turn.ended] == [
        ("loss-spike", "tiny-1", AlertState.ENDED)
    ]
    assert story.memory.left_alerts == () and story.memory.unacknowledged_alerts


LATE = {LateReceipts: LateReceipts((a_receipt("tiny-1"),))}
SECOND = {Job: a_job(instance="tiny-2"), Receipt: a_receipt("tiny-2")}


@pytest.mark.parametrize("between", [0, 2], ids=["at the next tick", "later"])
def test_a_receipt_that_comes_after_the_relaunch_resolves_the_earlier_instances_alert(between):
    story, _ = tick_story(NO_RECEIPT, NO_RECEIPT)
    story.memory = fold(launch_events(2, NOON + 9 * MINUTE, "tiny-1"), story.memory)
    *_, turn = story.ticks([*[SECOND] * between, SECOND | LATE])

    (alert,) = [a for a in turn.alerts.values() if a.check == "not-checked-in"]
    assert (alert.check, alert.subject, alert.state) == (
        "not-checked-in",
        "tiny-1",
        AlertState.RESOLVED,
    )
    assert turn.ended == () and not story.memory.unacknowledged_alerts
    assert [event.instance for event in checked_in(turn, LATE, story.memory)] == ["tiny-1"]


def test_a_refusal_that_comes_after_the_relaunch_is_a_warning_and_no_check_in():
    wrong = a_receipt("tiny-1", "fail", items=(("code", "fail", "train.py differs"),))
    refused_evidence = {LateReceipts: LateReceipts((wrong,))}
    story, _ = tick_story()
    story.memory = fold(launch_events(2, NOON, "tiny-1"), story.memory)
    *_, turn = story.ticks([SECOND | refused_evidence] * 2)

    (alert,) = [a for a in turn.alerts.values() if a.check == "not-checked-in"]
    assert alert.firing and alert.subject == "tiny-1" and "train.py differs" in alert.message
    assert checked_in(turn, SECOND | refused_evidence, story.memory)[0].instance == "tiny-2"
    assert len(checked_in(turn, SECOND | refused_evidence, story.memory)) == 1


def test_one_that_is_reported_as_ended_asks_for_no_command_by_itself():
    """A job without a contract has none; where there is one, the command is added."""
    _, (*_, over) = tick_story(NO_RECEIPT, NO_RECEIPT, END_EVIDENCE | NO_RECEIPT)
    (tell,) = [a for a in over.actions if a.key.endswith("/ended")]

    assert mentions(tell.why, "showed", "condition")
    assert tell.about == "not-checked-in[tiny-1]"


def test_an_acknowledged_one_is_kept_and_asked_about_no_more():
    story, _ = tick_story(NO_RECEIPT, NO_RECEIPT, END_EVIDENCE | NO_RECEIPT)
    (key,) = story.memory.ended
    story.memory = fold([Ordered(NOON, "dri", Word.ACK, (key,), "known image")], story.memory)

    assert story.memory.unacknowledged_alerts == () and key in story.memory.ended


def test_an_alert_about_the_monitor_does_not_end_with_the_job():
    late = {History: replace(first_memory().history, last_tick=NOON - 9 * HOUR)}
    story, (first, *_) = tick_story(late, END_EVIDENCE)

    assert "late-tick" in {alert.check for alert in first.alerts.values()}
    assert "late-tick" not in {alert.check for alert in story.memory.ended.values()}
