"""What every checkpoint layout must do, on every kind of store. A test file subclasses
`LayoutSuite` with its bench.
"""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, ClassVar

import pytest

from herorun.core.evidence import Candidate
from herorun.core.ports import Layout, missing_members
from ports.disks import Disk, LocalDisk, MemoryDisk, Through, Trainer, Untimed


def all_of(
    layout: Layout, disk: Disk, store: Any = None, temporary: bool = False
) -> tuple[Candidate, ...]:
    return layout.candidates(store or disk.store, disk.root, temporary)


class LayoutSuite:
    requests: ClassVar[int] = 2  # at most, to look into one checkpoint
    near: ClassVar[Mapping[str, int]]  # name -> step of what is nearly a checkpoint
    strange: ClassVar[tuple[str, ...]]  # names of what is nothing like one
    final: ClassVar[str]  # of step 200

    @pytest.fixture
    def trainer(self) -> Trainer:
        raise NotImplementedError

    @pytest.fixture(params=["local", "memory"])
    def disk(self, request: pytest.FixtureRequest, tmp_path: Path) -> Disk:
        return LocalDisk(tmp_path) if request.param == "local" else MemoryDisk()

    def test_it_has_every_member_of_its_port(self, trainer: Trainer) -> None:
        assert missing_members(Layout, trainer.layout) == ()

    def test_checkpoints_come_by_number_and_not_by_name(self, trainer: Trainer, disk: Disk) -> None:
        paths = [disk.save(trainer, step) for step in (2, 9, 10, 100)]
        candidates = all_of(trainer.layout, disk)
        assert [candidate.step for candidate in candidates] == [2, 9, 10, 100]
        assert {candidate.path for candidate in candidates} == set(paths)
        assert [(c.problem, c.root) for c in candidates] == [("", disk.root)] * 4

    def test_listing_is_one_request_and_looks_into_nothing(
        self, trainer: Trainer, disk: Disk
    ) -> None:
        for step in range(50):
            disk.save(trainer, step)
        store = Through(disk.store)
        candidates = trainer.layout.listed(
            store, f"{disk.root}/", False
        )  # Through answers every call
        assert [c.step for c in candidates] == list(range(50))
        assert not any(c.examined or c.complete or c.problem for c in candidates)
        assert len(store.calls) == 1

    def test_looking_into_one_takes_few_requests(self, trainer: Trainer, disk: Disk) -> None:
        disk.save(trainer, 10)
        store = Through(disk.store)
        (candidate,) = trainer.layout.listed(disk.store, disk.root, False)
        examined_checkpoint = trainer.layout.examined(
            store, candidate
        )  # Through answers every call
        assert examined_checkpoint and examined_checkpoint.complete
        assert len(store.calls) <= self.requests

    def test_when_it_was_written_is_reported(self, trainer: Trainer, disk: Disk) -> None:
        disk.save(trainer, 10)
        (candidate,) = all_of(trainer.layout, disk, Untimed(disk.store))
        assert candidate.modified and abs(datetime.now(UTC) - candidate.modified) < timedelta(
            minutes=1
        )

    def test_an_unfinished_one_is_listed_with_its_problem(
        self, trainer: Trainer, disk: Disk
    ) -> None:
        disk.save(trainer, 10)
        disk.save(trainer, 20, is_complete=False)
        ten, twenty = all_of(trainer.layout, disk)
        assert ten.complete
        assert twenty.problem and twenty.examined

    def test_a_backup_is_distinguished_from_a_checkpoint(
        self, trainer: Trainer, disk: Disk
    ) -> None:
        disk.save(trainer, 1)
        for name in self.near:
            disk.save_as(trainer, name, 1)
        candidates = [c for c in trainer.layout.listed(disk.store, disk.root, False) if c.problem]
        assert {c.path.rpartition("/")[2]: c.step for c in candidates} == dict(self.near)
        assert not any(c.complete for c in candidates) and all(c.examined for c in candidates)
        assert [trainer.layout.examined(disk.store, c) for c in candidates] == candidates

    def test_what_is_nothing_like_one_is_left_out(self, trainer: Trainer, disk: Disk) -> None:
        for name in self.strange:
            disk.save_as(trainer, name, 1)
        assert trainer.layout.listed(disk.store, disk.root, False) == ()

    def test_a_number_that_no_run_trains_to_is_no_checkpoint(
        self, trainer: Trainer, disk: Disk
    ) -> None:
        disk.save(trainer, 10)
        for digits in (19, 100):
            disk.save_as(trainer, trainer.name(int("9" * digits)), 1)
        candidates = trainer.layout.listed(disk.store, disk.root, False)
        assert [candidate.step for candidate in candidates] == [10]

    def test_a_missing_root_is_reported(self, trainer: Trainer, disk: Disk) -> None:
        with pytest.raises(FileNotFoundError):
            trainer.layout.listed(disk.store, disk.root, False)

    def test_an_unreadable_one_is_never_called_incomplete(
        self, trainer: Trainer, disk: Disk
    ) -> None:
        path = disk.save(trainer, 20)
        (candidate,) = trainer.layout.listed(disk.store, disk.root, False)

        def fail_call(call: str, called_path: str) -> None:
            if called_path.startswith(path):
                raise OSError(f"{called_path}: input/output error")

        with pytest.raises(OSError, match="input/output") as error:
            # Through answers every call
            trainer.layout.examined(Through(disk.store, fail_call), candidate)
        assert not isinstance(error.value, FileNotFoundError)

    def test_one_that_is_pruned_meanwhile_is_left_out(self, trainer: Trainer, disk: Disk) -> None:
        pruned_checkpoint = disk.save(trainer, 10)
        disk.save(trainer, 20)
        pruned_paths = []

        def prune(call: str, path: str) -> None:
            if path.rstrip("/") != disk.root and not pruned_paths:
                pruned_paths.append(pruned_checkpoint)
                disk.prune(pruned_checkpoint)

        candidates = all_of(trainer.layout, disk, Through(disk.store, prune))
        assert [(candidate.step, candidate.problem) for candidate in candidates] == [(20, "")]

    def test_the_root_says_what_is_temporary(self, trainer: Trainer, disk: Disk) -> None:
        disk.save(trainer, 10, temporary=True, is_complete=False)
        for is_temporary in (True, False):
            (candidate,) = all_of(trainer.layout, disk, temporary=is_temporary)
            assert candidate.temporary is is_temporary

    def test_final_names_the_path_that_the_trainer_writes(
        self, trainer: Trainer, disk: Disk
    ) -> None:
        for root in (disk.root, f"{disk.root}/"):
            assert trainer.layout.final(root, 200) == f"{disk.root}/{self.final}"

    def test_an_empty_checkpoint_is_none(self, trainer: Trainer, tmp_path: Path) -> None:
        disk = LocalDisk(tmp_path)
        disk.save(trainer, 10)
        (Path(disk.root) / trainer.name(20)).mkdir()
        _, empty = all_of(trainer.layout, disk)
        assert empty.problem
