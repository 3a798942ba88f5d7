"""A whole run on a real API server, by the command line: what a person would see."""

import json
import os
import signal
import tomllib
from pathlib import Path

import pytest
import tomli_w

from commands.answers import ask
from herorun.core.evidence import Job, JobState
from herorun.core.ports import Found
from schedulers.kubernetes_rig import contract_table
from services.k8s import Space
from stories import WAIT, Story, eventually
from wording import mentions

pytestmark = pytest.mark.back_end

PID = 'echo $$ > "$data/pid-$HERORUN_INSTANCE"'
BATCH = "/apis/batch/v1/namespaces"


@pytest.fixture
def on_k8s(home: Path, space: Space) -> Story:
    """The run of all the other stories, with another scheduler."""
    story = Story(home).begin()
    path = story.work / "runs" / "tiny.toml"
    contract = tomllib.loads(path.read_text())
    path.write_text(tomli_w.dumps({**contract, "scheduler": contract_table(space)}))
    story.publish()
    return story


def job_of(story: Story, instance: str) -> Job:
    run = story.run
    answer = run.scheduler.find(instance, run.record.memory().launchings[instance].at)
    assert isinstance(answer, Found), answer
    return answer.job


def ended(story: Story, instance: str) -> Job:
    eventually(lambda: job_of(story, instance).state.ended, within=60)
    return job_of(story, instance)


def kill(story: Story, instance: str) -> None:
    os.kill(int((story.data / f"pid-{instance}").read_text()), signal.SIGKILL)


def test_a_run_is_launched_relaunched_after_a_crash_and_stopped(
    on_k8s: Story, space: Space, capsys: pytest.CaptureFixture[str]
) -> None:
    story = on_k8s
    story.order("tiny-1", f"{PID}; echo begun; {WAIT}")
    story.order("tiny-2", f"{PID}; {WAIT}")
    assert story.init() == 0
    preflight = ask(story, capsys, "preflight", "tiny", "--json").document
    assert preflight["verdict"] == "clear", preflight
    assert story.launch() == 0
    eventually(lambda: (story.data / "pid-tiny-1").exists(), within=60)
    capsys.readouterr()
    story.herorun("babysit", "tiny", "--once", "--json")
    tick = json.loads(capsys.readouterr().out)
    assert tick["monitor"] == "fresh" and tick["run"] == "healthy", tick

    patrol = ask(story, capsys, "patrol", "tiny", "--json")
    assert (patrol.code, patrol.document["state"]) == (0, "running"), patrol
    kill(story, "tiny-1")
    job = ended(story, "tiny-1")
    assert (job.state, job.exit_code, job.stopped_by) == (JobState.FAILED, 137, None)
    patrol = ask(story, capsys, "patrol", "tiny", "--json")
    assert (patrol.code, patrol.document["state"]) == (1, "down"), patrol
    assert mentions(patrol.document["line"], "exit code 137")
    story.tick()
    eventually(lambda: (story.data / "pid-tiny-2").exists(), within=60)
    assert story.starts == ["tiny-1 scratch", f"tiny-2 {story.root / 'step-2'}"]
    assert "begun\n" in ask(story, capsys, "logs", "--instance", "1").out

    assert story.herorun("stop", "tiny") == 0, capsys.readouterr()
    job = ended(story, "tiny-2")
    assert job.state is JobState.CANCELLED and job.stopped_by
    story.tick()
    story.tick()
    assert len(story.starts) == 2
    names = [each["metadata"]["name"] for each in space.jobs()]
    assert names == ["tiny-1", "tiny-2"]


def test_logs_are_followed_to_the_end(on_k8s: Story, capsys: pytest.CaptureFixture[str]) -> None:
    story = on_k8s
    story.order("tiny-1", "echo begun; sleep 2; echo over")
    assert story.init() == 0 and story.launch() == 0
    answer = ask(story, capsys, "logs", "tiny", "-f")
    assert answer.code == 0 and "begun\nover\n" in answer.out, answer
    assert mentions(answer.err, "tiny-1", "ended", "succeeded")


def test_a_job_that_kubectl_has_created_is_adopted_watched_and_replaced_after_its_crash(
    on_k8s: Story, space: Space, capsys: pytest.CaptureFixture[str]
) -> None:
    story = on_k8s
    story.order("by-hand", f"{PID}; {WAIT}")
    story.order("tiny-2", f"{PID}; {WAIT}")
    assert story.init() == 0
    argv = ["sh", "train.sh", str(story.data)]
    space.create_job("by-hand", argv, str(story.work), HERORUN_INSTANCE="by-hand")
    eventually(lambda: (story.data / "pid-by-hand").exists(), within=60)
    capsys.readouterr()
    assert story.launch("--adopt", "job.batch/by-hand", "--json") == 0, capsys.readouterr()
    answer = json.loads(capsys.readouterr().out)
    assert (answer["instance"], answer["job"]) == ("tiny-1", "job.batch/by-hand")
    assert answer["adopted"]["command"] == argv
    assert story.starts == ["by-hand scratch"]
    assert job_of(story, "tiny-1").state is JobState.RUNNING
    kill(story, "by-hand")
    assert ended(story, "tiny-1").state is JobState.FAILED
    story.tick()
    eventually(lambda: (story.data / "pid-tiny-2").exists(), within=60)
    assert story.starts == ["by-hand scratch", f"tiny-2 {story.root / 'step-2'}"]
    capsys.readouterr()
    assert story.launch("--adopt", "job.batch/by-hand") == 1
    assert mentions(capsys.readouterr().err, "by-hand", "tiny-1", "tiny-2", "after")
