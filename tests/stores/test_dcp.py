"""The layout of PyTorch's distributed checkpoints, as torchtitan uses it."""

from pathlib import Path
from typing import ClassVar

import pytest

from herorun.stores.layouts import dcp
from ports.disks import PLACE, LocalDisk, Trainer
from ports.layout_suite import LayoutSuite
from screens.notices import Notice


class Torchtitan:
    layout = dcp.connect(dcp.Options(), PLACE)

    def name(self, step: int) -> str:
        return f"step-{step}"

    def files(self, step: int, *, temporary: bool, is_complete: bool) -> dict[str, bytes]:
        shards = {"__0_0.distcp": b"\0" * 9, "__1_0.distcp": b"\0" * 9}
        return {**shards, ".metadata": b"\x80\x04"} if is_complete else shards

    def beside(self, step: int, *, is_complete: bool) -> dict[str, bytes]:
        return {}


class TestDcp(LayoutSuite):
    requests = 1
    near: ClassVar = {"step-1000.bak": 1000, "step-1000-old": 1000, "step-5.tmp": 5}
    strange = ("step-", "steps-3", "3", "mystep-3")
    final = "step-200"

    @pytest.fixture
    def trainer(self) -> Trainer:
        return Torchtitan()


@pytest.mark.parametrize(
    "files",
    [
        {"__0_0.distcp": b"1"},
        {"__0_0.distcp": b"1", ".metadata.tmp": b"1"},
        {".metadata": b"1"},
        {".metadata": b"", "__0_0.distcp": b"1"},
        {"model.safetensors.index.json": b"{}", "model-00001-of-00001.safetensors": b"1"},
    ],
)
def test_what_is_wrong_with_it_is_reported(
    tmp_path: Path, files: dict[str, bytes], notice: Notice
) -> None:
    disk = LocalDisk(tmp_path)
    for name, data in files.items():
        disk.write(f"{disk.root}/step-9/{name}", data)
    (candidates,) = Torchtitan.layout.candidates(disk.store, disk.root, False)
    assert candidates.problem == notice
