"""A full disk stops nothing that it need not: on a real small file system, where we may mount
one.
"""

import contextlib
import errno
import os
import shutil
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from builders import NOON
from crash.world import small_disk
from herorun.core.errors import HerorunError
from herorun.core.health.disk_forecast import RESERVE
from herorun.schedulers import _start
from herorun.schedulers._start import order_of
from herorun.system import disk_reserve
from herorun.system.files import write_atomic
from herorun.system.git.plumbing import commit_files
from stories import CRASH, Story, eventually, note
from wording import mentions

pytestmark = pytest.mark.thorough
CAPTURE = pytest.CaptureFixture[str]


def fill(folder: Path) -> Path:
    """To the last byte."""
    path = folder / ".fill"
    with path.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        for size in (1 << 16, 1 << 9):
            with contextlib.suppress(OSError):
                while True:
                    file.write(b"\0" * size)
    return path


def files_named(folder: Path, *beginnings: str) -> list[str]:
    return [path.name for path in folder.rglob("*") if path.name.startswith(beginnings)]


def test_a_crash_on_a_full_state_folder_is_recorded_told_and_relaunched(
    story: Story, capsys: CAPTURE
) -> None:
    with small_disk(story.work / ".herorun", "64m") as state:
        story.run_first_job(CRASH)
        assert (state / "reserve").stat().st_size == RESERVE
        filling = fill(state)
        capsys.readouterr()
        story.tick()
        output = capsys.readouterr().out
        assert mentions(output, "evidence", "replayed")
        alerts = {alert.check for alert in story.events("Decided")[-1].alerts if alert.firing}
        assert {"full-disk", "filling-disk", "crashed"} <= alerts
        assert not [key for key in story.comments if "filling-disk" in key]
        assert not (state / "reserve").exists()
        assert [key for key in story.comments if key.startswith("escalate/full-disk")]
        story.wait_for_end("tiny-2")
        assert len(story.starts) == 2
        assert files_named(state, ".exit.json") == []
        filling.unlink()
        story.tick()
        assert (state / "reserve").exists()


def test_a_launch_on_a_disk_that_fills_up_at_that_moment_starts(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The supervisor has a process of its own, and gives up the reserve as well."""
    with small_disk(story.work / ".herorun", "64m") as state:
        story.init()
        real = _start.start_supervisor

        def late(*args: Any) -> None:
            fill(state)
            real(*args)

        monkeypatch.setattr(_start, "start_supervisor", late)
        assert story.launch() == 0
        story.wait_for_end()
        assert len(story.starts) == 1 and not (state / "reserve").exists()


def test_a_full_clone_takes_the_record_from_the_reserve_and_leaves_no_litter(story: Story) -> None:
    """The crash reports of git, and its half-written packs, would keep a full disk full."""
    with small_disk(story.home / "disk", "48m") as disk:
        shutil.move(story.work, disk / "work")
        story.work.symlink_to(disk / "work")
        story.init()
        run, before = story.run, len(story.lines)
        run.prepare()
        fill(disk)
        run.record.append(note("full"))
        assert len(story.lines) == before + 1
        assert not (run.state.parent / "reserve").exists()
        fill(disk)
        with pytest.raises(Exception, match=r"No space|Out of diskspace"):
            commit_files(
                run.repository, "refs/herorun/other", None, {"a": os.urandom(1 << 16)}, "x", NOON
            )
        leftovers = files_named(disk, "tmp_pack_", "tmp_obj_", "fast_import_crash_")
        assert leftovers == []


def test_a_disk_without_room_for_a_claim_starts_nothing_and_takes_the_claim_back(
    tmp_path: Path,
) -> None:
    """Left there, it would be a job that was launched and failed, and no other could be it."""
    lock = os.open(tmp_path / "lock", os.O_CREAT | os.O_RDWR)
    with small_disk(tmp_path / "disk", "1m") as disk:
        filling, folder = fill(disk), disk / "tiny-1"
        request = {"instance": "tiny-1", "argv": ["true"], "code": "/", "cwd": "."}
        order = order_of(request, str(folder), lock, timedelta(seconds=1))
        with pytest.raises(HerorunError, match=r"space.*left"):
            _start.start_supervisor(order, dict(os.environ), timedelta(seconds=20))
        assert not folder.exists()
        filling.unlink()
        _start.start_supervisor(order, dict(os.environ), timedelta(seconds=20))
        eventually(lambda: (folder / "started.json").exists())
    os.close(lock)


def test_a_record_on_a_disk_of_its_own_has_a_reserve_there(story: Story) -> None:
    with small_disk(story.work / ".herorun", "64m"):
        story.init()
        assert (story.work / ".git" / "herorun" / "reserve").stat().st_size == RESERVE


def test_what_can_be_made_again_leaves_the_last_room(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", "6m") as disk:
        (disk / "most").write_bytes(b"x" * (3 << 20))
        with pytest.raises(OSError, match=r"left.*record") as error:
            write_atomic(disk / "cache", b"x", spare=True)
        assert error.value.errno == errno.ENOSPC
        write_atomic(disk / "words", b"x")


def test_the_reserve_is_taken_only_where_there_is_plenty(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", "12m") as disk:
        disk_reserve.keep_reserve(disk / "reserve")
        assert not (disk / "reserve").exists()
