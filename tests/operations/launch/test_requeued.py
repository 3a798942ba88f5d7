"""A job that Slurm itself puts back into the queue and starts again, with the real check-in."""

import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from herorun.core.evidence import Job
from services.slurm import Cluster
from stories import Story, eventually

pytestmark = pytest.mark.back_end

SOURCES = str(Path(__file__).parents[3] / "src")
# It goes on from its newest checkpoint, and waits before check-in while there is a file `hold`.
JOB = """\
import json, pathlib, sys, time
import herorun
data = pathlib.Path(sys.argv[1])
root = data / "tiny"
step = max((int(path.name[5:]) for path in root.glob("step-*")), default=0)
while (data / "hold").exists():
    time.sleep(0.05)
herorun.check_in()
while True:
    loss = 4 / (step + 20) ** 0.2 + step * 7919 % 101 / 2000
    with (root / "metrics.jsonl").open("a") as rows:
        print(json.dumps({"step": step, "train/loss": loss}), file=rows)
    step += 1
    if step % 10 == 0:
        folder = root / f"step-{step}"
        folder.mkdir(exist_ok=True)
        (folder / "weights").write_text("weights")
        metadata = {"step": step, "timestamp": time.strftime("%Y-%m-%dT%H:%M:%S"), "is_temporary": False}
        (folder / "metadata.json").write_text(json.dumps(metadata))
    time.sleep(0.1)
"""  # noqa: E501  # a text that is read as it stands


@pytest.fixture
def slurm_story(home: Path, cluster: Cluster) -> Iterator[Story]:
    story = Story(home).begin()
    (story.work / "train.py").write_text(JOB)
    argv = [sys.executable, "train.py", str(story.data)]
    story.sign(
        final_step=100_000,
        command={"argv": argv, "env": {"PYTHONPATH": SOURCES}},
        checkpoints={"permanent_every": 10, "keep": 10_000},
        scheduler={
            "kind": "slurm",
            "grace": None,
            "slurm_conf": cluster.conf,
            "time_limit": "1h",
            "restarts": "backend",
        },
    )
    yield story
    for job in story.run.scheduler.live_jobs("tiny"):
        cluster.ask("scancel", "-s", "KILL", "-f", job.id, check=False)


def tick_of(story: Story, capsys: pytest.CaptureFixture[str]) -> Any:
    capsys.readouterr()
    story.tick("--json")
    return json.loads(capsys.readouterr().out)


def newest_step(story: Story) -> int:
    rows = story.root / "metrics.jsonl"
    lines = rows.read_text().splitlines() if rows.exists() else []
    return json.loads(lines[-1])["step"] if lines else 0


def requeue(cluster: Cluster, job: Job) -> None:
    """And wait until it runs again; Slurm itself would wait for two minutes."""
    state = ("squeue", "-h", "-j", job.id, "-o", "%T %r")
    cluster.ask("scontrol", "requeue", job.id)
    eventually(lambda: cluster.ask(*state).startswith("PENDING"), within=120)

    time.sleep(1.1)  # Slurm tells whole seconds, and the next attempt begins in a later one

    def runs() -> bool:
        if cluster.ask(*state) == "PENDING BeginTime":
            cluster.ask("scontrol", "update", f"jobid={job.id}", "StartTime=now", check=False)
        return cluster.ask(*state).startswith("RUNNING")

    eventually(runs, within=120)


def test_what_an_earlier_attempt_saved_is_no_sign_of_the_next(
    slurm_story: Story, cluster: Cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    assert slurm_story.init() == 0 and slurm_story.launch() == 0
    eventually(lambda: newest_step(slurm_story) >= 12, within=120)
    assert tick_of(slurm_story, capsys)["run"] == "healthy"

    (slurm_story.data / "hold").touch()
    (job,) = slurm_story.run.scheduler.live_jobs("tiny")
    requeue(cluster, job)
    tick = tick_of(slurm_story, capsys)
    assert tick["run"] == "starting" and tick["alerts"] == []
    assert [missing["evidence"] for missing in tick["missing_evidence"]] == ["row"]
    assert tick["missing_evidence"][0]["until"] is not None

    step = newest_step(slurm_story)
    (slurm_story.data / "hold").unlink()
    eventually(lambda: newest_step(slurm_story) > step + 10, within=120)
    assert tick_of(slurm_story, capsys)["run"] == "healthy"
    receipts = slurm_story.root / "_herorun" / "receipts"
    attempts = [json.loads(path.read_text())["attempt"] for path in sorted(receipts.glob("*"))]
    assert attempts == [1, 2]
