"""What the rows taint is known to a person's command, also where no tick has seen it yet."""

import pytest

from commands.answers import ask
from stories import CRASH, SLUG, WAIT, Story

CAPTURE = pytest.CaptureFixture[str]
NAN = 'echo "{\\"step\\": 3, \\"train/loss\\": NaN}" >> "$root/metrics.jsonl"; save 15'


@pytest.fixture
def untold_story(story: Story) -> Story:
    """NaN at step 3, a checkpoint at 15, and an end, none of which a tick has seen; step 2 is
    sound.
    """
    story.sign(final_step=40)
    assert story.init() == 0
    story.order("tiny-1", f"{NAN}; {CRASH}")
    assert story.launch() == 0
    story.wait_for_end()
    return story


def test_a_relaunch_by_hand_starts_before_the_bad_step_and_the_record_keeps_the_taint(
    untold_story: Story, capsys: CAPTURE
) -> None:
    checkpoints = ask(untold_story, capsys, "checkpoints", "list", SLUG, "--json").document[
        "checkpoints"
    ]
    assert {each["step"]: bool(each["tainted"]) for each in checkpoints} == {2: False, 15: True}
    assert untold_story.run.record.memory().history.taints == ()  # a list writes nothing
    assert untold_story.herorun("rollback", SLUG, "--to", "15", "--no-babysit") == 1
    untold_story.order("tiny-2", WAIT)
    assert untold_story.herorun("relaunch", SLUG, "--no-babysit") == 0
    assert untold_story.starts[-1] == f"tiny-2 {untold_story.root}/step-2"
    assert [taint.bad_step for taint in untold_story.run.record.memory().history.taints] == [4]


@pytest.mark.thorough
def test_a_launch_by_hand_starts_before_the_bad_step_too(untold_story: Story) -> None:
    untold_story.order("tiny-2", WAIT)
    assert untold_story.launch() == 0
    assert untold_story.starts[-1] == f"tiny-2 {untold_story.root}/step-2"
    assert [taint.bad_step for taint in untold_story.run.record.memory().history.taints] == [4]
