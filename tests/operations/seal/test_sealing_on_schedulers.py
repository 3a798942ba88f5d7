"""A whole seal on every scheduler: real Slurm, Ray, a box behind ssh and the NeMo launcher; Iris by
a stand-in.
"""

import os
import shlex
import signal
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import tomli_w

from operations.seal.sealed_story import (
    PATIENCE,
    World,
    has_ended,
    is_sealed_after_its_end,
    seal_json,
)
from schedulers.kubernetes_rig import contract_table
from services.boxes import Box
from services.k8s import Space
from services.nel import EVALUATION_CONFIG
from services.ray_service import Head
from services.slurm import Cluster
from stories import WAIT, Story, contract_of, eventually

CAPTURE = pytest.CaptureFixture[str]
LIVES = frozenset(
    {"job-not-succeeded", "surviving-job", "short-of-final-step", "incomplete-final-checkpoint"}
)
SERVICES = Path(__file__).parents[2] / "services"
EVALUATION = """\
defaults:
  - execution: local
  - deployment: none
  - _self_
"""


def here(story: Story, scheduler: dict[str, Any], **changes: Any) -> World:
    """A job that waits after step 3, with all that it writes on this machine's disks."""
    contract = {**contract_of(story.data), **changes, "scheduler": scheduler}
    (story.work / "runs" / "tiny.toml").write_text(tomli_w.dumps(contract))
    story.publish()
    story.order("tiny-1", WAIT)
    marker = story.root / "step-2" / "metadata.json"
    return World(story, (story.data / "go").touch, LIVES, marker.exists, str(story.root))


@pytest.fixture
def on_slurm(story: Story, cluster: Cluster) -> Iterator[World]:
    yield here(
        story, {"kind": "slurm", "slurm_conf": cluster.conf, "settle": "1ms", "time_limit": "1h"}
    )
    for job in story.run.scheduler.live_jobs("tiny"):
        cluster.ask("scancel", "-s", "KILL", "-f", job.id, check=False)


@pytest.fixture
def on_ray(story: Story, ray_head: Head) -> World:
    prefix = f"{uuid4().hex[:8]}-"
    return here(
        story, {"kind": "ray", "address": ray_head.url, "prefix": prefix, "settle": "200ms"}
    )


@pytest.fixture
def on_kubernetes(story: Story, space: Space) -> World:
    return here(story, contract_table(space))


@pytest.fixture
def on_ssh(home: Path, box: Box) -> Iterator[World]:
    """Everything that the job writes lies on the box's own disk."""
    data = f"{box.home}/{home.name}"
    box.ssh(f"mkdir -p {data}/orders && echo {shlex.quote(WAIT)} > {data}/orders/tiny-1")
    contract = contract_of(Path(data))
    scheduler = {
        **{
            "kind": "ssh",
            "host": box.name,
            "ssh_config": str(box.config),
            "folder": f"{data}/jobs",
        },
        **{"settle": "20s", "grace": "200ms"},
    }
    story = Story(home).begin(
        command=contract["command"], output=contract["output"], scheduler=scheduler
    )
    marker = f"{data}/tiny/step-2/metadata.json"

    def has_begun() -> bool:
        return box.ssh(f"test -e {marker}", check=False).returncode == 0

    yield World(story, lambda: box.ssh(f"touch {data}/go"), LIVES, has_begun, f"{data}/tiny")
    box.ssh(f"touch {data}/go; sleep 0.3; rm -rf {data}", check=False)


@pytest.fixture
def on_nel(
    story: Story, nel_program: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> Iterator[World]:
    """Real invocations; their `docker` does what a container would, and here that is the job of all
    stories.
    """
    top = story.home / "nel"
    (top / "bin").mkdir(parents=True)
    (top / "home").mkdir()
    script = (
        f'case "$1" in run) sh {story.work}/train.sh {story.data} ;; stop|kill) touch '
        f"{story.data}/go ;; esac"
    )
    (top / "bin" / "docker").write_text(f"#!/bin/sh\n{script}\n")
    (top / "bin" / "docker").chmod(0o755)
    monkeypatch.setenv("PATH", f"{top / 'bin'}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("HOME", str(top / "home"))
    (story.work / "eval.yaml").write_text(EVALUATION + EVALUATION_CONFIG)
    fields = {
        **{
            "kind": "nel",
            "program": list(nel_program),
            "folder": str(top / "results"),
            "settle": "100ms",
        },
        **{"exec_db": str(top / "exec.v1.jsonl"), "timeout": "2m"},
    }
    yield here(story, fields, command={"argv": ["eval.yaml"]})
    (story.data / "go").touch()


@pytest.fixture
def on_iris(story: Story) -> Iterator[World]:
    cluster = story.home / "iris"
    cluster.mkdir()
    words = [sys.executable, "-I", "-S", str(SERVICES / "iris_stand_in.py"), "C", str(cluster)]
    (cluster / "iris").write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n')
    (cluster / "iris").chmod(0o755)
    fields = {"kind": "iris", "cluster": "marin", "user": "ada", "program": [str(cluster / "iris")]}
    yield here(story, {**fields, "code": "shared", "settle": "1ms"})
    for pid in cluster.glob("jobs/*/pid"):
        if not (pid.parent / "exit").exists():
            with suppress(ProcessLookupError):
                os.kill(int(pid.read_text()), signal.SIGKILL)


@pytest.mark.back_end
def test_a_box_out_of_reach_is_neither_sealed_nor_called_unfinished(
    on_ssh: World, box: Box, capsys: CAPTURE
) -> None:
    story = on_ssh.story
    assert story.init() == 0
    assert story.launch() == 0
    on_ssh.go()
    eventually(lambda: has_ended(story), PATIENCE)
    box.cut()
    document, unseen_evidence = seal_json(story, capsys, 3)
    assert (document["verdict"], document["tag"]) == ("unknown", None) and unseen_evidence >= LIVES
    assert {f["outcome"] for f in document["findings"] if f["check"] in LIVES} == {"unknown"}
    box.fix()
    assert story.seal() == 0


REAL = [
    pytest.param(name, marks=pytest.mark.back_end)
    for name in ("on_slurm", "on_ray", "on_kubernetes", "on_ssh", "on_nel")
]


@pytest.mark.parametrize("where", [*REAL, pytest.param("on_iris", marks=pytest.mark.thorough)])
def test_a_living_job_is_not_sealed_and_an_ended_one_is_proven_by_a_fresh_clone(
    where: str, request: pytest.FixtureRequest, capsys: CAPTURE
) -> None:
    world: World = request.getfixturevalue(where)
    facts = is_sealed_after_its_end(world, capsys)
    assert [each["name"] for each in facts["instances"]] == ["tiny-1"]
    if where == "on_kubernetes":
        (instance,) = facts["instances"]
        assert len(instance["nodes"]) == 1
        assert instance["images"] == [f"registry.test/train@sha256:{'ab' * 32}"]
