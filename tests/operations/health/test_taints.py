"""What the rows taint is known to a person's command, also where no tick has seen it yet."""

import pytest

from commands.answers import ask
from stories import CRASH, SLUG, WAIT, Story

CAPTURE = pytest.CaptureFixture[str]
NAN = 'echo "{\\"step\\": 3, \\"train/loss\\": NaN}" >> "$root/metrics.jsonl"; save 15'


@pytest.fixture
def untold(story: Story) -> Story:
    """NaN at step 3, a checkpoint at 15, and an end, none of which a tick has seen; step 2 is
    sound.
    """
    story.sign(final_step=40)
    assert story.init() == 0
    story.order("tiny-1", f"{NAN}; {CRASH}")
    assert story.launch() == 0
    story.ended()
    return story


def test_a_relaunch_by_hand_starts_before_the_bad_step_and_the_record_keeps_the_taint(
    untold: Story, capsys: CAPTURE
) -> None:
    checkpoints = ask(untold, capsys, "checkpoints", "list", SLUG, "--json").document["checkpoints"]
    assert {each["step"]: bool(each["tainted"]) for each in checkpoints} == {2: False, 15: True}
    assert untold.run.record.memory().history.taints == ()  # a list writes nothing
    assert untold.herorun("rollback", SLUG, "--to", "15", "--no-babysit") == 1
    untold.order("tiny-2", WAIT)
    assert untold.herorun("relaunch", SLUG, "--no-babysit") == 0
    assert untold.starts[-1] == f"tiny-2 {untold.root}/step-2"
    assert [taint.bad_step for taint in untold.run.record.memory().history.taints] == [4]


@pytest.mark.thorough
def test_a_launch_by_hand_starts_before_the_bad_step_too(untold: Story) -> None:
    untold.order("tiny-2", WAIT)
    assert untold.launch() == 0
    assert untold.starts[-1] == f"tiny-2 {untold.root}/step-2"
    assert [taint.bad_step for taint in untold.run.record.memory().history.taints] == [4]
