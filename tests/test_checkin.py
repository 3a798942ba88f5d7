"""Check-in in a real process: what it sees by itself, whom it refuses, and what it leaves behind."""

import hashlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

SCRIPT = "import json, sys, herorun\nherorun.check_in(**json.loads(sys.argv[1]))\nprint('trains')\n"
LINE = "HERORUN_RECEIPT "


class World:
    """An admission of one script, and the process that checks in."""

    def __init__(self, home: Path) -> None:
        self.home, self.root, self.code = home, home / "root", home / "code"
        self.code.mkdir()
        self.root.mkdir()
        (self.code / "train.py").write_text(SCRIPT)
        (self.code / "model.py").write_text("x = 1\n")
        self.admitted: dict[str, Any] = {
            "schema": 1,
            "instance": "tiny-1",
            "code": str(self.code),
            "output_root": str(self.root),
            "tracker_kind": "jsonl",
            "tracker_id": "tiny",
            "config": {"seed": 7},
            "files": {name: digest(self.code / name) for name in ("train.py", "model.py")},
        }

    def run(self, said: dict[str, Any] | None = None, **env: str) -> "subprocess.CompletedProcess[str]":
        admission = self.home / "admission.json"
        if not admission.exists():
            admission.write_text(json.dumps(self.admitted))
        plain = {n: v for n, v in os.environ.items() if not n.startswith(("HERORUN_", "SLURM_", "WANDB_"))}
        argv = [sys.executable, str(self.code / "train.py"), json.dumps(said or {})]
        env = {**plain, "HERORUN_ADMISSION": str(admission), **env}
        return subprocess.run(argv, env=env, cwd=self.home, capture_output=True, text=True, timeout=30)

    def item(self, name: str, said: dict[str, Any] | None = None, **env: str) -> tuple[str, str]:
        receipt = receipt_of(self.run(said, **env))
        return next((i["outcome"], i["message"]) for i in receipt["items"] if i["item"] == name)

    @property
    def receipts(self) -> list[str]:
        folder = self.root / "_herorun" / "receipts"
        return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


def digest(path: Path) -> str:
    return "sha256:" + hashlib.sha256(path.read_bytes()).hexdigest()


def receipt_of(done: "subprocess.CompletedProcess[str]") -> dict[str, Any]:
    lines = [line for line in done.stderr.splitlines() if line.startswith(LINE)]
    receipt: dict[str, Any] = json.loads(lines[0].removeprefix(LINE))
    return receipt


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def test_what_was_admitted_trains_and_leaves_a_receipt(world: World) -> None:
    done = world.run({"config": {"seed": 7}, "output_root": str(world.root), "tracker_id": "tiny"})

    assert (done.returncode, done.stdout) == (0, "trains\n"), done.stderr
    assert world.receipts == ["tiny-1.1.json"]


# --- the command line --------------------------------------------------------------------------------


def test_only_the_submitted_process_is_refused_for_its_command_line(world: World) -> None:
    world.admitted["argv"] = ["python", "launcher.py"]

    assert world.run().returncode == 0
    assert world.run(HERORUN_MAIN_PID="1").returncode == 0


def test_the_submitted_process_is_refused_for_its_command_line(world: World) -> None:
    world.admitted["argv"] = ["python", "other.py"]
    told = "import os, sys; os.environ['HERORUN_MAIN_PID'] = str(os.getpid()); os.execv(sys.argv[1], sys.argv[1:])"
    (world.home / "admission.json").write_text(json.dumps(world.admitted))
    argv = [sys.executable, "-c", told, sys.executable, str(world.code / "train.py"), "{}"]
    env = {**os.environ, "HERORUN_ADMISSION": str(world.home / "admission.json")}

    assert subprocess.run(argv, env=env, capture_output=True, timeout=30).returncode == 78


# --- paths and identities ------------------------------------------------------------------------------


@pytest.mark.parametrize("root", ["link", "link/", "root/", "./root", "root/../root"])
def test_another_way_to_the_output_root_is_the_same_root(world: World, root: str) -> None:
    (world.home / "link").symlink_to(world.root)

    assert world.item("output-root", {"output_root": root}) == ("pass", "as admitted")


def test_an_admitted_link_is_followed_too(world: World) -> None:
    (world.home / "link").symlink_to(world.root)
    world.admitted["output_root"] = str(world.home / "link")

    assert world.item("output-root", {"output_root": str(world.root)})[0] == "pass"


def test_another_output_root_is_refused(world: World) -> None:
    (world.home / "other").mkdir()

    assert world.item("output-root", {"output_root": "other"}) == (
        "fail",
        f"is {world.home}/other, admitted {world.root}",
    )


def test_a_start_behind_a_link_is_the_same_start(world: World) -> None:
    (world.root / "step-2").mkdir()
    (world.home / "link").symlink_to(world.root)
    world.admitted["start"] = str(world.root / "step-2")

    assert world.item("start", {"loaded": "link/step-2/"})[0] == "pass"
    assert world.item("start", {"loaded": "link/step-20"})[0] == "fail"


@pytest.mark.parametrize(
    ("kind", "outcome"), [("jsonl", "unknown"), ("wandb", "fail"), ("wandb_offline", "fail")]
)
def test_a_stray_run_id_counts_only_where_the_run_reports_to_wandb(
    world: World, kind: str, outcome: str
) -> None:
    world.admitted["tracker_kind"] = kind

    assert world.item("tracker-id", WANDB_RUN_ID="stray")[0] == outcome
    assert world.item("tracker-id", {"tracker_id": "tiny"}, WANDB_RUN_ID="stray")[0] == "pass"


# --- files that cannot be read -------------------------------------------------------------------------


def test_a_missing_file_differs(world: World) -> None:
    (world.code / "model.py").unlink()

    assert world.item("code")[0] == "fail"


def test_a_file_that_cannot_be_read_is_unseen(world: World) -> None:
    """A link that leads to itself: an OSError, but not that there is no such file."""
    (world.code / "model.py").unlink()
    (world.code / "model.py").symlink_to("model.py")
    outcome, message = world.item("code")

    assert outcome == "unknown"
    assert message.startswith("1 of 2 files as admitted") and "model.py: " in message


@pytest.mark.parametrize("content", [None, "{", "[]", '{"schema": 2}'])
def test_a_missing_or_broken_admission_is_refused_at_once(world: World, content: str | None) -> None:
    admission = world.home / "there.json"
    if content is not None:
        admission.write_text(content)
    done = world.run(HERORUN_ADMISSION=str(admission))

    assert (done.returncode, str(admission) in done.stderr) == (78, True)


def test_an_admission_that_cannot_be_read_for_a_moment_is_tried_again(world: World) -> None:
    world.run()
    link = world.home / "link.json"
    link.symlink_to(link)
    mend = f"import os, time; time.sleep(0.5); os.unlink({str(link)!r}); os.symlink('admission.json', {str(link)!r})"
    with subprocess.Popen([sys.executable, "-c", mend]):
        done = world.run(HERORUN_ADMISSION=str(link))

    assert done.returncode == 0, done.stderr


def test_an_admission_that_stays_unreadable_is_refused_with_the_reason(world: World) -> None:
    link = world.home / "link.json"
    link.symlink_to(link)
    began = time.monotonic()
    done = world.run(HERORUN_ADMISSION=str(link))

    assert (done.returncode, "symbolic links" in done.stderr) == (78, True)
    assert 2 <= time.monotonic() - began < 5


# --- ranks -----------------------------------------------------------------------------------------------


def test_a_rank_that_passes_leaves_nothing(world: World) -> None:
    done = world.run(RANK="3")

    assert (done.returncode, LINE in done.stderr, world.receipts) == (0, False, [])


def test_a_rank_that_refuses_leaves_its_own_receipt(world: World) -> None:
    assert world.run(RANK="0").returncode == 0
    done = world.run({"config": {"seed": 8}}, RANK="3")

    assert done.returncode == 78
    receipt = receipt_of(done)
    assert (receipt["rank"], receipt["outcome"], receipt["attempt"]) == (3, "fail", 1)
    assert world.receipts == ["tiny-1.1.json", "tiny-1.1.rank3.json"]


def test_a_refusal_is_of_the_newest_start(world: World) -> None:
    world.run(RANK="0")
    world.run(RANK="0")
    world.run({"config": {"seed": 8}}, RANK="3")

    assert world.receipts == ["tiny-1.1.json", "tiny-1.2.json", "tiny-1.2.rank3.json"]


def test_a_restart_by_the_launcher_is_another_attempt(world: World) -> None:
    assert receipt_of(world.run(TORCHELASTIC_RESTART_COUNT="2"))["attempt"] == 3


# --- file systems without hard links -----------------------------------------------------------------------


@pytest.mark.parametrize("number", ["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"])
def test_a_receipt_needs_no_hard_links(world: World, number: str) -> None:
    """The system's answer is made here: no such file system is at hand."""
    no_links = f"import errno, os\ndef link(*_): raise OSError(errno.{number}, 'no')\nos.link = link\n"
    (world.code / "train.py").write_text(no_links + SCRIPT)
    world.admitted["files"] = {}
    for _ in range(2):
        assert world.run().returncode == 0

    assert world.receipts == ["tiny-1.1.json", "tiny-1.2.json"]
    assert json.loads((world.root / "_herorun/receipts/tiny-1.2.json").read_text())["attempt"] == 2
