"""Jobs that nobody planned, on a real API server: created with kubectl by hand, watched, submitted
again and registered by their names.
"""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from herorun import cli
from services.k8s import Space, kubectl
from stories import eventually, forget
from wording import mentions

pytestmark = pytest.mark.back_end

CAPTURE = pytest.CaptureFixture[str]
PREEMPTED_JOB = (
    "echo step 7/20; echo 'slurmstepd: error: *** JOB 1 CANCELLED DUE TO PREEMPTION ***'; exit 1"
)
WAITS = "echo step 9/20; exec sleep 600"


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "kubectl").symlink_to(kubectl())
    monkeypatch.setenv("PATH", str(folder), prepend=":")
    (tmp_path / "w").mkdir()
    yield tmp_path / "w"
    forget()


def cluster_of(space: Space) -> list[str]:
    return ["--cluster", f"test/{space.name}", "--config", space.kubeconfig]


def has_ended(space: Space, name: str) -> bool:
    jobs = {each["metadata"]["name"]: each for each in space.jobs()}
    return bool(jobs[name]["status"].get("conditions"))


def running(space: Space) -> bool:
    return any(pod["status"].get("phase") == "Running" for pod in space.control.pods(space.name))


def test_a_preempted_job_is_created_again_and_its_successor_followed(
    work: Path, space: Space, capsys: CAPTURE
) -> None:
    space.create_job("first", ["sh", "-c", PREEMPTED_JOB], str(work))
    eventually(lambda: has_ended(space, "first"), within=120)
    manifest = work / "second.json"
    manifest.write_text(json.dumps(space.job("second", ["sh", "-c", WAITS], str(work))))
    command = (
        f"kubectl --kubeconfig={space.kubeconfig} --context=test --namespace={space.name} "
        f"create --validate=false -o name -f {manifest}"
    )
    words = ["-C", str(work), "babysit", "--job", "job.batch/first", "--scheduler", "kubernetes"]
    cli.run([*words, *cluster_of(space), "--resubmit", command, "--once"])
    state = json.loads(next((work / "scratch").iterdir()).read_text())
    assert state["restart_count"] == 1, capsys.readouterr()
    assert state["job_id"] == "job.batch/second"
    eventually(lambda: running(space), within=120)
    capsys.readouterr()
    assert cli.run(["-C", str(work), "babysit", "--once"]) == 0
    assert "healthy" in capsys.readouterr().out


def test_a_registered_job_is_removed_at_its_end(
    work: Path, space: Space, monkeypatch: pytest.MonkeyPatch, capsys: CAPTURE
) -> None:
    monkeypatch.setenv("CODEX_THREAD_ID", "thread-1")  # elsewhere it would start a watch of jobs
    space.create_job("short", ["sh", "-c", "exit 0"], str(work))
    jobs = ["-C", str(work), "jobs"]
    words = ["add", "kubernetes", "job.batch/short", "--no-watch", *cluster_of(space)]
    assert cli.run([*jobs, *words]) == 0, capsys.readouterr()
    eventually(lambda: has_ended(space, "short"), within=120)
    capsys.readouterr()
    assert cli.run([*jobs, "watch", "--every", "1s"]) == 0
    assert mentions(capsys.readouterr().out, "kubernetes job.batch/short: ", "COMPLETE")
    assert json.loads((work / ".claude/agents/thread-1/active_jobs.json").read_text()) == []


def test_a_live_job_of_the_same_work_is_not_joined_by_another(
    work: Path, space: Space, capsys: CAPTURE
) -> None:
    """Another machine has created it since, from the same manifest by `generateName`."""
    space.create_job("again-a", ["sh", "-c", PREEMPTED_JOB], str(work), generate="again-")
    eventually(lambda: has_ended(space, "again-a"), within=120)
    space.create_job("again-b", ["sh", "-c", WAITS], str(work), generate="again-")
    words = ["-C", str(work), "babysit", "--job", "job.batch/again-a", "--scheduler", "kubernetes"]
    cli.run([*words, *cluster_of(space), "--once", "--resubmit", f"touch {work}/submitted"])
    output = capsys.readouterr()
    assert mentions(output.out + output.err, "babysit", "--job", "job.batch/again-b"), output
    assert not (work / "submitted").exists()
