"""Launching: the reviewed plan and nothing else, once, from an exported copy of the commit."""

import json
import shlex

import pytest

from commands.answers import ask
from herorun.core.evidence import Job, JobState
from herorun.notifiers.local import LocalIssue
from herorun.operations.launch import intent, start_instance, submit
from herorun.runs import Run
from herorun.schedulers.local import Local
from stories import JOB, SLUG, WAIT, Story, eventually, git
from wording import mentions

WAIVER = {
    "check": "dirty-tree",
    "reason": "only notes",
    "approved_by": "@dri",
    "expires": "2999-01-01T00:00:00Z",
}


def findings(story: Story, capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, str]:
    """The open findings of a launch that was not clear."""
    capsys.readouterr()
    assert story.launch("--json", *words) != 0
    document = json.loads(capsys.readouterr().out)
    return {
        f["check"]: f["message"]
        for f in document["findings"]
        if f["outcome"] in ("fail", "unknown")
    }


# --- once -----------------------------------------------------------------------------------------


@pytest.mark.thorough
def test_a_live_job_blocks_a_second_launch(
    story: Story, capsys: pytest.CaptureFixture[str]
) -> None:
    story.run_first_job(WAIT)
    ((check, message),) = findings(story, capsys).items()
    assert check == "live-duplicate" and mentions(message, "tiny-1", "running", "tiny-1")
    assert story.launch() == 1
    assert mentions(capsys.readouterr().out, "running", "tiny-1", "status tiny")
    assert len(story.starts) == 1


@pytest.mark.thorough
def test_a_launch_says_what_it_did(story: Story, capsys: pytest.CaptureFixture[str]) -> None:
    story.init()
    capsys.readouterr()
    assert story.launch("--json") == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["schema"], document["verdict"], document["instance"], document["job"]) == (
        1,
        "clear",
        "tiny-1",
        "tiny-1",
    )
    assert mentions(document["babysitter"], "none", "`herorun babysit tiny`")
    assert document["log"] == str(story.jobs / "tiny-1" / "job.log")
    (launched_event,) = story.events("Launched")
    assert launched_event.plan_digest == document["plan_digest"]
    assert mentions(launched_event.entry["Live jobs"], "alone")


@pytest.mark.thorough
def test_the_exact_request_is_reported_and_kept_before_it_is_sent(
    story: Story, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    record = story.state / "requests" / "tiny-1.txt"
    observations = []
    real = Local.submit
    monkeypatch.setattr(
        Local,
        "submit",
        lambda self, *result: observations.append(record.read_text()) or real(self, *result),
    )
    story.init()
    assert story.launch() == 0
    assert observations == [record.read_text()] != [""]
    assert f"herorun: submitting\n{observations[0]}" in capsys.readouterr().err


@pytest.mark.thorough
def test_it_is_seen_that_exactly_one_job_is_live(
    story: Story, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    story.init()
    capsys.readouterr()
    real = submit.other_live_jobs
    other = Job(id="9", instance="tiny-9", state=JobState.RUNNING)

    def submit_twice(run: Run, instance: str) -> str:
        monkeypatch.setattr(run.scheduler, "live_jobs", lambda slug: (other,), raising=False)
        return real(run, instance)

    monkeypatch.setattr(start_instance, "other_live_jobs", submit_twice)
    assert story.launch() == 0
    (launched_event,) = story.events("Launched")
    live = launched_event.entry["Live jobs"]
    assert mentions(live, "also", "tiny-9", "running")
    assert mentions(capsys.readouterr().err, "tiny-1", live)


@pytest.mark.thorough
def test_it_runs_the_commit_and_not_the_checkout(story: Story) -> None:
    (story.work / "words").write_text("as committed\n")
    (story.work / "train.sh").write_text(f'cat words > "$1/words"\n{JOB}')
    story.sign(code={"impact": {"words": "notice"}})
    story.init()
    (story.work / "words").write_text("on disk\n")
    assert story.launch() == 0
    story.wait_for_end()
    assert (story.data / "words").read_text() == "as committed\n"
    (launched_event,) = story.events("Launched")
    assert launched_event.entry["Dirty tree"] == "no"


@pytest.mark.thorough
def test_a_launch_that_is_settled_later_keeps_its_word_on_the_dirty_tree(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    story.sign(waiver=[WAIVER])
    story.init()
    (story.work / "notes").write_text("todo")
    with monkeypatch.context() as patch:
        patch.setattr(
            start_instance, "_confirm", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt)
        )
        assert story.launch() == 130
    (story.work / "notes").unlink()
    story.wait_for_end()
    assert story.launch() == 0
    (launched_event,) = story.events("Launched")
    assert mentions(launched_event.entry["Dirty tree"], "yes", "approved", "@dri")


@pytest.mark.thorough
def test_a_start_checkpoint_reaches_the_trainer(story: Story) -> None:
    parent = story.data / "parent" / "step-2"
    parent.mkdir(parents=True)
    (parent / "weights").write_text("weights")
    (parent / "metadata.json").write_text('{"step": 2, "timestamp": "2026-01-01T00:00:00"}')
    resume = ["sh", "train.sh", str(story.data), "--from", "{start}"]
    story.sign(start={"from": str(parent)}, command={"resume_argv": resume})
    story.run_first_job()
    assert story.starts == [f"tiny-1 {parent}"]
    request = json.loads((story.jobs / "tiny-1" / "request.json").read_text())
    assert request["argv"] == [*resume[:-1], str(parent)]


# --- the reviewed plan ----------------------------------------------------------------------------


@pytest.mark.thorough
def test_a_reviewed_plan_that_stands_is_launched(
    story: Story, capsys: pytest.CaptureFixture[str]
) -> None:
    story.init()
    plan = story.home / "plan.json"
    capsys.readouterr()  # what `init` proposed, if it was not copied
    assert story.herorun("preflight", SLUG, "--out", str(plan)) == 0
    (line,) = capsys.readouterr().out.split("next: ")[1].splitlines()
    assert shlex.split(line)[-4:] == ["launch", SLUG, "--plan", str(plan)]
    assert story.launch("--plan", str(plan)) == 0
    (launched_event,) = story.events("Launched")
    assert launched_event.plan_digest == json.loads(plan.read_text())["plan_digest"]


@pytest.mark.thorough
def test_a_reviewed_plan_that_moved_is_not_launched_and_says_what_moved(
    story: Story, capsys: pytest.CaptureFixture[str]
) -> None:
    story.init()
    plan = story.home / "plan.json"
    story.herorun("preflight", SLUG, "--out", str(plan))
    before = git(story.work, "rev-parse", "HEAD").strip()
    story.sign(checkpoints={"keep": 3})
    after = git(story.work, "rev-parse", "HEAD").strip()
    capsys.readouterr()
    assert story.launch("--plan", str(plan)) == 1
    errors = capsys.readouterr().err
    assert f"commit: {before} -> {after}" in errors and "retention.keep: 10 -> 3" in errors
    assert "code_tree" not in errors
    assert (story.starts, story.events("Launching")) == ([], [])


# --- what must be there before anything is submitted ----------------------------------------------


@pytest.mark.thorough
def test_an_intent_that_cannot_be_pushed_is_not_submitted(
    story: Story, capsys: pytest.CaptureFixture[str]
) -> None:
    story.init()
    hook = story.refuse_pushes()
    capsys.readouterr()
    assert story.launch() == 3
    assert mentions(capsys.readouterr().err, "record", "pushed")
    assert story.starts == []
    hook.unlink()
    assert story.launch() == 0
    story.wait_for_end("tiny-2")
    assert [event.instance for event in story.events("Launched")] == ["tiny-2"]


@pytest.mark.thorough
def test_a_launch_that_cannot_be_announced_is_not_submitted(
    story: Story, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def down(*_: object) -> None:
        raise TimeoutError(110, "Connection timed out", "https://issues.example")

    story.init()
    monkeypatch.setattr(LocalIssue, "post", down)
    capsys.readouterr()
    assert story.launch() == 1
    errors = capsys.readouterr().err
    assert mentions(errors, "announced", "https://issues.example")
    assert story.starts == []
    # the run stands as before, but its newest launch failed
    status = ask(story, capsys, "status", SLUG, "--json").document
    assert (status["stage"], status["next"]) == ("initialised", f"herorun preflight {SLUG}")
    assert status["failed_launch"]["instance"] == "tiny-1"
    assert mentions(status["failed_launch"]["why"], "https://issues.example")
    line = ask(story, capsys, "status", SLUG).out
    at = status["failed_launch"]["at"][:16]
    assert mentions(line, "initialised", "tiny-1", at, "https://issues.example", "preflight")
    monkeypatch.undo()
    assert story.launch() == 0
    assert ask(story, capsys, "status", SLUG, "--json").document["failed_launch"] is None


@pytest.mark.parametrize(
    "content", ['{"beat":0,"fence":1,"owner":"bob@mars","slug":"tiny"}', "nonsense", ""]
)
def test_a_lease_of_somebody_else_blocks_and_stays(
    story: Story, capsys: pytest.CaptureFixture[str], content: str
) -> None:
    story.init()
    lease = story.root / "_herorun" / "lease.json"
    lease.parent.mkdir(parents=True)
    lease.write_text(content)
    assert story.launch() == 1
    assert str(lease) in capsys.readouterr().out
    assert (story.starts, lease.read_text()) == ([], content)


@pytest.mark.thorough
def test_a_run_of_another_name_in_the_same_root_is_blocked(story: Story) -> None:
    story.run_first_job()
    lease = story.root / "_herorun" / "lease.json"
    lease.write_text(lease.read_text().replace('"tiny"', '"other"'))
    assert story.launch() == 1
    assert len(story.starts) == 1


@pytest.mark.thorough
def test_of_two_clones_that_launch_at_once_one_submits(
    story: Story, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other's intent is pushed while ours is made: it was first, so ours is given up.

    The lease does not keep them apart where the root is a disk of each machine.
    """
    story.init()
    other = story.clone("elsewhere")
    assert other.init() == 0
    real = intent._new_intent

    def late(*args: object) -> object:
        launching = real(*args)
        monkeypatch.setattr(intent, "_new_intent", real)
        (story.root / "_herorun" / "lease.json").unlink()
        assert other.launch() == 0
        return launching

    monkeypatch.setattr(intent, "_new_intent", late)
    capsys.readouterr()
    assert story.launch() == 1
    assert mentions(capsys.readouterr().err, "launches", "tiny-1")
    eventually(lambda: story.starts)
    assert story.starts == ["tiny-1 scratch"]
    assert "live-duplicate" in findings(story, capsys)
    assert story.starts == ["tiny-1 scratch"]


@pytest.mark.thorough
def test_an_interrupted_intent_of_another_plan_is_given_up(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    story.init()
    with monkeypatch.context() as patch:
        patch.setattr(
            start_instance, "announce", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt)
        )
        assert story.launch() == 130
    story.sign(checkpoints={"keep": 3})
    assert story.launch() == 0
    story.wait_for_end("tiny-2")
    assert story.starts == ["tiny-2 scratch"]
    (failed_event,) = story.events("Failed")
    assert failed_event.key == "submit/tiny-1" and mentions(failed_event.why, "plan", "changed")
