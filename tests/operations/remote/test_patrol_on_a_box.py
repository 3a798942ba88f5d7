"""A patrol, a sentinel and a chain on a real box: its link is really cut, and what is not ours
there is left alone.
"""

import re
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from commands.answers import Answer, ask
from services.boxes import Box
from stories import SLUG, WAIT, Story, contract_of, eventually
from wording import mentions

pytestmark = pytest.mark.back_end

CAPTURE = pytest.CaptureFixture[str]
# Answers as nvidia-smi does, from a file that the test writes: hardly any box has a GPU.
NVIDIA_SMI = '#!/bin/sh\n[ "$2" = "--format=csv,noheader,nounits" ] && cat "$(dirname "$0")/gpus"\n'


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture
def data(box: Box, home: Path) -> Iterator[str]:
    """A folder on the box; what still runs there is ended."""
    folder = f"{box.home}/{home.name}"
    box.ssh(f"mkdir -p {folder}/orders")
    yield folder
    box.fix()
    names = f"sed -n 's/.*\"pid\": \\([0-9]*\\).*/\\1/p' {folder}/jobs/*/started.json 2>/dev/null"
    box.ssh(f"for pid in $({names}); do kill -9 -$pid 2>/dev/null; done", check=False)
    box.ssh(f"tmux -L {home.name} kill-server 2>/dev/null; rm -rf {folder}", check=False)


@pytest.fixture
def box_story(home: Path, box: Box, data: str) -> Story:
    """A world whose contract names the box, and a patrol that looks at more than the job."""
    return Story(home).begin(**tables(box, data))


def tables(
    box: Box, data: str, patrol: dict[str, Any] | None = None, **more: Any
) -> dict[str, Any]:
    contract = contract_of(Path(data))
    scheduler = {
        "kind": "ssh",
        "host": box.name,
        "ssh_config": str(box.config),
        "folder": f"{data}/jobs",
        "settle": "20s",
        "grace": "200ms",
        "connect_timeout": "2s",
        "timeout": "6s",
    }
    polled_at = {
        "gpu_sample_seconds": 0.2,
        "markers": [f"{data}/DONE"],
        "results": [f"{data}/results.csv"],
        **(patrol or {}),
    }
    jobs = {name: contract[name] for name in ("command", "output")}
    return {**jobs, "scheduler": scheduler, "patrol": polled_at, **more}


OTHERS = ("neighbour", "threads", "unmonitored")  # no babysitter runs in these stories


def states(answer: Answer) -> tuple[int, str, list[str]]:
    """But for how busy the box is, which is as it is."""
    document = answer.document
    return (
        answer.code,
        document["state"],
        [each["row"] for each in document["advice"] if each["row"] not in OTHERS],
    )


def look(box_story: Story, capsys: CAPTURE) -> Answer:
    return ask(box_story, capsys, "patrol", SLUG, "--json")


def connections(box: Box) -> int:
    return (box.folder / "log").read_text(errors="replace").count("Accepted publickey")


def test_a_cut_link_ends_the_tick_in_time_as_unknown_and_the_next_one_is_whole(
    box_story: Story, box: Box, data: str, capsys: CAPTURE
) -> None:
    box.ssh(f"echo {shlex.quote(WAIT)} > {data}/orders/tiny-1")
    assert box_story.init() == 0 and box_story.launch() == 0
    eventually(lambda: box.ssh(f"ls {data}/tiny/step-2/metadata.json", check=False).returncode == 0)
    before = connections(box)
    whole = look(box_story, capsys)
    assert states(whole) == (0, "running", [])
    # one combined look; a second only where a thread came late
    assert connections(box) - before <= 2
    assert whole.document["observation"]["disks"][f"{data}/tiny"]["inodes"] > 0

    box.cut()
    began = time.monotonic()
    cut = look(box_story, capsys)
    assert time.monotonic() - began < 60
    assert states(cut) == (3, "unknown", ["unreachable"])
    assert "console" in cut.document["advice"][0]["message"] and "down" not in cut.document["line"]
    sentinel = (
        "await",
        SLUG,
        "--marker",
        f"{data}/tiny/step-2/metadata.json",
        "--every",
        "1s",
        "--max",
        "1",
    )
    assert ask(box_story, capsys, *sentinel).code == 3
    box.fix()
    assert ask(box_story, capsys, *sentinel).code == 0

    again = look(box_story, capsys)
    assert states(again) == (0, "running", [])
    assert mentions(again.document["line"], "changed", "since")
    assert box.ssh(f"cat {data}/started").stdout == "tiny-1 scratch\n"


def test_a_job_of_somebody_elses_session_is_watched_to_its_marker(
    box_story: Story, box: Box, data: str, home: Path, capsys: CAPTURE
) -> None:
    """Nothing here was started by herorun. The tmux server keeps the job's words in its own command
    line forever.
    """
    patrol = {
        "session": "train",
        "socket": home.name,
        "process": "train_me[.]sh",
        "log": f"{data}/run.log",
        "success_pattern": "Training completed",
    }
    box_story.sign(**tables(box, data, patrol))
    box.ssh(
        f"mkfifo {data}/go; printf 'echo Epoch 3 loss 2; read x < {data}/go; echo Training "
        f"completed\\n' > {data}/train_me.sh"
    )
    start = f"sh {data}/train_me.sh >> {data}/run.log 2>&1"
    box.ssh(
        f"tmux -L {home.name} new-session -d -s train {shlex.quote(start)} \\; new-session -d -s "
        "other 'sleep 600'"
    )
    eventually(lambda: "Epoch" in box.ssh(f"cat {data}/run.log", check=False).stdout)
    alive = look(box_story, capsys)
    assert states(alive) == (0, "running", []), alive.document
    assert "Epoch 3 loss 2" in alive.document["line"]

    box.ssh(f"echo > {data}/go")
    eventually(
        lambda: box.ssh(f"tmux -L {home.name} has-session -t =train", check=False).returncode != 0
    )
    assert "train_me.sh" in box.ssh("ps -eo args").stdout  # the server's own command line
    answer_before = look(
        box_story, capsys
    )  # its log has the words: there is nothing to train again
    assert states(answer_before) == (1, "down", ["unfinished"]), answer_before.document

    box.ssh(f"touch {data}/DONE; echo 'accuracy,0.71' > {data}/results.csv")
    answer_after = look(box_story, capsys)
    assert states(answer_after) == (0, "done", ["result", "done"])
    assert answer_after.document["advice"][0]["message"].endswith("results.csv:\naccuracy,0.71")


def test_gpus_are_sampled_and_a_folder_is_no_marker(
    box_story: Story, box: Box, data: str, home: Path, capsys: CAPTURE
) -> None:
    box_story.sign(
        **tables(box, data, {"session": "train", "socket": home.name, "log": f"{data}/run.log"})
    )
    box.ssh(
        f"tmux -L {home.name} new-session -d -s train 'sleep 600'; echo step 7 > {data}/run.log; "
        f"mkdir {data}/DONE"
    )
    smi = f"{box.programs}/nvidia-smi"
    try:
        box.ssh(
            f"mkdir {box.programs}; printf %s {shlex.quote(NVIDIA_SMI)} > {smi}; chmod +x {smi}; "
            f"echo '0, 0, 900, 81559' > {box.programs}/gpus"
        )
        assert box.ssh("command -v nvidia-smi").stdout == f"{smi}\n"
        told_of = look(box_story, capsys)
    finally:
        box.ssh(f"rm -r {box.programs}")
    assert states(told_of) == (0, "running", ["data-bound"]), told_of.document
    assert "1 GPU 0% busy" in told_of.document["line"]
    assert mentions(told_of.document["observation"]["markers"][f"{data}/DONE"]["why"], "folder")


def test_the_chain_runs_on_the_box_and_continues_after_a_failing_stage(
    box_story: Story, box: Box, data: str, home: Path, capsys: CAPTURE
) -> None:
    """Brought there by the very command that is printed; the connection that started it is long
    gone.
    """
    folder = f"{data}/the chain"
    stages = [
        {"name": "eval", "run": f"test -e {data}/weights; echo 'acc,0.5' > {data}/results.csv"}
    ]
    chain = {
        "folder": folder,
        "after": f"{data}/go",
        "every": "1s",
        "stage": stages,
        "notify_command": f'echo "$HERORUN_SAYS" >> {data}/pushed',
    }
    box_story.sign(
        **tables(box, data, {"session": "train", "socket": home.name, "markers": []}, chain=chain)
    )
    command = re.search(r"^ *(herorun -C .*)", ask(box_story, capsys, "chain", SLUG).err, re.M)
    assert command is not None
    start = command[1]
    start = start.replace("herorun -C", f"{shlex.quote(sys.executable)} -m herorun -C", 1)

    def chain_starts() -> None:
        process = subprocess.run(
            ["bash", "-o", "pipefail", "-c", start], check=False, timeout=60, capture_output=True
        )
        assert process.returncode == 0, process.stderr

    chain_starts()
    dead = look(box_story, capsys)  # the job is gone, and a chain that waits for it proves nothing
    assert states(dead)[:2] == (1, "down"), dead.document
    assert mentions(dead.document["line"], "job gone", "chain waiting")
    box.ssh(f"touch {data}/go")
    eventually(lambda: box.ssh(f"cat {data}/pushed", check=False).stdout != "")
    failed_answer = look(box_story, capsys)
    assert states(failed_answer) == (1, "down", ["chain-failed"]), (
        failed_answer.document
    )  # train nothing again
    assert box.ssh(f"ls {shlex.quote(folder)}/eval.DONE", check=False).returncode

    box.ssh(f"touch {data}/weights; rm {data}/pushed")
    chain_starts()
    eventually(lambda: "exit code 0" in box.ssh(f"cat {data}/pushed", check=False).stdout)
    answer = look(box_story, capsys)
    assert states(answer) == (0, "done", ["result", "done"]), answer.document
