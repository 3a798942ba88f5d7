"""A run on a real API server under faults: the server refuses, is silent, cuts answers short or
loses them, the node falls silent, a pod is killed.

What could not be read is neither healthy nor ended and starts nothing, and each instance is one
Job.
"""

import json
import os
import random
import signal
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
import tomli_w

from commands.answers import Answer, ask
from herorun.core.ports import Unknown
from ports.scheduler_suite import long_ago
from schedulers.kubernetes_rig import contract_table
from services.k8s import Space
from services.k8s_proxy import FAULTS, Proxy
from stories import WAIT, Story, eventually

pytestmark = [pytest.mark.thorough, pytest.mark.back_end]

CAPTURE = pytest.CaptureFixture[str]
PID = 'echo $$ > "$data/pid-$HERORUN_INSTANCE"'
CADENCE = "20s"  # and so long a relaunch that was refused is not tried again
SEEDS = [int(seed) for seed in os.environ.get("HERORUN_WEEK_SEEDS", "1").split(",")]


@pytest.fixture
def proxy(space: Space) -> Iterator[Proxy]:
    kubernetes_proxy = Proxy(space.control)
    yield kubernetes_proxy
    kubernetes_proxy.stop()


@pytest.fixture
def on_k8s(home: Path, space: Space, proxy: Proxy) -> Story:
    story = Story(home).begin()
    path = story.work / "runs" / "tiny.toml"
    config = space.control.kubeconfig(server=proxy.url)
    table = contract_table(space, kubeconfig=config, timeout="20s")
    contract = tomllib.loads(path.read_text())
    babysit = {**contract.get("babysit", {}), "cadence": CADENCE}
    path.write_text(tomli_w.dumps({**contract, "scheduler": table, "babysit": babysit}))
    story.publish()
    return story


def tick(story: Story, capsys: CAPTURE) -> Answer:
    return ask(story, capsys, "babysit", "tiny", "--once", "--json")


def is_unknown_and_nothing_is_done(story: Story, space: Space, capsys: CAPTURE) -> None:
    jobs, starts = len(space.jobs()), list(story.starts)
    answer = tick(story, capsys)
    assert answer.code == 3 and answer.document["run"] == "unknown", answer
    assert {each["action"] for each in answer.document["actions"]} <= {"tell", "escalate"}
    assert (len(space.jobs()), story.starts) == (jobs, starts)


def set_node(space: Space, ready: str) -> None:
    """As a node's controller does, with the pods on it."""
    space.node.set_ready(space.node.name, ready)
    for pod in space.control.pods(space.name):
        if pod["status"].get("phase") == "Running":
            conditions = [{"type": "Ready", "status": "True" if ready == "True" else "False"}]
            name = pod["metadata"]["name"]
            space.control.set_pod(space.name, name, conditions=conditions)
    if ready == "True":
        path = f"/api/v1/nodes/{space.node.name}"
        eventually(lambda: not space.control.ask("GET", path)["spec"].get("taints"), within=120)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_cluster_that_fails_makes_nothing_healthy_and_starts_nothing_twice(
    seed: int, on_k8s: Story, space: Space, proxy: Proxy, capsys: CAPTURE
) -> None:
    story, order = on_k8s, random.Random(seed)
    for number in range(1, 6):
        story.order(f"tiny-{number}", f"{PID}; {WAIT}")
    assert story.init() == 0
    proxy.fault = "lost-answers"  # also of the launch itself
    story.launch()
    proxy.fault = ""
    if not space.jobs():
        pytest.fail(capsys.readouterr().out[-3000:])
    eventually(lambda: (story.data / "pid-tiny-1").exists(), within=120)
    assert tick(story, capsys).document["run"] == "healthy"

    faults = [*FAULTS, "silent node"]
    for fault in order.sample(faults, len(faults)):
        if fault == "silent node":
            set_node(space, "Unknown")
        else:
            proxy.fault = fault
        is_unknown_and_nothing_is_done(story, space, capsys)
        proxy.fault = ""
        if fault == "silent node":
            set_node(space, "True")
        answer = tick(story, capsys)
        assert (answer.code, answer.document["run"]) == (0, "healthy"), (fault, answer)

    proxy.fault = "silent"
    answer = story.run.scheduler.find("tiny-1", long_ago())
    assert isinstance(answer, Unknown), answer
    proxy.fault = ""

    os.kill(int((story.data / "pid-tiny-1").read_text()), signal.SIGKILL)
    eventually(lambda: space.jobs()[0]["status"].get("conditions"), within=120)
    for fault in order.sample(FAULTS, 1):
        proxy.fault = fault
        is_unknown_and_nothing_is_done(story, space, capsys)
    proxy.fault = "refused-writes"
    tick(story, capsys)
    assert len(space.jobs()) == 1
    proxy.fault = order.choice(("lost-answers", ""))
    tick(story, capsys)
    proxy.fault = ""
    until = time.monotonic() + 90
    while len(story.starts) < 2:
        answer = tick(story, capsys)
        assert time.monotonic() < until, answer
    first, second = (each["metadata"]["name"] for each in space.jobs())
    assert first == "tiny-1"  # the name of a refused launch is not used again
    assert story.starts == ["tiny-1 scratch", f"{second} {story.root / 'step-2'}"]
    (story.data / "go").touch()
    eventually(lambda: space.jobs()[1]["status"].get("conditions"), within=120)
    tick(story, capsys)
    assert json.loads(tick(story, capsys).out)["run"] == "finished"
    assert len(space.jobs()) == 2
