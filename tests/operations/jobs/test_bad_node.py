"""A bad accelerator's machine is deleted before a job without a contract is submitted again, where
a person said so.
"""

import json
import os
from pathlib import Path

import pytest

from jobs_alone import GOES, Alone, babysit, state
from operations.babysit.test_replace_node import CREATE_TIME, GCLOUD
from stories import eventually, note
from wording import mentions

CAPTURE = pytest.CaptureFixture[str]
BAD = (
    "echo step 3/20; echo '(TrainActor pid=12, ip=10.0.0.7) RuntimeError: No accelerator found. "
    "Please run on a TPU or GPU.'; exit 1"
)


@pytest.fixture
def cloud(alone: Alone, monkeypatch: pytest.MonkeyPatch) -> str:
    """Two machines, one of them the bad one."""
    folder = alone.folder / "bin"
    folder.mkdir()
    (folder / "gcloud").write_text(GCLOUD)
    (folder / "gcloud").chmod(0o755)
    machines = [
        {
            "name": f"p/nodes/{name}",
            "createTime": CREATE_TIME,
            "networkEndpoints": [{"ipAddress": each}],
        }
        for name, each in {"ray-1": "10.0.0.71", "ray-2": "10.0.0.7"}.items()
    ]
    (folder / "machines.json").write_text(json.dumps(machines))
    (folder / "calls").touch()
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    return str(folder / "calls")


def test_only_a_zone_that_a_person_gave_deletes_the_machine(
    alone: Alone, cloud: str, capsys: CAPTURE
) -> None:
    job = alone.start(BAD)
    eventually(
        lambda: (j := alone.adapter.find(job.instance, note("x").at)) and j.job.state.is_final
    )
    words = ("--job", alone.place(job), "--scheduler", "local")
    answer = babysit(alone, capsys, *words, "--once")
    assert mentions(answer.out + answer.err, "Nothing", "deleted"), answer
    assert Path(cloud).read_text() == ""

    again = ("--resubmit", alone.again(GOES), "--bad-node-zone", "us-east5-a", "--once")
    deleted_answer = babysit(alone, capsys, *words, *again)
    if alone.all == ["loose-1"]:  # the deletion is an action of its own, and the next tick submits
        babysit(alone, capsys, "--once")
    calls = [call for call in Path(cloud).read_text().splitlines() if " delete " in call]
    assert calls == ["compute tpus tpu-vm delete ray-2 --zone us-east5-a --quiet"], deleted_answer
    assert alone.all == ["loose-1", "loose-2"]
    assert state(alone)["bad_node_zone"] == "us-east5-a"
