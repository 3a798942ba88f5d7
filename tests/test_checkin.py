"""Check-in in a real process: what it sees by itself, whom it refuses, and what it leaves
behind.
"""

import hashlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from core.triage.judged import judged_training
from herorun import receipt_file
from wording import mentions

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
        self.admission: dict[str, Any] = {
            "schema": 1,
            "instance": "tiny-1",
            "code": str(self.code),
            "output_root": str(self.root),
            "tracker_kind": "jsonl",
            "tracker_id": "tiny",
            "config": {"seed": 7},
            "files": {name: digest(self.code / name) for name in ("train.py", "model.py")},
        }

    def run(
        self, fields: dict[str, Any] | None = None, **env: str
    ) -> "subprocess.CompletedProcess[str]":
        admission = self.home / "admission.json"
        if not admission.exists():
            admission.write_text(json.dumps(self.admission))
        plain = {
            n: v
            for n, v in os.environ.items()
            if not n.startswith(("HERORUN_", "SLURM_", "WANDB_"))
        }
        argv = [sys.executable, str(self.code / "train.py"), json.dumps(fields or {})]
        env = {**plain, "HERORUN_ADMISSION": str(admission), **env}
        return subprocess.run(
            argv, env=env, cwd=self.home, capture_output=True, text=True, timeout=30
        )

    def item(self, name: str, fields: dict[str, Any] | None = None, **env: str) -> tuple[str, str]:
        receipt = receipt_of(self.run(fields, **env))
        return next((i["outcome"], i["message"]) for i in receipt["items"] if i["item"] == name)

    @property
    def receipts(self) -> list[str]:
        folder = self.root / "_herorun" / "receipts"
        return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


def digest(path: Path) -> str:
    return "sha256:" + hashlib.sha256(path.read_bytes()).hexdigest()


def receipt_of(process: "subprocess.CompletedProcess[str]") -> dict[str, Any]:
    lines = [line for line in process.stderr.splitlines() if line.startswith(LINE)]
    (line,) = lines  # a second copy would double the job's log
    receipt: dict[str, Any] = json.loads(line.removeprefix(LINE))
    return receipt


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def test_what_was_admitted_trains_and_leaves_a_receipt(world: World) -> None:
    process = world.run(
        {"config": {"seed": 7}, "output_root": str(world.root), "tracker_id": "tiny"}
    )

    assert (process.returncode, process.stdout) == (0, "trains\n"), process.stderr
    assert world.receipts == ["tiny-1.1.json"]


# --- the command line -----------------------------------------------------------------------------


def test_only_the_submitted_process_is_refused_for_its_command_line(world: World) -> None:
    world.admission["argv"] = ["python", "launcher.py"]

    assert world.run().returncode == 0
    assert world.run(HERORUN_MAIN_PID="1").returncode == 0


def test_the_submitted_process_is_refused_for_its_command_line(world: World) -> None:
    world.admission["argv"] = ["python", "other.py"]
    text = (
        "import os, sys; os.environ['HERORUN_MAIN_PID'] = str(os.getpid()); os.execv(sys.argv[1], "
        "sys.argv[1:])"
    )
    (world.home / "admission.json").write_text(json.dumps(world.admission))
    argv = [sys.executable, "-c", text, sys.executable, str(world.code / "train.py"), "{}"]
    env = {**os.environ, "HERORUN_ADMISSION": str(world.home / "admission.json")}

    assert subprocess.run(argv, env=env, capture_output=True, timeout=30).returncode == 78


# --- paths and identities -------------------------------------------------------------------------


@pytest.mark.parametrize("root", ["link", "link/", "root/", "./root", "root/../root"])
def test_another_way_to_the_output_root_is_the_same_root(world: World, root: str) -> None:
    (world.home / "link").symlink_to(world.root)

    assert world.item("output-root", {"output_root": root}) == ("pass", "as admitted")


def test_an_admitted_link_is_followed_too(world: World) -> None:
    (world.home / "link").symlink_to(world.root)
    world.admission["output_root"] = str(world.home / "link")

    assert world.item("output-root", {"output_root": str(world.root)})[0] == "pass"


def test_another_output_root_is_refused(world: World) -> None:
    (world.home / "other").mkdir()

    assert world.item("output-root", {"output_root": "other"}) == (
        "fail",
        f"is {world.home}/other, but {world.root} was admitted",
    )


def test_a_start_behind_a_link_is_the_same_start(world: World) -> None:
    (world.root / "step-2").mkdir()
    (world.home / "link").symlink_to(world.root)
    world.admission["start"] = str(world.root / "step-2")

    assert world.item("start", {"loaded": "link/step-2/"})[0] == "pass"
    assert world.item("start", {"loaded": "link/step-20"})[0] == "fail"


@pytest.mark.parametrize(
    ("variable", "outcome"),
    [("", "unknown"), (None, "unknown"), ("WANDB_RUN_ID", "fail"), ("THEIR_RUN", "unknown")],
)
def test_a_stray_run_id_counts_only_where_the_trackers_client_takes_it(
    world: World, variable: str | None, outcome: str
) -> None:
    """None: an admission by an earlier version, which does not name the variable."""
    world.admission["tracker_id_variable"] = variable

    assert world.item("tracker-id", WANDB_RUN_ID="stray")[0] == outcome
    assert world.item("tracker-id", {"tracker_id": "tiny"}, WANDB_RUN_ID="stray")[0] == "pass"


def test_the_run_id_is_read_from_the_variable_that_the_tracker_declares(world: World) -> None:
    world.admission["tracker_id_variable"] = "THEIR_RUN"

    assert world.item("tracker-id", THEIR_RUN="tiny")[0] == "pass"
    assert world.item("tracker-id", THEIR_RUN="stray")[0] == "fail"


# --- files that cannot be read --------------------------------------------------------------------


def test_a_missing_file_differs(world: World) -> None:
    (world.code / "model.py").unlink()

    assert world.item("code")[0] == "fail"


def test_a_file_that_cannot_be_read_is_unseen(world: World) -> None:
    """A link that leads to itself: an OSError, but not that there is no such file."""
    (world.code / "model.py").unlink()
    (world.code / "model.py").symlink_to("model.py")
    outcome, message = world.item("code")

    assert outcome == "unknown"
    assert mentions(message, "1 of", "2 files", "admitted") and "model.py: " in message


@pytest.mark.parametrize("content", [None, "{", "[]", '{"schema": 2}'])
def test_a_missing_or_broken_admission_is_refused_at_once(
    world: World, content: str | None
) -> None:
    admission = world.home / "there.json"
    if content is not None:
        admission.write_text(content)
    process = world.run(HERORUN_ADMISSION=str(admission))

    assert (process.returncode, str(admission) in process.stderr) == (78, True)


def test_an_admission_that_cannot_be_read_for_a_moment_is_tried_again(world: World) -> None:
    world.run()
    link, new = world.home / "link.json", world.home / "new.json"
    link.symlink_to(link)
    fix = (
        f"import os, time; time.sleep(0.5); os.symlink('admission.json', {str(new)!r}); "
        f"os.replace({str(new)!r}, {str(link)!r})"
    )
    with subprocess.Popen([sys.executable, "-c", fix]):
        process = world.run(HERORUN_ADMISSION=str(link))

    assert process.returncode == 0, process.stderr


def test_an_admission_that_stays_unreadable_is_refused_with_the_reason(world: World) -> None:
    link = world.home / "link.json"
    link.symlink_to(link)
    began = time.monotonic()
    process = world.run(HERORUN_ADMISSION=str(link))

    assert (process.returncode, "symbolic links" in process.stderr) == (78, True)
    assert 2 <= time.monotonic() - began < 30


# --- ranks ----------------------------------------------------------------------------------------


def test_a_rank_that_passes_leaves_nothing(world: World) -> None:
    process = world.run(RANK="3")

    assert (process.returncode, LINE in process.stderr, world.receipts) == (0, False, [])


def test_a_rank_that_refuses_leaves_its_own_receipt(world: World) -> None:
    assert world.run(RANK="0").returncode == 0
    process = world.run({"config": {"seed": 8}}, RANK="3")

    assert process.returncode == 78
    receipt = receipt_of(process)
    assert (receipt["rank"], receipt["outcome"], receipt["attempt"]) == (3, "fail", 1)
    assert world.receipts == ["tiny-1.1.json", "tiny-1.1.rank3.json"]


def test_a_refusal_is_of_the_newest_start(world: World) -> None:
    world.run(RANK="0")
    world.run(RANK="0")
    world.run({"config": {"seed": 8}}, RANK="3")

    assert world.receipts == ["tiny-1.1.json", "tiny-1.2.json", "tiny-1.2.rank3.json"]


def test_the_pods_of_a_job_set_are_its_ranks(world: World) -> None:
    """Kubernetes gives each pod its number and no rank, which is enough for JAX."""
    for index in ("0", "1"):
        assert world.run(JOB_COMPLETION_INDEX=index).returncode == 0
    assert world.receipts == ["tiny-1.1.json"]
    process = world.run({"config": {"seed": 8}}, JOB_COMPLETION_INDEX="2")

    receipt = receipt_of(process)
    assert (receipt["rank"], receipt["outcome"], receipt["attempt"]) == (2, "fail", 1)


def test_a_launcher_in_a_pod_decides_the_rank(world: World) -> None:
    assert receipt_of(world.run(JOB_COMPLETION_INDEX="1", RANK="0"))["rank"] == 0
    assert LINE not in world.run(JOB_COMPLETION_INDEX="0", RANK="3").stderr


def test_a_restart_by_the_launcher_is_another_attempt(world: World) -> None:
    assert receipt_of(world.run(TORCHELASTIC_RESTART_COUNT="2"))["attempt"] == 3


# --- file systems without hard links --------------------------------------------------------------


@pytest.mark.parametrize("number", ["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"])
def test_a_receipt_needs_no_hard_links(world: World, number: str) -> None:
    """The system's answer is made here: no such file system is at hand."""
    no_links = (
        f"import errno, os\ndef link(*_): raise OSError(errno.{number}, 'no')\nos.link = link\n"
    )
    (world.code / "train.py").write_text(no_links + SCRIPT)
    world.admission["files"] = {}
    for _ in range(2):
        assert world.run().returncode == 0

    assert world.receipts == ["tiny-1.1.json", "tiny-1.2.json"]
    assert json.loads((world.root / "_herorun/receipts/tiny-1.2.json").read_text())["attempt"] == 2


# --- a full disk ----------------------------------------------------------------------------------


def test_a_receipt_that_finds_no_room_leaves_nothing_and_is_no_cause_of_an_end(
    world: World,
) -> None:
    """What is left of it would lie there for good, and the job may end weeks later for any
    reason.
    """
    no_room = (
        "import errno, os\ndef fsync(_): raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))\n"
        "os.fsync = fsync\n"
    )
    (world.code / "train.py").write_text(no_room + SCRIPT)
    world.admission["files"] = {}
    process = world.run()

    assert process.returncode == 0
    assert mentions(process.stderr, "space", "device")
    assert list((world.root / "_herorun/receipts").iterdir()) == []
    assert judged_training(process.stderr).failure == "benign"


# --- other code than was admitted -----------------------------------------------------------------

USES_MODEL = (
    "import json, sys, herorun, model\nherorun.check_in(**json.loads(sys.argv[1]))\n"
    "print('trains')\n"
)


def with_model(world: World) -> Path:
    """The script imports the run's own module; a copy of it lies in a checkout outside the tree."""
    (world.code / "train.py").write_text(USES_MODEL)
    world.admission["files"] = {
        name: digest(world.code / name) for name in ("train.py", "model.py")
    }
    world.admission["roots"] = ["", "src"]
    checkout = world.home / "checkout"
    checkout.mkdir()
    (checkout / "model.py").write_bytes((world.code / "model.py").read_bytes())
    return checkout


def test_two_machines_with_one_process_number_write_two_receipts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in containers, where each main process is number 1: neither may write into the other's
    file.
    """
    target, real = str(tmp_path / "tiny-1.1.json"), os.link

    def elsewhere_meanwhile(source: str, goal: str) -> None:
        monkeypatch.setattr(os, "link", real)
        assert receipt_file.create_receipt(target, {"by": "the other"})
        real(source, goal)

    monkeypatch.setattr(os, "getpid", lambda: 1)
    monkeypatch.setattr(os, "link", elsewhere_meanwhile)
    assert not receipt_file.create_receipt(target, {"by": "this one"})
    assert json.loads(Path(target).read_text()) == {"by": "the other"}
    assert [path.name for path in tmp_path.iterdir()] == ["tiny-1.1.json"]


KILLED_PROGRAM = (
    "import os, sys; from herorun import receipt_file; "
    "os.link = lambda *_: os.kill(os.getpid(), 9); "
    "receipt_file.create_receipt(sys.argv[1], {})"
)


def test_what_a_killed_check_in_had_begun_to_write_the_next_one_removes(world: World) -> None:
    folder = world.root / "_herorun" / "receipts"
    folder.mkdir(parents=True)
    for rank in ("", ".rank3"):
        killed_argv = [sys.executable, "-c", KILLED_PROGRAM, str(folder / f"tiny-1.1{rank}.json")]
        assert subprocess.run(killed_argv, timeout=30, check=False).returncode == -9
    others = ["notes.json.new", "tiny-1.1.json.12-mine.new", "tiny-0.1.json"]
    for name in others:
        (folder / name).touch()
    names = set(world.receipts)
    assert len(names) == 5
    long_ago = time.time() - 700
    world.run()
    assert set(world.receipts) == {*names, "tiny-1.1.json"}  # one that may be under way stays
    for path in folder.iterdir():
        os.utime(path, (long_ago, long_ago))
    world.run()
    assert world.receipts == sorted([*others, "tiny-1.1.json", "tiny-1.2.json"])


def test_modules_of_the_admitted_tree_are_admitted(world: World) -> None:
    with_model(world)

    outcome, message = world.item("modules")
    assert outcome == "pass" and mentions(message, "2")


def test_a_module_from_the_users_checkout_is_refused_though_its_text_is_the_same(
    world: World,
) -> None:
    """As PYTHONPATH, or an editable install's .pth file, brings it before the tree's own."""
    checkout = with_model(world)
    first = f"import sys; sys.path.insert(0, {str(checkout)!r})\n"
    (world.code / "train.py").write_text(first + USES_MODEL)
    world.admission["files"] = {
        name: digest(world.code / name) for name in ("train.py", "model.py")
    }
    process = world.run()

    assert process.returncode == 78
    assert mentions(process.stderr, "modules", "imported", f"{world.code}")
    assert f"model from {checkout}/model.py" in process.stderr


def test_a_tree_behind_a_link_is_the_same_tree(world: World) -> None:
    with_model(world)
    (world.home / "link").symlink_to(world.code)
    world.admission["code"] = str(world.home / "link")

    assert world.item("modules")[0] == "pass"


def test_a_tree_that_a_cluster_unpacked_elsewhere_is_found_where_it_says(world: World) -> None:
    with_model(world)
    world.admission["code"] = "/where/it/was/packed"

    assert world.item("modules", HERORUN_CODE=str(world.code))[0] == "pass"
    assert world.item("code", HERORUN_CODE=str(world.code))[0] == "pass"
    (world.code / "model.py").write_text("x = 2\n")
    assert world.item("code", HERORUN_CODE=str(world.code))[0] == "fail"


def test_pythons_own_modules_are_never_the_runs_own(world: World) -> None:
    """A `src/types.py` that is imported as `src.types` does not make `types` the run's."""
    with_model(world)
    (world.code / "src").mkdir()
    (world.code / "src" / "json.py").write_text("")
    world.admission["files"]["src/json.py"] = digest(world.code / "src" / "json.py")

    outcome, message = world.item("modules")
    assert outcome == "pass" and mentions(message, "2")


def test_a_package_of_another_name_may_come_from_anywhere(world: World) -> None:
    checkout = with_model(world)
    (checkout / "other.py").write_text("")
    (world.code / "train.py").write_text(USES_MODEL.replace("model", "other"))
    world.admission["files"] = {
        name: digest(world.code / name) for name in ("train.py", "model.py")
    }

    assert world.item("modules", PYTHONPATH=f"{checkout}:{':'.join(sys.path)}")[0] == "pass"


def test_admitted_packages_are_compared_with_the_installed_ones(world: World) -> None:
    world.admission["packages"] = {"pytest": pytest.__version__}
    assert world.item("packages") == ("pass", "1 as admitted")

    (world.home / "admission.json").unlink()
    world.admission["packages"] = {"pytest": "0.0.1", "there-is-no-such-package": "1"}
    outcome, message = world.item("packages")
    assert outcome == "fail"
    assert f"pytest is {pytest.__version__}, but 0.0.1 was admitted" in message
    assert mentions(message, "there-is-no-such-package", "installed", "1")


@pytest.mark.parametrize("rank", [0, 1, 7])
@pytest.mark.parametrize("item", ["code", "resolved-config", "output-root", "tracker-id", "start"])
def test_every_rank_refuses_every_difference(world: World, item: str, rank: int) -> None:
    fields = {
        "resolved-config": {"config": {"seed": 8}},
        "output-root": {"output_root": "/elsewhere"},
        "tracker-id": {"tracker_id": "other"},
        "start": {"loaded": "/elsewhere/step-2"},
    }
    if item == "code":
        world.run()
        (world.code / "model.py").write_text("x = 2\n")
    process = world.run(fields.get(item), RANK=str(rank))

    assert (process.returncode, process.stdout) == (78, "")
    receipt = receipt_of(process)
    assert receipt["rank"] == rank
    assert [i["item"] for i in receipt["items"] if i["outcome"] == "fail"] == [item]
