"""The Lightning layout: one zip, or a folder of shards."""

import io
import zipfile
from pathlib import Path
from typing import ClassVar

import pytest

from herorun.core.evidence import Checkpoints
from herorun.stores.layouts import lightning
from ports.disks import PLACE, LocalDisk, Trainer
from ports.layout_suite import LayoutSuite
from wording import mentions


def a_zip(members: int = 3, big: bool = False) -> bytes:
    """As `torch.save` writes: stored, not deflated; in its 64-bit form where it is `big`."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for number in range(members):
            with archive.open(f"archive/data/{number}", "w", force_zip64=big) as member:
                member.write(bytes(range(256)))
    return buffer.getvalue()


class Whole:
    layout = lightning.connect(lightning.Options(), PLACE)

    def name(self, step: int) -> str:
        return f"epoch={step // 50}-step={step}.ckpt"

    def files(self, step: int, *, temporary: bool, is_complete: bool) -> dict[str, bytes]:
        data = a_zip()
        return {"": data if is_complete else data[: len(data) // 2]}

    def beside(self, step: int, *, is_complete: bool) -> dict[str, bytes]:
        return {"last.ckpt": a_zip()}


class Sharded(Whole):
    def files(self, step: int, *, temporary: bool, is_complete: bool) -> dict[str, bytes]:
        shards = {"__0_0.distcp": b"1", ".metadata": b"1"}
        return {**shards, "meta.pt": b"PK"} if is_complete else shards


class TestLightning(LayoutSuite):
    near: ClassVar = {
        "epoch=1-step=90.ckpt.bak": 90,
        "epoch=1-step=90.ckpt.tmp": 90,
        "old-epoch=1-step=90.ckpt": 90,
        "epoch=1-step=90-copy.ckpt": 90,
        "epoch=1-global_step=90.ckpt": 90,
    }
    strange = ("best.ckpt", "epoch=3.ckpt", "hparams.yaml", "mystep=3")
    final = "epoch=*-step=200.ckpt"

    @pytest.fixture(params=[Whole, Sharded])
    def trainer(self, request: pytest.FixtureRequest) -> Trainer:
        trainer: Trainer = request.param()
        return trainer


def problem_of(tmp_path: Path, data: bytes) -> str:
    disk = LocalDisk(tmp_path)
    disk.write(f"{disk.root}/epoch=0-step=9.ckpt", data)
    (candidates,) = Whole.layout.candidates(disk.store, disk.root, False)
    return candidates.problem


@pytest.mark.parametrize(
    "name",
    [
        "epoch=0-step=9-v1",  # a second one of the step
        "step=9",
        "step=0009",
        "epoch=01-step=00009-val_loss=0.31",
        "val_loss=-1.5e-05_epoch=1_step=9_acc=nan-v2",
        "val.loss=2-step=9",
    ],
)
def test_each_name_of_metrics_and_a_step_is_a_checkpoint(tmp_path: Path, name: str) -> None:
    disk = LocalDisk(tmp_path)
    disk.write(f"{disk.root}/{name}.ckpt", a_zip())
    (candidates,) = Whole.layout.candidates(disk.store, disk.root, False)
    assert candidates.complete and candidates.step == 9


def test_the_best_model_next_to_others_is_no_state_to_continue_from(tmp_path: Path) -> None:
    disk = LocalDisk(tmp_path)
    for name in ("epoch=0-step=9", "epoch=1-step=20", "epoch=1-val_loss=0.3-step=20", "step=8-v1"):
        disk.write(f"{disk.root}/{name}.ckpt", a_zip())
    disk.write(f"{disk.root}/epoch=2-step=30-val_loss=0.2.ckpt", a_zip())
    listing = Checkpoints(Whole.layout.candidates(disk.store, disk.root, False))
    assert listing.newest and listing.newest.path == f"{disk.root}/epoch=1-step=20.ckpt"
    assert listing.usable_count == 3
    assert [c.step for c in listing.candidates if c.alike and c.problem] == [20, 30]


@pytest.mark.parametrize("members", [1, 3, 2000])
def test_a_whole_zip_is_one_however_long_its_directory(tmp_path: Path, members: int) -> None:
    assert problem_of(tmp_path, a_zip(members)) == ""


def test_a_zip_with_a_64_bit_end_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # as a file of more than 4 GiB is written
    monkeypatch.setattr(zipfile, "ZIP_FILECOUNT_LIMIT", 1)
    data = a_zip()
    assert b"PK\x06\x07" in data
    assert problem_of(tmp_path, data) == ""


def test_every_cut_is_seen(tmp_path: Path) -> None:
    data = a_zip()
    for count in (1, 10, 21, 22, 60, len(data) - 30):
        assert "cut short" in problem_of(tmp_path, data[:-count])
    assert "cut short" in problem_of(tmp_path, data + b"\0")  # left over from a longer file
    assert mentions(problem_of(tmp_path, b""), "file", "empty")


def test_a_damaged_directory_is_seen(tmp_path: Path) -> None:
    data = bytearray(a_zip())
    data[data.index(b"PK\x01\x02")] = 0
    assert mentions(problem_of(tmp_path, bytes(data)), "directory", "damaged")
    assert mentions(problem_of(tmp_path, a_zip(0)), "without", "content")


def test_a_folder_without_its_shards_is_seen(tmp_path: Path) -> None:
    disk = LocalDisk(tmp_path)
    disk.write(f"{disk.root}/epoch=0-step=9.ckpt/meta.pt", b"PK")
    (candidates,) = Whole.layout.candidates(disk.store, disk.root, False)
    assert candidates.problem == "no .metadata"
