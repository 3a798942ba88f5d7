"""What a person's order records about an instance before another one replaces it."""

import pytest

from commands.answers import ask
from herorun.core.evidence import JobState
from herorun.operations.record.heartbeat import last_tick_elsewhere
from stories import SLUG, WAIT, Story

CAPTURE = pytest.CaptureFixture[str]


@pytest.fixture
def running(story: Story) -> Story:
    story.sign(final_step=40)
    assert story.init() == 0
    story.order("tiny-1", WAIT)
    assert story.launch() == 0
    story.order("tiny-2", WAIT)
    return story


def test_the_end_of_an_instance_that_is_stopped_to_be_relaunched(
    running: Story, capsys: CAPTURE
) -> None:
    order = ("relaunch", SLUG, "--stop-first", "--no-babysit", "--json")
    assert ask(running, capsys, *order).code == 0
    memory = running.run.record.memory()
    (end,) = memory.history.ends
    assert (end.instance, end.state) == ("tiny-1", JobState.CANCELLED)
    assert end.step is not None and end.checkpoint is not None
    assert memory.left_alerts == ()  # no tick has seen an alert, so nobody was notified of one
    # a person's order is no tick: it must not look as if another clone monitored the run
    assert (memory.ticks, memory.last_seen, memory.last_decided) == (0, None, None)
    assert last_tick_elsewhere(running.run) is None
    goodput = ask(running, capsys, "goodput", SLUG, "--json").document
    assert goodput["interruptions"] == {"by-us": 1}


@pytest.mark.thorough
def test_the_end_of_an_instance_that_was_stopped_before_a_launch(
    running: Story, capsys: CAPTURE
) -> None:
    assert ask(running, capsys, "stop", SLUG).code == 0
    assert running.launch() == 0
    assert [end.instance for end in running.run.record.memory().history.ends] == ["tiny-1"]


@pytest.mark.thorough
def test_an_end_that_a_tick_recorded_is_recorded_once(running: Story, capsys: CAPTURE) -> None:
    assert ask(running, capsys, "stop", SLUG).code == 0
    running.tick()
    before = len(running.events("Decided"))
    assert ask(running, capsys, "relaunch", SLUG, "--no-babysit").code == 0
    assert len(running.events("Decided")) == before
