"""Jobs that nobody planned, on a real Slurm: submitted with sbatch by hand, watched and registered
by their numbers.
"""

import json
import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from herorun import cli
from services.slurm import Cluster
from stories import eventually, forget
from wording import mentions

pytestmark = pytest.mark.back_end

PREEMPTED_JOB = (
    "echo step 7/20; echo 'slurmstepd: error: *** JOB 1 CANCELLED DUE TO PREEMPTION ***'; exit 1"
)
HUNGRY = "python3 -c 'x = bytearray(600 * 2**20); import time; time.sleep(30)'; exit 1"
WAITS = "echo step 9/20; sleep 120"


@pytest.fixture
def work(tmp_path: Path, cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("CODEX_THREAD_ID", "thread-1")
    monkeypatch.setenv("SLURM_CONF", cluster.conf)
    (tmp_path / "w").mkdir()
    yield tmp_path / "w"
    for number in (tmp_path / "numbers").read_text().split():
        cluster.ask("scancel", number, check=False)
    end_watches(tmp_path / "w")
    forget()


def end_watches(work: Path) -> None:
    """End the `jobs watch` of this folder: without its Slurm it would look for a day."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            argv = path.read_text(errors="replace").split("\0")
            if str(work) in argv and argv[-3:-1] == ["jobs", "watch"]:
                os.kill(int(path.parent.name), signal.SIGTERM)


def submit(cluster: Cluster, work: Path, words: str) -> str:
    """Under a name of this test's own: a cancelled job of another test completes for a while, and
    is no namesake.
    """
    script = f"#!/bin/sh\n#SBATCH --job-name={work.parent.name}\n{words}\n"
    (work / "job.sh").write_text(script)
    number = cluster.ask("sbatch", "--parsable", f"--chdir={work}", str(work / "job.sh"))
    with (work.parent / "numbers").open("a") as file:
        file.write(f"{number}\n")
    return number


def word(cluster: Cluster, number: str) -> str:
    return cluster.ask("sacct", "-X", "-n", "-P", "-j", number, "--format=State", check=False)


def test_a_preempted_job_is_submitted_again_and_its_successor_followed(
    work: Path, cluster: Cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    number = submit(cluster, work, PREEMPTED_JOB)
    eventually(lambda: "FAILED" in word(cluster, number), within=120)
    (work / "again.sh").write_text(f"#!/bin/sh\n{WAITS}\n")
    command = f"sbatch --chdir={work} {work}/again.sh"
    words = [
        "-C",
        str(work),
        "babysit",
        "--job",
        number,
        "--scheduler",
        "slurm",
        "--resubmit",
        command,
        "--once",
    ]
    cli.run(words)
    document = json.loads(next((work / "scratch").iterdir()).read_text())
    (work.parent / "numbers").open("a").write(f"{document['job_id']}\n")
    assert document["restart_count"] == 1, capsys.readouterr()
    assert document["job_id"] != number
    eventually(lambda: "RUNNING" in word(cluster, document["job_id"]), within=120)
    capsys.readouterr()
    assert cli.run(["-C", str(work), "babysit", "--once"]) == 0
    assert "healthy" in capsys.readouterr().out


def test_what_ended_for_memory_is_not_submitted_again(
    work: Path, cluster: Cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whether Slurm confines memory or kills by what it samples: both tasks met their limit."""
    number = submit(cluster, work, f"#SBATCH --array=0-1 --mem=120M\necho step 7/20; {HUNGRY}")
    eventually(lambda: count_ended_tasks(cluster, number) == 2, within=120)
    command = f"touch {work}/submitted"
    words = ["-C", str(work), "babysit", "--job", number, "--scheduler", "slurm", "--once"]
    code, output = cli.run([*words, "--resubmit", command]), capsys.readouterr()
    assert code == 1 and mentions(output.out, "2 of", "2", "137", "memory"), output
    assert not (work / "submitted").exists()


def count_ended_tasks(cluster: Cluster, number: str) -> int:
    """How many of its tasks Slurm's accounts call over, for whatever reason."""
    return sum(state.startswith(("FAILED", "OUT_OF")) for state in word(cluster, number).split())


def test_a_registered_job_is_removed_at_its_end_with_exit_code_and_elapsed_time(
    work: Path, cluster: Cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    number = submit(cluster, work, "exit 0")
    jobs = ["-C", str(work), "jobs"]
    assert cli.run([*jobs, "add", "slurm", number, "--no-watch"]) == 0
    eventually(lambda: "COMPLETED" in word(cluster, number), within=120)
    capsys.readouterr()
    assert cli.run([*jobs, "watch", "--every", "1s"]) == 0
    output = capsys.readouterr().out
    assert f"slurm {number}: COMPLETED" in output
    assert "exit code 0:0, elapsed 00:00" in output
    assert os.listdir(work / ".claude/agents") != []
    assert json.loads((work / ".claude/agents/thread-1/active_jobs.json").read_text()) == []


def test_a_live_job_of_the_same_name_and_user_is_not_joined_by_another(
    work: Path, cluster: Cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    """Another machine has submitted it since; this one's state file does not know."""
    failed_number = submit(cluster, work, PREEMPTED_JOB)
    eventually(lambda: "FAILED" in word(cluster, failed_number), within=120)
    live = submit(cluster, work, WAITS)
    words = ["-C", str(work), "babysit", "--job", failed_number, "--scheduler", "slurm", "--once"]
    cli.run([*words, "--resubmit", f"touch {work}/submitted"])
    output = capsys.readouterr()
    assert mentions(output.out + output.err, "babysit", "--job", f"{live}", "--scheduler"), (
        output.out
    )
    assert not (work / "submitted").exists()
