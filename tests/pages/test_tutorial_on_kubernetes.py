"""The tutorial on a cluster: its own commands, and those that Kubernetes' page adds, typed on a
real API server.

The pods are processes of this machine, which see its folders themselves: the code is `shared`. That
of a bundle is in tests/schedulers/test_kubernetes_kubelet.py.
"""

import tomllib
from pathlib import Path

import pytest
import tomli_w

from pages.blocks import FENCE, files
from pages.test_commands import CODES, COMMANDS, NOT_RUN, as_shown, text, world
from pages.world import World
from schedulers.kubernetes_rig import contract_table
from services.k8s import Space, kubectl
from services.k8s_node import wait_for

pytestmark = [pytest.mark.back_end, pytest.mark.thorough]
__all__ = ["world"]

PAGE = "docs/schedulers/kubernetes.md"
HERE = ("context", "namespace", "kubeconfig", "program", "node_selector", "ignore_changes")


def on_a_cluster(world: World, space: Space) -> None:
    """The page's `[scheduler]` and pod.yaml, with the cluster of this test."""
    world.write(files(text(PAGE)))
    section = text(PAGE).partition("## The tutorial on a cluster")[2]
    (table,) = [tomllib.loads(code) for kind, code in FENCE.findall(section) if kind == "toml"][:1]
    path = world.here / "runs" / "my-run.toml"
    contract = tomllib.loads(path.read_text())
    own = {key: value for key, value in contract_table(space).items() if key in HERE}
    scheduler = {**table["scheduler"], **own, "code": "shared"}
    path.write_text(tomli_w.dumps({**contract, "scheduler": scheduler}))


def claim(space: Space, folder: Path) -> None:
    """The volume that pod.yaml names."""
    spec = {
        "capacity": {"storage": "1Gi"},
        "accessModes": ["ReadWriteMany"],
        "hostPath": {"path": str(folder)},
        "claimRef": {"namespace": space.name, "name": "training-data"},
    }
    volume = {"metadata": {"name": space.name}, "spec": spec}
    space.control.ask("POST", "/api/v1/persistentvolumes", volume)
    spec = {
        "accessModes": ["ReadWriteMany"],
        "resources": {"requests": {"storage": "1Gi"}},
        "storageClassName": "",
    }
    body = {"metadata": {"name": "training-data"}, "spec": spec}
    path = f"/api/v1/namespaces/{space.name}/persistentvolumeclaims"
    space.control.ask("POST", path, body)


def has_ended(space: Space) -> bool:
    (job,) = space.jobs()
    return any(each["type"] == "Complete" for each in job["status"].get("conditions", ()))


def test_the_tutorial_can_be_followed_on_a_cluster(
    world: World, space: Space, monkeypatch: pytest.MonkeyPatch
) -> None:
    first_command, block = COMMANDS[PAGE][:2]
    monkeypatch.setenv("KUBECONFIG", space.kubeconfig)  # of the person, who types kubectl
    claim(space, world.home / "data")
    for command in COMMANDS["docs/tutorial.md"]:
        if command.line in NOT_RUN:
            continue
        if command.line == "git add train.py config.toml runs":
            as_shown(world)
            on_a_cluster(world, space)
            assert world.type(first_command).code == 0
        if command.line == "herorun babysit my-run --once":
            wait_for(lambda: has_ended(space), 120)
        if command.line == "herorun status my-run":
            # its pod succeeds before the Job is concluded, and between the two its end is unknown
            wait_for(lambda: has_ended(space), 120)
        output = world.type(command)
        assert output.code in CODES.get(command.line, {0}), output.out + output.err
        if command.line.startswith("herorun launch"):
            line = block.line.replace("train-cluster", "test").replace("heroes", space.name)
            output = world.type(type(block)(PAGE, line.replace("kubectl", kubectl(), 1)))
            assert output.code == 0 and "my-run-1" in output.out, output
    assert world.posted_comments[-1].command.line == "herorun verify my-run"
