"""A whole run on a real Slurm, by the command line: what a person would see."""

import json
import os
import signal
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
import tomli_w

from commands.answers import ask
from herorun.core.evidence import Job, JobState
from herorun.core.ports import Found
from herorun.schedulers._slurm import jobs as slurm_jobs
from services.slurm import Cluster
from stories import WAIT, Story, eventually
from wording import mentions

pytestmark = pytest.mark.back_end

PID = 'echo $$ > "$data/pid-$HERORUN_INSTANCE"'


@pytest.fixture
def slurm_story(home: Path, cluster: Cluster) -> Iterator[Story]:
    """The run of all the other stories, with three lines of its contract changed."""
    story = Story(home).begin()
    path = story.work / "runs" / "tiny.toml"
    contract = tomllib.loads(path.read_text())
    contract["scheduler"] = {
        "kind": "slurm",
        "slurm_conf": cluster.conf,
        "settle": "1ms",
        "time_limit": "1h",
    }
    path.write_text(tomli_w.dumps(contract))
    story.publish()
    yield story
    for job in story.run.scheduler.live_jobs("tiny"):
        cluster.ask("scancel", "-s", "KILL", "-f", job.id, check=False)


def job_of(story: Story, instance: str) -> Job:
    run = story.run
    search = run.scheduler.find(instance, run.record.memory().launchings[instance].at)
    assert isinstance(search, Found), search
    return search.job


def wait_for_end(story: Story, instance: str) -> Job:
    eventually(lambda: job_of(story, instance).state.is_final, within=120)
    return job_of(story, instance)


def test_a_run_is_launched_relaunched_after_a_crash_and_left_alone_after_a_scancel(
    slurm_story: Story, cluster: Cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    slurm_story.order("tiny-1", f"{PID}; echo begun; {WAIT}")
    slurm_story.order("tiny-2", f"{PID}; {WAIT}")
    assert slurm_story.init() == 0
    assert ask(slurm_story, capsys, "preflight", "tiny", "--json").document["verdict"] == "clear"
    assert slurm_story.launch() == 0
    eventually(lambda: (slurm_story.data / "pid-tiny-1").exists(), within=120)
    capsys.readouterr()
    slurm_story.herorun("babysit", "tiny", "--once", "--json")
    tick = json.loads(capsys.readouterr().out)  # its news stand on the other stream
    assert tick["monitor"] == "fresh" and tick["run"] == "healthy"
    assert job_of(slurm_story, "tiny-1").state is JobState.RUNNING

    os.kill(int((slurm_story.data / "pid-tiny-1").read_text()), signal.SIGKILL)
    job = wait_for_end(slurm_story, "tiny-1")
    assert (job.state, job.signal, job.stopped_by) == (JobState.FAILED, "SIGKILL", None)
    slurm_story.tick()
    eventually(lambda: (slurm_story.data / "pid-tiny-2").exists(), within=120)
    assert slurm_story.starts == ["tiny-1 scratch", f"tiny-2 {slurm_story.root / 'step-2'}"]

    cluster.ask("scancel", job_of(slurm_story, "tiny-2").id)
    job = wait_for_end(slurm_story, "tiny-2")
    assert (job.state, job.stopped_by) == (
        JobState.CANCELLED,
        "root" if os.geteuid() == 0 else os.environ["USER"],
    )
    capsys.readouterr()
    assert slurm_story.tick("--json") == 1
    tick = json.loads(capsys.readouterr().out)
    assert "stopped-by-hand" in [f["check"] for f in tick["findings"] if f["outcome"] == "fail"]
    slurm_story.tick()
    assert len(slurm_story.starts) == 2
    assert [event.relaunch_of for event in slurm_story.events("Launched")] == ["", "tiny-1"]
    assert "begun\n" in ask(slurm_story, capsys, "logs", "--instance", "1").out
    assert "begun\n" not in ask(slurm_story, capsys, "logs", "-n", "100").out


def test_what_the_script_asks_sbatch_for_is_named_before_the_launch(
    slurm_story: Story, capsys: pytest.CaptureFixture[str]
) -> None:
    script = slurm_story.work / "train.sh"
    lines = "#!/bin/sh\n#SBATCH --nodes=64\n#SBATCH --gpus-per-node=8\n#SBATCH -t 5\n"
    script.write_text(lines + script.read_text())
    slurm_story.publish()
    assert slurm_story.init() == 0
    answer = ask(slurm_story, capsys, "preflight", "tiny", "--json").document
    assert answer["verdict"] == "clear"
    (finding,) = [each for each in answer["findings"] if each["check"] == "ignored-directives"]
    assert (finding["outcome"], finding["subject"]) == ("fail", "train.sh")
    assert mentions(finding["message"], "--nodes=64", "train.sh:2", "--gpus-per-node=8")
    assert "-t" not in finding["message"]


def test_a_job_that_sbatch_has_started_by_hand_is_adopted_watched_and_replaced_after_its_crash(
    slurm_story: Story, cluster: Cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    slurm_story.order("by-hand", f"{PID}; {WAIT}")
    slurm_story.order("tiny-2", f"{PID}; {WAIT}")
    assert slurm_story.init() == 0
    script = slurm_story.home / "by hand.sh"
    script.write_text(
        f"#!/bin/sh\nexport HERORUN_INSTANCE=by-hand\nexec sh train.sh {slurm_story.data}\n"
    )
    number = cluster.ask(
        "sbatch",
        "--parsable",
        f"--chdir={slurm_story.work}",
        "-o",
        f"{slurm_story.home}/log",
        str(script),
    )
    try:
        eventually(lambda: (slurm_story.data / "pid-by-hand").exists(), within=120)
        capsys.readouterr()
        assert slurm_story.launch("--adopt", number, "--json") == 0, capsys.readouterr()
        answer = json.loads(capsys.readouterr().out)
        assert (answer["instance"], answer["job"]) == ("tiny-1", number)
        assert answer["adopted"]["user"] and answer["adopted"]["command"] is None
        assert mentions(" ".join(answer["adopted"]["unproven"]), "compared", "reports", f"{script}")
        assert slurm_story.starts == ["by-hand scratch"]
        assert job_of(slurm_story, "tiny-1").state is JobState.RUNNING
        assert (
            slurm_story.tick("--json") == 3
        )  # it checked in under its own name: tiny-1 has no receipt
        tick = json.loads(capsys.readouterr().out)
        assert tick["run"] == "unknown"
        assert [missing["evidence"] for missing in tick["missing_evidence"]] == ["receipt"], tick
        os.kill(int((slurm_story.data / "pid-by-hand").read_text()), signal.SIGKILL)
        assert wait_for_end(slurm_story, "tiny-1").state is JobState.FAILED
        slurm_story.tick()
        eventually(lambda: (slurm_story.data / "pid-tiny-2").exists(), within=120)
        assert slurm_story.starts == ["by-hand scratch", f"tiny-2 {slurm_story.root / 'step-2'}"]
        capsys.readouterr()
        assert slurm_story.launch("--adopt", number) == 1
        assert mentions(capsys.readouterr().err, f"{number}", "tiny-1", "tiny-2", "after")
    finally:
        cluster.ask("scancel", "-s", "KILL", "-f", number, check=False)


def test_a_person_ends_a_run_whose_job_slurm_has_forgotten(
    slurm_story: Story,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Neither the queue nor accounting has the job any more, as after a purge."""
    slurm_story.order("tiny-1", "exit 3")
    assert slurm_story.init() == 0 and slurm_story.launch() == 0
    wait_for_end(slurm_story, "tiny-1")
    with monkeypatch.context() as purge:
        purge.setattr(slurm_jobs, "ours", lambda *_: [])
        document = ask(slurm_story, capsys, "status", "tiny", "--json").document
        assert document["run"] == "unknown" and mentions(document["doubts"], "herorun stop tiny")
        assert slurm_story.herorun("relaunch", "tiny") == 3
        assert slurm_story.herorun("stop", "tiny") == 3  # its rows are recent
        for path in slurm_story.root.rglob("*"):
            os.utime(path, (time.time() - 86400,) * 2)
        assert slurm_story.herorun("stop", "tiny", "--reason", "purged") == 0
        document = ask(slurm_story, capsys, "status", "tiny", "--json").document
        assert (document["run"], document["instances"][0]["state"]) == ("down", "cancelled")
        assert slurm_story.herorun("seal", "tiny", "--aborted") == 0
