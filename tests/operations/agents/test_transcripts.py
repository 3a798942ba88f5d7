"""What people ask of an agent, done with the skill's tools and nothing else, on a real run: babysit
this, recover that, seal it.
"""

from pathlib import Path

import pytest

from operations.through_mcp import Agent, through_stdio
from stories import CRASH, SLUG, TAG, WAIT, Story

pytestmark = pytest.mark.thorough
ACTS = {"confirm_order"}


def test_babysit_this(story: Story) -> None:
    """Look, find nothing to do, say so in the record, and leave the job alone."""
    story.launched(WAIT)
    story.tick()

    async def talk(agent: Agent) -> None:
        (run,) = (await agent.document("list_runs"))["runs"]
        status = await agent.document("run_status", run=run["slug"])
        assert status["run"] in ("starting", "healthy")
        assert [each for each in status["alerts"] if each["state"] == "firing"] == []
        assert status["questions"] == []
        told = await agent.order(
            "note", run=run["slug"], text=f"{status['progress']}, nothing fires; continue"
        )
        assert not told.is_error, told.content[0].text
        assert (
            "nothing fires; continue"
            in (await agent.document("read_record", run=run["slug"]))["logbook"]
        )
        acts = [tool for tool, _ in agent.transcript if tool in ACTS]
        assert len(acts) == 1

    through_stdio(story.work, talk)
    assert story.starts == ["tiny-1 scratch"]
    (story.data / "go").touch()
    story.ended()


def test_recover_that(story: Story) -> None:
    """A run that was killed: find the cause, and relaunch it where it stopped. What nobody could
    compare stays unknown, and no digest talks a seal out of that.
    """
    story.launched(CRASH)

    async def talk(agent: Agent) -> None:
        status = await agent.document("run_status", run=SLUG)
        assert status["run"] == "down"
        (alert,) = [each for each in status["alerts"] if each["severity"] == "critical"]
        page = await agent.call("explain_check", check=alert["check"])
        assert page.structured_content["document"]["checks"]
        await agent.document("triage_run", run=SLUG)
        newest = (await agent.document("list_checkpoints", run=SLUG))["checkpoints"][-1]
        assert newest["step"] == 2
        early = await agent.order("seal", run=SLUG)
        assert early.structured_content["verdict"] == "blocked"
        shown = await agent.preview("relaunch", run=SLUG, reason="the node was killed")
        assert shown["run"] == "down"
        told = await agent.call("confirm_order", digest=shown["digest"])
        assert not told.is_error, told.content[0].text
        story.ended("tiny-2")
        story.tick()  # or the babysitter that the relaunch started
        sealed = await agent.order("seal", run=SLUG)
        assert sealed.structured_content["verdict"] == "unknown"

    through_stdio(story.work, talk)
    assert story.starts == ["tiny-1 scratch", f"tiny-2 {Path(story.root, 'step-2')}"]
    assert story.tags() == []


def test_seal_it(story: Story) -> None:
    story.finished()

    async def talk(agent: Agent) -> None:
        status = await agent.document("run_status", run=SLUG)
        assert status["run"] == "finished"
        sealed = await agent.order("seal", run=SLUG)
        assert sealed.structured_content["verdict"] == "clear", sealed.content[0].text
        proof = await agent.call("verify_run", run=SLUG)
        assert proof.structured_content["verdict"] == "clear"
        again = await agent.order("seal", run=SLUG)  # one run, one seal
        assert again.structured_content["untrusted_data"]["document"]["tag"] == TAG

    through_stdio(story.work, talk)
    assert [tag.partition(" ")[0] for tag in story.tags()] == [f"refs/tags/{TAG}"]
