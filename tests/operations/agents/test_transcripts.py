"""What people ask of an agent, done with the skill's tools and nothing else, on a real run: launch
it, babysit this, find the stall, recover that, go back, hand it over, seal it; and a job that has
no contract, by the commands that the skill names for it.
"""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from herorun.core.record.lease import read_lease
from jobs_alone import BUG, Alone, ask_babysit
from operations.through_mcp import Agent, through_forks
from stories import CRASH, SLUG, TAG, WAIT, Story, eventually, forget

pytestmark = pytest.mark.thorough
ACTS = {"confirm_order"}


def test_babysit_this(story: Story) -> None:
    """Look, find nothing to do, say so in the record, and leave the job alone."""
    story.run_first_job(WAIT)
    story.tick()

    async def talk(agent: Agent) -> None:
        (run,) = (await agent.document("list_runs"))["runs"]
        status = await agent.document("run_status", run=run["slug"])
        assert status["run"] in ("starting", "healthy")
        assert [each for each in status["alerts"] if each["state"] == "firing"] == []
        assert status["questions"] == []
        text = f"{status['progress']}, nothing fires; continue"
        order = await agent.order("note", run=run["slug"], text=text)
        assert not order.is_error, order.content[0].text
        assert text in (await agent.document("read_record", run=run["slug"]))["logbook"]
        acts = [tool for tool, _ in agent.transcript if tool in ACTS]
        assert len(acts) == 1

    through_forks(story.work, talk)
    assert story.starts == ["tiny-1 scratch"]
    (story.data / "go").touch()
    story.wait_for_end()


def test_launch_it(story: Story) -> None:
    """What is blocked stays so; what a person has seen is submitted once, and babysat."""
    assert story.init() == 0
    code = story.work / "train.sh"
    committed_code = code.read_text()

    async def talk(agent: Agent) -> None:
        code.write_text(f"{committed_code}# a last-minute idea\n")
        early = await agent.preview("launch", run=SLUG)
        assert early["verdict"] == "blocked" and "digest" not in early
        code.write_text(committed_code)
        assert (await agent.document("run_preflight", run=SLUG))["verdict"] == "clear"
        preview = await agent.preview("launch", run=SLUG)
        answer = await agent.call("confirm_order", digest=preview["digest"])
        assert not answer.is_error, answer.content[0].text
        story.wait_for_end()
        assert (await agent.call("confirm_order", digest=preview["digest"])).is_error

    through_forks(story.work, talk)
    assert story.starts == ["tiny-1 scratch"]


def test_find_the_stall_and_start_it_again(story: Story) -> None:
    """A job that hangs: say so, hold herorun's own hands while a person decides, then stop it and
    start the next one.
    """
    patience = {"thresholds": {"stalled-steps": {"idle": "1s", "cadences": 1}}}
    story.sign(babysit={"cadence": "1s", "recovery": "ask", **patience})
    story.run_first_job(WAIT)
    story.tick()
    time.sleep(2.5)  # two cadences without a row
    story.tick()

    async def talk(agent: Agent) -> None:
        status = await agent.document("run_status", run=SLUG)
        assert "stalled-steps" in firing(status)
        page = await agent.call("explain_check", check="stalled-steps")
        assert page.structured_content["document"]["checks"]
        await agent.document("read_logs", run=SLUG, lines=50)
        for order, values in (
            ("pause", {"until": "1h", "reason": "a person looks at it"}),
            ("ack", {"alert": "stalled-steps", "reason": "a hung collective"}),
            ("resume", {"reason": "start it again"}),
        ):
            reply = await agent.order(order, run=SLUG, **values)
            assert not reply.is_error, reply.content[0].text
        reply = await agent.order("relaunch", run=SLUG, reason="it hung", stop_first=True)
        assert not reply.is_error, reply.content[0].text
        story.wait_for_end("tiny-2")

    through_forks(story.work, talk)
    assert [event.word.value for event in story.events("Ordered")][:3] == ["pause", "ack", "resume"]
    assert story.starts == ["tiny-1 scratch", f"tiny-2 {Path(story.root, 'step-2')}"]


def firing(status: Any) -> set[str]:
    return {each["check"] for each in status["alerts"] if each["state"] == "firing"}


def test_go_back(story: Story) -> None:
    """To the checkpoint that a person names: what would be discarded is shown before."""
    story.run_first_job(f"save 3; {CRASH}")

    async def talk(agent: Agent) -> None:
        steps = [
            each["step"]
            for each in (await agent.document("list_checkpoints", run=SLUG))["checkpoints"]
        ]
        assert {2, 3} <= set(steps)
        preview = await agent.preview("rollback", run=SLUG, to=2, reason="a spike at 3")
        facts = preview["untrusted_data"]["document"]["facts"]
        assert [fact for fact in facts if fact.startswith("Discards: 1 step,")]
        assert len(story.starts) == 1
        answer = await agent.call("confirm_order", digest=preview["digest"])
        assert not answer.is_error, answer.content[0].text
        story.wait_for_end("tiny-2")

    through_forks(story.work, talk)
    assert story.starts == ["tiny-1 scratch", f"tiny-2 {Path(story.root, 'step-2')}"]


def test_hand_it_over(story: Story) -> None:
    """The next owner holds the lease and finds the facts; this clone only looks on."""
    story.run_first_job(WAIT)
    story.tick()

    async def talk(agent: Agent) -> None:
        order = await agent.order("handoff", run=SLUG, to="eve@there", reason="my shift ends")
        assert not order.is_error, order.content[0].text
        assert "eve@there" in (await agent.document("read_record", run=SLUG))["logbook"]

    through_forks(story.work, talk)
    lease = read_lease((story.root / "_herorun" / "lease.json").read_bytes())
    assert lease is not None and lease.owner == "eve@there"
    (story.data / "go").touch()
    story.wait_for_end()


def test_recover_that(story: Story) -> None:
    """A run that was killed: find the cause, and relaunch it where it stopped. What nobody could
    compare stays unknown, and no digest talks a seal out of that.
    """
    story.run_first_job(f"save 3; {CRASH}")  # so that no step is logged twice

    async def talk(agent: Agent) -> None:
        status = await agent.document("run_status", run=SLUG)
        assert status["run"] == "down"
        (alert,) = [each for each in status["alerts"] if each["severity"] == "critical"]
        page = await agent.call("explain_check", check=alert["check"])
        assert page.structured_content["document"]["checks"]
        await agent.document("triage_run", run=SLUG)
        newest = (await agent.document("list_checkpoints", run=SLUG))["checkpoints"][-1]
        assert newest["step"] == 3
        early = await agent.order("seal", run=SLUG)
        assert early.structured_content["verdict"] == "blocked"
        preview = await agent.preview("relaunch", run=SLUG, reason="the node was killed")
        assert preview["run"] == "down"
        answer = await agent.call("confirm_order", digest=preview["digest"])
        assert not answer.is_error, answer.content[0].text
        story.wait_for_end("tiny-2")
        story.tick()  # or the babysitter that the relaunch started
        seal_order = await agent.order("seal", run=SLUG)
        assert seal_order.structured_content["verdict"] == "unknown"

    through_forks(story.work, talk)
    assert story.starts == ["tiny-1 scratch", f"tiny-2 {Path(story.root, 'step-3')}"]
    assert story.tags() == []


def test_seal_it(story: Story) -> None:
    story.run_to_success()

    async def talk(agent: Agent) -> None:
        status = await agent.document("run_status", run=SLUG)
        assert status["run"] == "finished"
        seal_order = await agent.order("seal", run=SLUG)
        assert seal_order.structured_content["verdict"] == "clear", seal_order.content[0].text
        proof = await agent.call("verify_run", run=SLUG)
        assert proof.structured_content["verdict"] == "clear"
        again = await agent.order("seal", run=SLUG)  # one run, one seal
        assert again.structured_content["untrusted_data"]["document"]["tag"] == TAG

    through_forks(story.work, talk)
    assert [tag.partition(" ")[0] for tag in story.tags()] == [f"refs/tags/{TAG}"]


@pytest.fixture
def alone(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Alone]:
    """A session of an agent, in a folder with jobs that have no contract."""
    for name in ("state", "config"):
        monkeypatch.setenv(f"XDG_{name.upper()}_HOME", str(home / name))
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "s-1")
    (home / "w").mkdir()
    jobs = Alone(home / "w")
    yield jobs
    jobs.end()
    forget()


def test_babysit_a_job_without_a_contract(alone: Alone, capsys: pytest.CaptureFixture[str]) -> None:
    """Register it, find its bug, leave that to a person, and start it again once it is fixed."""
    first = alone.start(BUG)
    place = alone.place(first)
    one = ("--job", place, "--scheduler", "local")
    assert (
        ask_babysit(alone, capsys, "jobs", "add", "local", place, "--no-watch", "--json").code == 0
    )
    eventually(lambda: not alone.adapter.live_jobs("loose"))
    answer = ask_babysit(alone, capsys, "jobs", "watch", "--once", "--json")
    assert (answer.code, "FAILED" in answer.out.upper()) == (1, True)
    again = ("--resubmit", alone.again("echo step 20/20; exit 0"))
    look = ask_babysit(alone, capsys, "babysit", *one, *again, "--once", "--json")
    assert look.code == 1
    assert alone.all == ["loose-1"]  # a bug in the code is no reason to start it again
    relaunch = ask_babysit(
        alone, capsys, "relaunch", "--job", place, "--reason", "x is defined", "--json"
    )
    assert relaunch.code == 0, relaunch.err
    assert alone.all == ["loose-1", "loose-2"]
    eventually(lambda: not alone.adapter.live_jobs("loose"))
    end = ask_babysit(alone, capsys, "babysit", "--once", "--json")
    assert (end.code, end.document["run"]) == (0, "finished")
