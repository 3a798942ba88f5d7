"""A relaunch that comes twice, as after a crash between submitting and recording it."""

from herorun.operations.launch.relaunch import relaunch
from stories import Story


def test_an_instance_that_another_one_followed_is_not_relaunched_again(story: Story) -> None:
    story.run_first_job()
    before = len(story.lines)
    assert relaunch(story.run, "tiny-0", "it crashed") == "tiny-1"
    assert len(story.starts) == 1 and len(story.lines) == before
