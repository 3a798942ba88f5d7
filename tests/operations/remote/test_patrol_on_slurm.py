"""A patrol of a Slurm job that nobody launched by herorun, looked at from another machine: its sign
of life is Slurm's queue.
"""

import os
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import tomli_w

from commands.answers import Answer, ask
from services.boxes import Box
from services.slurm import Cluster
from stories import SLUG, Story, eventually
from wording import mentions

pytestmark = pytest.mark.back_end

CAPTURE = pytest.CaptureFixture[str]


@dataclass(frozen=True)
class Queue:
    """Jobs submitted by hand, and the contract that names one of them."""

    story: Story
    cluster: Cluster
    node: Box
    path: Path

    def submit(self, words: str, *more: str) -> str:
        script = self.path / "job.sh"
        script.write_text(f"#!/bin/sh\n{words}\n")
        out = str(self.path / "run.log")
        number = self.cluster.ask(
            "sbatch", "--parsable", f"--chdir={self.path}", f"--output={out}", *more, str(script)
        )
        self.watch(number)
        return number

    def watch(self, number: str) -> None:
        scheduler = {
            "kind": "slurm",
            "host": self.node.name,
            "ssh_config": str(self.node.config),
            "slurm_conf": self.cluster.conf,
        }
        patrol = {
            "job": number,
            "log": str(self.path / "run.log"),
            "resume_command": "sh resume.sh",
        }
        path = self.story.work / "runs" / "tiny.toml"
        contract = tomllib.loads(path.read_text())
        path.write_text(tomli_w.dumps({**contract, "scheduler": scheduler, "patrol": patrol}))

    def wait_for_end(self, number: str) -> None:
        """Slurm calls a job over before its queue has let it go."""
        eventually(
            lambda: self.cluster.ask("squeue", "-h", "-j", number, check=False) == "", within=120
        )
        words = "sacct", "-X", "-n", "-P", "-j", number, "--format=End"
        eventually(lambda: self.cluster.ask(*words, check=False).isdigit(), within=120)


@pytest.fixture
def queue(story: Story, cluster: Cluster, login_node: Box) -> Iterator[Queue]:
    path = story.data / "by hand"
    path.mkdir()
    queue = Queue(story, cluster, login_node, path)
    yield queue
    mine = cluster.ask("squeue", "-h", "-o", "%i %Z").splitlines()
    for number, _, folder in (line.partition(" ") for line in mine):
        if folder == str(path):
            cluster.ask("scancel", number, check=False)


def look(queue: Queue, capsys: CAPTURE) -> Answer:
    return ask(queue.story, capsys, "patrol", SLUG, "--json")


OTHERS = ("neighbour", "threads", "unmonitored")  # no babysitter runs in these stories


def states(answer: Answer) -> tuple[int, str, list[str]]:
    document = answer.document
    return (
        answer.code,
        document["state"],
        [each["row"] for each in document["advice"] if each["row"] not in OTHERS],
    )


def test_it_runs_while_it_is_in_the_queue_and_then_its_accounts_say_how_it_ended(
    queue: Queue, capsys: CAPTURE
) -> None:
    waits = "until [ -e go ]; do sleep 0.1; done"
    number = queue.submit(f"echo step 7/20; {waits}; echo Training completed")
    log = queue.path / "run.log"
    eventually(lambda: log.exists() and "step 7" in log.read_text(), within=120)
    alive = look(queue, capsys)
    assert states(alive) == (0, "running", []), alive.document
    assert "step 7/20" in alive.document["line"]

    (queue.path / "go").touch()
    queue.wait_for_end(number)
    answer = look(queue, capsys)
    assert states(answer) == (0, "done", ["done"]), answer.document
    assert mentions(answer.document["line"], "succeeded")


def test_one_that_waits_is_alive_and_one_that_failed_is_down_with_its_exit_code(
    queue: Queue, capsys: CAPTURE
) -> None:
    number = queue.submit("echo step 9/20; exit 3", "--hold")
    waiting = look(queue, capsys)
    assert states(waiting) == (0, "running", []), waiting.document
    queue.cluster.ask("scontrol", "release", number)
    queue.wait_for_end(number)
    answer = look(queue, capsys)
    assert states(answer) == (1, "down", ["gone"]), answer.document
    (advice,) = [each for each in answer.document["advice"] if each["row"] == "gone"]
    assert (
        mentions(answer.document["line"], "failed", "exit code 3")
        and advice["command"] == "sh resume.sh"
    )


@pytest.mark.thorough
def test_its_chain_is_a_job_of_its_own_behind_it(queue: Queue, capsys: CAPTURE) -> None:
    queue.submit("until [ -e go ]; do sleep 0.1; done")
    path = queue.story.work / "runs" / "tiny.toml"
    marker = queue.path / "chain" / "eval.DONE"
    chain = {"folder": str(marker.parent), "stage": [{"name": "eval", "run": "echo 42 > result"}]}
    path.write_text(tomli_w.dumps({**tomllib.loads(path.read_text()), "chain": chain}))
    answer = ask(queue.story, capsys, "chain", SLUG)
    lines = answer.err.splitlines()
    (at,) = [number for number, line in enumerate(lines) if "as a job of its own" in line]
    process = subprocess.run(
        ["sh", "-c", lines[at + 1]],
        capture_output=True,
        text=True,
        env={**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"},
        check=True,
    )
    assert mentions(process.stdout, "Submitted", "batch")
    assert not marker.exists()
    (queue.path / "go").touch()
    eventually(marker.exists, within=120)
    assert (marker.parent / "result").read_text() == "42\n"


def test_a_number_that_slurm_never_gave_is_unknown_and_not_down(
    queue: Queue, capsys: CAPTURE
) -> None:
    queue.watch("99999999")
    never = look(queue, capsys)
    assert states(never) == (3, "unknown", []), never.document
    assert mentions(never.document["line"], "lists", "no", "id")
