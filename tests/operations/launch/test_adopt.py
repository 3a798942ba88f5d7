"""Adopting a job that runs already: nothing is submitted, and what nobody can prove is said."""

import json
import os
import subprocess
from collections.abc import Iterator

import pytest

from builders import a_job
from herorun.core.errors import CouldNotLook
from herorun.core.ports import Origin, Unknown
from herorun.operations.launch import start_instance
from herorun.schedulers.external.local import LocalById
from herorun.schedulers.local import Local
from stories import SLUG, WAIT, Story, eventually, seal_by_hand
from wording import mentions


@pytest.fixture
def job(story: Story, monkeypatch: pytest.MonkeyPatch) -> Iterator["subprocess.Popen[bytes]"]:
    """The contract's own command, started by hand; it waits at step 3. Herorun may submit
    nothing.
    """

    def submit(*_: object) -> None:
        raise AssertionError("something was submitted")

    monkeypatch.setattr(Local, "submit", submit)
    story.order("mine", WAIT)
    with (story.home / "mine.log").open("wb") as log:
        process = subprocess.Popen(
            ["sh", "train.sh", str(story.data)],
            cwd=story.work,
            env={**os.environ, "HERORUN_INSTANCE": "mine"},
            stdout=log,
            stderr=log,
        )
    story.init()
    story.reaches(2)
    yield process
    process.kill()
    process.wait()


def adopt(story: Story, job: "subprocess.Popen[bytes] | int | str", *words: str) -> int:
    return story.launch("--adopt", str(getattr(job, "pid", job)), *words)


def refusal_of(story: Story, capsys: pytest.CaptureFixture[str], job: object, code: int) -> str:
    """What is said of an adoption of which nothing is left."""
    capsys.readouterr()
    assert adopt(story, job) == code
    assert story.events("Launching") == []
    output = capsys.readouterr()
    return output.out + output.err


def test_a_running_job_becomes_an_instance_of_which_all_that_is_unproved_is_reported(
    story: Story, capsys: pytest.CaptureFixture[str], job: "subprocess.Popen[bytes]"
) -> None:
    capsys.readouterr()
    assert adopt(story, job, "--json") == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["verdict"], document["instance"], document["job"]) == (
        "clear",
        "tiny-1",
        str(job.pid),
    )
    assert document["adopted"]["command"] == ["sh", "train.sh", str(story.data)]
    unproven_text = " ".join(document["adopted"]["unproven"])
    assert mentions(unproven_text, "not launched", "receipt") and mentions(
        unproven_text, "cannot", "commit"
    )
    assert "output-root-in-use" in unproven_text

    (launched_event,) = story.events("Launched")
    assert launched_event.entry["Adopted"].startswith(f"local job {job.pid}, running since")
    assert mentions(launched_event.entry["`initialize_from`"], "known", "start")
    page = (story.state / "issue.md").read_text()
    assert mentions(page, "adoption", "tiny-1") and mentions(page, "check in", "receipt")
    assert story.starts == ["mine scratch"]
    memory = story.run.record.memory()
    assert mentions(memory.caveats[0], "adopted", "submit")
    assert memory.history.foreign == frozenset()  # step-2 was saved since it began

    # once more is once
    assert adopt(story, job) == 0
    assert mentions(capsys.readouterr().err, f"{job.pid}", "tiny-1", "already")
    assert len(story.events("Launched")) == 1 and story.comments.count("post/submit/tiny-1") == 1

    # it is watched as any instance, and no second one is launched beside it
    capsys.readouterr()
    assert story.tick("--json") == 3  # nobody compared what it runs
    tick = json.loads(capsys.readouterr().out)
    assert (tick["run"], tick["monitor"], tick["progress"]) == ("unknown", "fresh", "~3/4")
    assert story.launch() == 1
    assert mentions(capsys.readouterr().out, "running", "tiny-1", "status tiny")

    # and stopped as any
    assert story.herorun("stop", SLUG) == 0
    story.tick()
    assert job.wait(60) != 0
    assert story.herorun("logbook", "verify", SLUG) == 0


@pytest.mark.thorough
def test_its_log_is_the_file_that_its_output_goes_to(
    story: Story, job: "subprocess.Popen[bytes]"
) -> None:
    (story.home / "mine.log").write_text("loss 2.5\n")
    assert adopt(story, job) == 0
    assert story.run.scheduler.tail("tiny-1", 5) == "loss 2.5\n"
    (story.data / "go").touch()
    job.wait(60)
    assert story.run.scheduler.tail("tiny-1", 5) == "loss 2.5\n"


@pytest.mark.thorough
def test_it_is_watched_from_then_on(story: Story, job: "subprocess.Popen[bytes]") -> None:
    assert story.herorun("launch", SLUG, "--adopt", str(job.pid)) == 0
    eventually(lambda: "tell/tiny-1/first-step" in story.comments)


@pytest.mark.thorough
def test_what_cannot_be_adopted_leaves_nothing_behind(
    story: Story,
    capsys: pytest.CaptureFixture[str],
    job: "subprocess.Popen[bytes]",
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    process = subprocess.Popen(["true"])
    process.wait()
    assert mentions(refusal_of(story, capsys, process, 1), "local", f"{process.pid}")
    assert mentions(refusal_of(story, capsys, "tiny", 2), "local")
    assert mentions(refusal_of(story, capsys, "", 2), "needs")
    other = subprocess.Popen(["sleep", "60"])
    try:
        assert mentions(refusal_of(story, capsys, other, 1), "sleep 60", "says", "sh", "train.sh")
    finally:
        other.kill()
        other.wait()
    with monkeypatch.context() as patch:
        patch.setattr(LocalById, "origin", lambda self, job: Origin("eve", False))
        assert f"Job {job.pid} is eve's" in refusal_of(story, capsys, job, 1)
        patch.setattr(
            LocalById, "origin", lambda self, job: (_ for _ in ()).throw(CouldNotLook("no /proc"))
        )
        assert mentions(refusal_of(story, capsys, job, 3), "Cannot", "tell")
        patch.setattr(LocalById, "find_job", lambda self, job: Unknown("no answer"))
        assert "no answer" in refusal_of(story, capsys, job, 3)
    (story.data / "go").touch()
    job.wait(60)
    assert mentions(refusal_of(story, capsys, job, 1), f"{job.pid}")
    assert list(story.state.glob("process-*")) == []


@pytest.mark.thorough
def test_an_interrupted_adoption_is_the_same_instance_whichever_way_it_is_continued(
    story: Story,
    capsys: pytest.CaptureFixture[str],
    job: "subprocess.Popen[bytes]",
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(
            start_instance, "_confirm", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt)
        )
        assert adopt(story, job) == 130
    assert story.run.record.memory().unsettled
    assert story.launch() == 0  # without --adopt: the intent says which job it is
    (launched_event,) = story.events("Launched")
    assert (launched_event.instance, launched_event.job) == ("tiny-1", str(job.pid))
    assert adopt(story, job) == 0
    assert len(story.events("Launched")) == 1


@pytest.mark.thorough
def test_a_job_that_ends_before_it_is_adopted_is_given_up(
    story: Story,
    capsys: pytest.CaptureFixture[str],
    job: "subprocess.Popen[bytes]",
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = start_instance.announce

    def announce(*value: object) -> None:
        real(*value)
        (story.data / "go").touch()
        job.wait(60)

    monkeypatch.setattr(start_instance, "announce", announce)
    assert adopt(story, job) == 1
    assert mentions(capsys.readouterr().err, "ended", "adopted")
    memory = story.run.record.memory()
    assert memory.instances == () and memory.unsettled is None
    assert mentions((story.state / "issue.md").read_text(), "without", "adoption")


def test_next_to_another_live_job_of_the_run_nothing_is_adopted(
    story: Story,
    capsys: pytest.CaptureFixture[str],
    job: "subprocess.Popen[bytes]",
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    live = (a_job(instance="tiny-9", id="tiny-9"),)
    monkeypatch.setattr(Local, "live_jobs", lambda self, slug: live)
    message = refusal_of(story, capsys, job, 1)
    assert mentions(message, "tiny-9", "running", "tiny-9") and mentions(
        message, "nothing", "adopted"
    )


def test_a_sealed_slug_adopts_nothing(
    story: Story, capsys: pytest.CaptureFixture[str], job: "subprocess.Popen[bytes]"
) -> None:
    seal_by_hand(story)
    assert mentions(refusal_of(story, capsys, job, 1), "sealed", "launched")
