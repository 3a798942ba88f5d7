"""A job that nobody planned, on a real Ray: submitted over its Jobs API by hand, watched by its
submission id.
"""

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from herorun import cli
from herorun.core.errors import WrongUse
from herorun.core.evidence import JobState
from herorun.core.ports import Absent, Found, Place
from herorun.schedulers.external import ray as by_id
from services.ray_service import Head
from services.servers import PYTHON
from stories import eventually, forget
from wording import mentions

pytestmark = pytest.mark.back_end

NOWHERE = Place("job", "/", "/", "/")
EXPERIMENT = ("--experiment", "experiments/tiny.py")
Submit = Callable[[str], str]


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "w").mkdir()
    yield tmp_path / "w"
    forget()


@pytest.fixture
def submit(ray_head: Head, work: Path) -> Iterator[Submit]:
    """Its name; a job ends when the file `go` is there."""
    names: list[str] = []

    def by_hand(words: str) -> str:
        names.append(f"loose-{uuid4().hex[:8]}")
        script = f"echo step 7/20; until test -e {work}/go; do sleep 0.1; done; {words}"
        ray_head.post("/api/jobs/", {"submission_id": names[-1], "entrypoint": script})
        return names[-1]

    yield by_hand
    (work / "go").touch()
    for name in names:
        ray_head.post(f"/api/jobs/{name}/stop", {})


def status(head: Head, name: str) -> str:
    return str(head.get(f"/api/jobs/{name}")["status"])


def log_of(head: Head, name: str) -> str:
    """What its entrypoint has written, as Ray calls a job running before it writes."""
    return str(head.get(f"/api/jobs/{name}/logs")["logs"])


def test_a_job_on_ray_is_watched_by_its_id_until_it_fails(
    ray_head: Head, work: Path, submit: Submit, capsys: pytest.CaptureFixture[str]
) -> None:
    name = submit("echo 'ValueError: no such shard' >&2; exit 3")
    words = [
        "-C",
        str(work),
        "babysit",
        "--job",
        name,
        "--scheduler",
        "ray",
        "--cluster",
        ray_head.url,
        *EXPERIMENT,
    ]
    eventually(lambda: "step 7/20\n" in log_of(ray_head, name), within=120)
    code, output = cli.run([*words, "--once"]), capsys.readouterr()
    # Ray tells no age of a log: its first step proves nothing yet
    assert code == 3 and mentions(output.out, "starting") and mentions(output.out, "waiting"), (
        output
    )
    document = json.loads(next((work / "scratch").iterdir()).read_text())
    assert (document["job_id"], document["cluster"], document["restart_count"]) == (
        name,
        ray_head.url,
        0,
    )

    (work / "go").touch()
    eventually(lambda: status(ray_head, name) == "FAILED", within=120)
    code, output = cli.run([*words, "--once"]), capsys.readouterr()
    assert code == 1 and mentions(output.out, "failed: exit code 3") and "~7/20" in output.out, (
        output
    )


def test_cluster_experiment_and_id_are_enough_to_submit_it_again(
    ray_head: Head,
    work: Path,
    submit: Submit,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """By Ray's own command line, in the folder that the session was started in."""
    monkeypatch.setenv("PATH", f"{PYTHON.parent}:{os.environ['PATH']}")
    (work / "experiments").mkdir()
    (work / EXPERIMENT[1]).write_text(
        "print('step 9/20', flush=True)\nimport time; time.sleep(60)\n"
    )
    name = submit("echo 'JOB 1 CANCELLED DUE TO PREEMPTION'; exit 1")
    (work / "go").touch()
    eventually(lambda: status(ray_head, name) == "FAILED", within=120)
    words = ["-C", str(work), "babysit", "--job", name, "--scheduler", "ray"]
    cli.run([*words, "--cluster", ray_head.url, *EXPERIMENT, "--once"])
    output = capsys.readouterr()
    document = json.loads(next((work / "scratch").iterdir()).read_text())
    assert (document["restart_count"], document["job_id"] != name) == (1, True), output
    again = ray_head.get(f"/api/jobs/{document['job_id']}")
    ray_head.post(f"/api/jobs/{document['job_id']}/stop", {})
    assert again["entrypoint"] == f"python {EXPERIMENT[1]}"


def test_the_end_of_its_log_is_read_and_it_is_stopped_by_its_id(
    ray_head: Head, work: Path, submit: Submit
) -> None:
    name, adapter = submit("exit 0"), by_id.connect(by_id.Options(cluster=ray_head.url), NOWHERE)
    eventually(lambda: "step 7/20\n" in log_of(ray_head, name), within=120)
    assert adapter.tail(name, 5) == "step 7/20\n"
    adapter.stop(name)
    eventually(lambda: status(ray_head, name) == "STOPPED", within=120)
    job = adapter.find_job(name)
    assert isinstance(job, Found) and job.job.state is JobState.CANCELLED
    assert adapter.find_job(name[:-1]) == Absent()
    with pytest.raises(WrongUse, match="loose-none"):
        adapter.stop("loose-none")


def test_an_id_that_ray_does_not_know_is_wrong_use_and_a_head_that_is_not_there_could_not_be_asked(
    ray_head: Head, work: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def watch_job(cluster: str) -> tuple[int, str]:
        words = [
            "--job",
            "loose-none",
            "--scheduler",
            "ray",
            "--cluster",
            cluster,
            *EXPERIMENT,
            "--once",
        ]
        code, output = cli.run(["-C", str(work), "babysit", *words]), capsys.readouterr()
        return code, output.out + output.err

    code, output = watch_job(ray_head.url)
    assert code == 2 and mentions(output, "knows", "loose-none")
    code, output = watch_job("http://127.0.0.1:9")
    assert code == 3 and mentions(output, "Connection", "refused")
