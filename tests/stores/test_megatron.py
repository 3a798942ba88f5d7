"""The layout of Megatron-LM: folders of ranks or shards, and a tracker file in the root that is
written last.
"""

from pathlib import Path
from typing import ClassVar

import pytest

from herorun.core.evidence import Candidate
from herorun.stores.layouts import megatron
from ports.disks import PLACE, LocalDisk, Trainer
from ports.layout_suite import LayoutSuite
from screens.notices import Notice
from wording import mentions

TRACKER = "latest_checkpointed_iteration.txt"


class Distributed:
    layout = megatron.connect(megatron.Options(), PLACE)

    def name(self, step: int) -> str:
        return f"iter_{step:07d}"

    def files(self, step: int, *, temporary: bool, is_complete: bool) -> dict[str, bytes]:
        contents = {"__0_0.distcp": b"\0" * 9, "common.pt": b"PK"}
        return (
            {**contents, ".metadata": b"\x80", "metadata.json": b"{}"} if is_complete else contents
        )

    def beside(self, step: int, *, is_complete: bool) -> dict[str, bytes]:
        return {TRACKER: str(step).encode()} if is_complete else {}


class Ranked(Distributed):
    """The older format."""

    def files(self, step: int, *, temporary: bool, is_complete: bool) -> dict[str, bytes]:
        ranks = ("mp_rank_00_000", "mp_rank_00_001", "mp_rank_01_000", "mp_rank_01_001")
        return {f"{rank}/model_optim_rng.pt": b"PK" for rank in ranks[: None if is_complete else 1]}


class TestMegatron(LayoutSuite):
    requests = 3
    near: ClassVar = {"iter_0001000.bak": 1000, "iter_0001000-old": 1000, "iter_100": 100}
    strange = ("release", "iter_", "iteration_0000100", "0000100")
    final = "iter_0000200"

    @pytest.fixture(params=[Distributed, Ranked])
    def trainer(self, request: pytest.FixtureRequest) -> Trainer:
        trainer: Trainer = request.param()
        return trainer


@pytest.fixture
def disk(tmp_path: Path) -> LocalDisk:
    return LocalDisk(tmp_path)


def newest(disk: LocalDisk) -> Candidate:
    return Distributed.layout.candidates(disk.store, disk.root, False)[-1]


def test_a_step_of_eight_digits_has_no_zeros(disk: LocalDisk) -> None:
    disk.save(Distributed(), 12_345_678)
    assert newest(disk).complete


@pytest.mark.parametrize(
    "tracker",
    [
        b"100\n",
        b"200",
        b"99",
        b"release",
        b"",
        None,
    ],
)
def test_the_tracker_file_must_have_reached_it(
    disk: LocalDisk, tracker: bytes | None, notice: Notice
) -> None:
    path = disk.save(Distributed(), 100)
    disk.prune(f"{disk.root}/{TRACKER}")
    if tracker is not None:
        disk.write(f"{disk.root}/{TRACKER}", tracker)
    assert newest(disk).path == path and newest(disk).problem == notice


@pytest.mark.parametrize(
    "name",
    [
        ".metadata",
        "__0_0.distcp",
        "metadata.json",
    ],
)
def test_a_part_that_is_missing_is_reported(disk: LocalDisk, name: str, notice: Notice) -> None:
    path = disk.save(Distributed(), 100)
    disk.write(f"{path}/__1_0.distcp", b"1")
    disk.prune(f"{path}/{name}")
    assert newest(disk).problem == notice


def test_a_missing_rank_is_reported(disk: LocalDisk) -> None:
    path = disk.save(Ranked(), 100)
    for rank in ("mp_rank_00_000", "mp_rank_00_001"):
        disk.prune(f"{path}/{rank}")
    assert mentions(newest(disk).problem, "tensor", "0 is")


def test_metadata_alone_is_reported(disk: LocalDisk) -> None:
    path = disk.save(Distributed(), 100)
    disk.prune(f"{path}/__0_0.distcp")
    disk.prune(f"{path}/.metadata")
    assert mentions(newest(disk).problem, "data", "metadata.json")
