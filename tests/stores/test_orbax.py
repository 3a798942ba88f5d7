"""The Orbax layout: a rename says that a save is done, or a file where there is no rename."""

import json
from pathlib import Path
from typing import ClassVar

import pytest

from herorun.stores.layouts import orbax
from ports.disks import PLACE, Disk, LocalDisk, MemoryDisk, Trainer
from ports.layout_suite import LayoutSuite
from screens.notices import Notice

NANOSECONDS = 1_788_477_193_000_000_000


class Manager:
    """As the checkpoint manager writes on an object store: in place, the commit file last."""

    layout = orbax.connect(orbax.Options(), PLACE)

    def name(self, step: int) -> str:
        return str(step)

    def files(self, step: int, *, temporary: bool, is_complete: bool) -> dict[str, bytes]:
        fields = {
            "init_timestamp_nsecs": NANOSECONDS - 9,
            "commit_timestamp_nsecs": NANOSECONDS if is_complete else None,
        }
        files = {"default/_METADATA": b"{}", "_CHECKPOINT_METADATA": json.dumps(fields).encode()}
        return {**files, "commit_success.txt": b"done"} if is_complete else files

    def beside(self, step: int, *, is_complete: bool) -> dict[str, bytes]:
        return {}


class Prefixed(Manager):
    def name(self, step: int) -> str:
        return f"checkpoint_{step:04d}"


class TestOrbax(LayoutSuite):
    near: ClassVar = {
        "1000.bak": 1000,
        "1000-old": 1000,
        "70.orbax-checkpoint-tmp-1700000000": 70,
        "checkpoint_8.orbax-checkpoint-tmp": 8,
    }
    strange = ("2026-01-01", "default", "_1", "1a", "checkpoint_", "metrics")
    final = "200"

    @pytest.fixture(params=[Manager, Prefixed])
    def trainer(self, request: pytest.FixtureRequest) -> Trainer:
        trainer: Trainer = request.param()
        return trainer


def problem_of(disk: Disk, files: dict[str, bytes]) -> str:
    for name, data in files.items():
        disk.write(f"{disk.root}/100/{name}", data)
    (candidates,) = Manager.layout.candidates(disk.store, disk.root, False)
    return candidates.problem


ITEM = {"default/_METADATA": b"{}"}


@pytest.mark.parametrize(
    "files",
    [
        ITEM,  # older versions write no metadata: that it was renamed is the proof
        {"commit_success.txt": b"x"},
        {**ITEM, "params.orbax-checkpoint-tmp-17/d": b""},
        {**ITEM, "_CHECKPOINT_METADATA": b"[]"},
        {**ITEM, "_CHECKPOINT_METADATA": b'{"commit_timestamp_nsecs": null}'},
        {"orbax.checkpoint": b"", "_CHECKPOINT_METADATA": b'{"commit_timestamp_nsecs": 17}'},
    ],
)
def test_what_is_wrong_with_it_is_reported(
    tmp_path: Path, files: dict[str, bytes], notice: Notice
) -> None:
    assert problem_of(LocalDisk(tmp_path), files) == notice


def test_where_nothing_is_renamed_the_commit_file_is_missed() -> None:
    assert problem_of(MemoryDisk(), ITEM) == "no commit_success.txt"


def test_the_commit_time_is_enough_where_folders_can_be_renamed_in_a_bucket() -> None:
    data = json.dumps({"commit_timestamp_nsecs": NANOSECONDS}).encode()
    assert problem_of(MemoryDisk(), {**ITEM, "_CHECKPOINT_METADATA": data}) == ""


def test_the_commit_time_is_reported(tmp_path: Path) -> None:
    disk = LocalDisk(tmp_path)
    disk.save(Manager(), 7)
    (candidates,) = Manager.layout.candidates(disk.store, disk.root, False)
    assert candidates.timestamp == "2026-09-03T23:13:13+00:00"
