"""The Levanter layout: the contract suite, then its own traps."""

import json
import os
from pathlib import Path
from typing import ClassVar

import pytest

from herorun.core.evidence import Candidate
from herorun.stores.layouts import levanter
from herorun.stores.local import LocalStore
from ports.disks import PLACE, Disk, LocalDisk, Trainer
from ports.layout_suite import LayoutSuite
from screens.notices import Notice


class Marin:
    layout = levanter.connect(levanter.Options(), PLACE)

    def name(self, step: int) -> str:
        return f"step-{step}"

    def files(self, step: int, *, temporary: bool, is_complete: bool) -> dict[str, bytes]:
        files = {"d/0": b"\0", "manifest.json": b"{}"}
        fields = {"step": step, "timestamp": stamp(step), "is_temporary": temporary}
        return {**files, "metadata.json": json.dumps(fields).encode()} if is_complete else files

    def beside(self, step: int, *, is_complete: bool) -> dict[str, bytes]:
        return {"eval_metrics.jsonl": b"{}\n"}


def stamp(step: int) -> str:
    return f"2026-09-03T23:13:{step % 60:02}.777258"


class TestLevanter(LayoutSuite):
    near: ClassVar = {
        "step-1000.bak": 1000,
        "step-1000-old": 1000,
        "tmp-step-3": 3,
        "step-3-tmp": 3,
        "copy of step-7": 7,
    }
    strange = ("step-", "Step-3", "step--3", "step-٣", "3", "mystep-3", "eval_metrics")
    final = "step-200"

    @pytest.fixture
    def trainer(self) -> Trainer:
        return Marin()

    def test_what_the_checkpoint_says_of_being_temporary_wins(
        self, trainer: Trainer, disk: Disk
    ) -> None:
        disk.save(trainer, 10, temporary=True)
        disk.save(trainer, 20, temporary=False)
        for temporary in (True, False):
            candidates = trainer.layout.candidates(disk.store, disk.root, temporary)
            assert [candidate.temporary for candidate in candidates] == [True, False]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "checkpoints"


def find(root: Path, temporary: bool = False) -> tuple[Candidate, ...]:
    return levanter.Levanter().candidates(LocalStore(), str(root), temporary)


def a_folder(
    root: Path, name: str = "step-100", marker: str | bytes | None = None, *beside: str
) -> Path:
    folder = root / name
    folder.mkdir(parents=True)
    for file in beside:
        (folder / file).write_text("{}")
    if marker is not None:
        (folder / "metadata.json").write_bytes(
            marker.encode() if isinstance(marker, str) else marker
        )
    return folder


def test_a_complete_one_tells_all(root: Path) -> None:
    a_folder(
        root,
        "step-100",
        '{"step": 100, "timestamp": "2026-09-03T23:13:13", "is_temporary": true}',
        "d",
    )
    (search,) = find(root)
    assert (search.path, search.step, search.root) == (f"{root}/step-100", 100, str(root))
    assert (search.temporary, search.timestamp, search.complete) == (
        True,
        "2026-09-03T23:13:13",
        True,
    )


def test_the_time_is_the_markers_and_not_the_folders(root: Path) -> None:
    folder = a_folder(root, "step-100", '{"step": 100}', "d")
    os.utime(folder / "metadata.json", (1_700_000_000, 1_700_000_000))
    (search,) = find(root)
    assert search.modified and search.modified.timestamp() == 1_700_000_000


def test_a_file_is_no_candidate_and_an_empty_root_has_none(root: Path) -> None:
    root.mkdir()
    assert find(root) == ()
    (root / "step-3").write_text("")
    (root / "eval_metrics.jsonl").write_text("")
    assert find(root) == ()


@pytest.mark.parametrize(
    ("marker", "beside"),
    [
        (None, ("d", "manifest.json")),
        (
            None,
            ("manifest.json",),
        ),
        (None, ()),
        ("", ("d",)),
        ('{"step": 1', ("d",)),
        (b"\xff\xfe", ("d",)),
        ("[" * 50_000, ("d",)),
        ("[100]", ("d",)),
        ("{}", ("d",)),
        ('{"step": null}', ("d",)),
        ('{"step": "100"}', ("d",)),
        ('{"step": true}', ("d",)),
        ('{"step": 90}', ("d",)),
        ('{"step": 100}', ()),
        ('{"step": 100}', (".nfs01",)),
        (
            '{"step": 100}',
            ("manifest.json",),
        ),
        ('{"step": 100}', ("manifest.ocdbt",)),
        ('{"step": 100, "timestamp": 5, "is_temporary": "no"}', ("d",)),
    ],
)
def test_what_is_wrong_with_it_is_reported(
    root: Path, marker: str | bytes | None, beside: tuple[str, ...], notice: Notice
) -> None:
    a_folder(root, "step-100", marker, *beside)
    (search,) = find(root)
    assert search.problem == notice


@pytest.mark.parametrize("kind", ["pipe", "loop"])
def test_a_marker_that_cannot_be_read_raises(root: Path, kind: str) -> None:
    marker = a_folder(root, "step-100", None, "d") / "metadata.json"
    os.mkfifo(marker) if kind == "pipe" else marker.symlink_to(marker.name)
    with pytest.raises(OSError, match=r"metadata\.json"):
        find(root)


def test_leading_zeros_are_the_same_step_under_their_own_path(root: Path) -> None:
    a_folder(root, "step-007", '{"step": 7, "timestamp": "2026-01-01"}', "d")
    a_folder(root, "step-7", '{"step": 7, "timestamp": "2026-02-02"}', "d")
    assert [(c.step, c.path) for c in find(root)] == [
        (7, f"{root}/step-007"),
        (7, f"{root}/step-7"),
    ]


def test_one_step_is_ordered_by_time(root: Path) -> None:
    a_folder(root, "step-7", '{"step": 7, "timestamp": "2026-01-01"}', "d")
    a_folder(root, "step-007", '{"step": 7, "timestamp": "2026-02-02"}', "d")
    assert [c.path for c in find(root)] == [f"{root}/step-7", f"{root}/step-007"]


def test_a_root_that_is_a_file_is_not_an_empty_root(root: Path) -> None:
    root.write_text("")
    with pytest.raises(NotADirectoryError):
        find(root)


def test_a_save_over_an_unread_one_is_looked_into_again(tmp_path: Path) -> None:
    disk = LocalDisk(tmp_path)
    disk.save(Marin(), 10)
    (candidate,) = Marin.layout.listed(disk.store, disk.root, False)
    unread_checkpoint = Candidate(
        path=candidate.path, step=10, root=disk.root, problem="it could not be read", examined=False
    )
    observations = Marin.layout.examined(disk.store, unread_checkpoint)
    assert observations and observations.complete
