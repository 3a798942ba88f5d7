"""The Levanter layout: the contract suite on the local store, then its own traps."""

import json
import shutil
from pathlib import Path

import pytest

from herorun.core.evidence import Candidate
from herorun.core.ports import Layout, Place, Store
from herorun.stores.layouts import levanter
from herorun.stores.local import LocalStore
from ports.layout_suite import LayoutBench, LayoutSuite

PLACE = Place("tiny", "state", "/data/tiny", ".")


class Bench:
    def __init__(self, root: Path) -> None:
        self.root = str(root)
        self.store: Store = LocalStore()
        self.layout: Layout = levanter.connect(levanter.Options(), PLACE)

    def save(self, step: int, *, temporary: bool = False, finished: bool = True) -> str:
        folder = Path(self.root) / f"step-{step}"
        (folder / "d").mkdir(parents=True, exist_ok=True)
        (folder / "manifest.json").write_text("{}")
        if finished:
            self.mark(folder, {"step": step, "timestamp": stamp(step), "is_temporary": temporary})
        return str(folder)

    def mark(self, folder: Path, metadata: object) -> None:
        (folder / "metadata.json").write_text(json.dumps(metadata))

    def prune(self, path: str) -> None:
        shutil.rmtree(path)

    def cut_off(self, path: str) -> None:
        marker = Path(path) / "metadata.json"
        marker.unlink()
        marker.symlink_to(marker.name)  # a loop: there, and not to be opened


def stamp(step: int) -> str:
    return f"2026-09-03T23:13:{step % 60:02}.777258"


class TestLevanter(LayoutSuite):
    @pytest.fixture(params=["checkpoints", "with space/ünï\nline"])
    def bench(self, request: pytest.FixtureRequest, tmp_path: Path) -> LayoutBench:
        return Bench(tmp_path / request.param)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "checkpoints"


def find(root: Path, temporary: bool = False, newest: int | None = None) -> tuple[Candidate, ...]:
    return levanter.Levanter().candidates(LocalStore(), str(root), temporary, newest)


def problem_of(root: Path) -> str:
    (candidate,) = find(root)
    return candidate.problem


def a_folder(root: Path, name: str = "step-100", marker: str | bytes | None = None, *beside: str) -> Path:
    folder = root / name
    folder.mkdir(parents=True)
    for file in beside:
        (folder / file).write_text("{}")
    if marker is not None:
        (folder / "metadata.json").write_bytes(marker.encode() if isinstance(marker, str) else marker)
    return folder


def test_a_complete_one_tells_all(root: Path) -> None:
    a_folder(root, "step-100", '{"step": 100, "timestamp": "2026-09-03T23:13:13", "is_temporary": true}', "d")
    assert find(root) == (
        Candidate(f"{root}/step-100", 100, str(root), temporary=True, timestamp="2026-09-03T23:13:13"),
    )


@pytest.mark.parametrize(
    "name",
    ["step-1000.bak", "step-", "tmp-step-3", "step-3-tmp", "Step-3", "step--3", "step-٣", "step-3\n", "3"],
)
def test_only_an_exact_name_is_a_candidate(root: Path, name: str) -> None:
    a_folder(root, name, '{"step": 3}', "d")
    assert find(root) == ()


def test_a_file_is_no_candidate_and_an_empty_root_has_none(root: Path) -> None:
    root.mkdir()
    assert find(root) == ()
    (root / "step-3").write_text("")
    (root / "eval_metrics.jsonl").write_text("")
    assert find(root) == ()


@pytest.mark.parametrize(
    ("marker", "beside", "problem"),
    [
        (None, ("d", "manifest.json"), "no metadata.json"),
        (
            None,
            ("manifest.json",),
            "no metadata.json, only manifest.json: the save was begun and not finished",
        ),
        (None, (), "no metadata.json: the folder is empty"),
        ("", ("d",), "metadata.json is not JSON"),
        ('{"step": 1', ("d",), "metadata.json is not JSON"),
        (b"\xff\xfe", ("d",), "metadata.json is not JSON"),
        ("[" * 50_000, ("d",), "metadata.json is not JSON"),
        ("[100]", ("d",), "metadata.json is not JSON"),
        ("{}", ("d",), "metadata.json has no step"),
        ('{"step": null}', ("d",), "metadata.json has no step"),
        ('{"step": "100"}', ("d",), "metadata.json has a step that is no integer"),
        ('{"step": true}', ("d",), "metadata.json has a step that is no integer"),
        ('{"step": 90}', ("d",), "metadata step 90 differs from the folder's step 100"),
        ('{"step": 100}', (), "metadata.json is missing its data"),
        ('{"step": 100}', (".nfs01",), "metadata.json is missing its data"),
        (
            '{"step": 100}',
            ("manifest.json",),
            "metadata.json is missing its data: only manifest.json is beside it",
        ),
        ('{"step": 100}', ("manifest.ocdbt",), ""),
        ('{"step": 100, "timestamp": 5, "is_temporary": "no"}', ("d",), ""),
    ],
)
def test_what_is_wrong_with_it_is_said(
    root: Path, marker: str | bytes | None, beside: tuple[str, ...], problem: str
) -> None:
    a_folder(root, "step-100", marker, *beside)
    assert problem_of(root) == problem


def test_without_a_word_in_the_metadata_the_root_decides_what_is_temporary(root: Path) -> None:
    a_folder(root, "step-100", '{"step": 100}', "d")
    a_folder(root, "step-200", None, "d")
    for told in (True, False):
        assert [candidate.temporary for candidate in find(root, temporary=told)] == [told, told]


def test_leading_zeros_are_the_same_step_under_their_own_path(root: Path) -> None:
    a_folder(root, "step-007", '{"step": 7, "timestamp": "2026-01-01"}', "d")
    a_folder(root, "step-7", '{"step": 7, "timestamp": "2026-02-02"}', "d")
    assert [(c.step, c.path) for c in find(root)] == [(7, f"{root}/step-007"), (7, f"{root}/step-7")]


def test_one_step_is_ordered_by_time(root: Path) -> None:
    a_folder(root, "step-7", '{"step": 7, "timestamp": "2026-01-01"}', "d")
    a_folder(root, "step-007", '{"step": 7, "timestamp": "2026-02-02"}', "d")
    assert [c.path for c in find(root)] == [f"{root}/step-7", f"{root}/step-007"]


def test_the_newest_can_be_asked_for_alone(root: Path) -> None:
    bench = Bench(root)
    bench.cut_off(bench.save(9))  # reading it would raise: it is not read
    for step in (10, 100):
        bench.save(step)
    assert [candidate.step for candidate in find(root, newest=2)] == [10, 100]
    assert find(root, newest=0) == ()
    bench.prune(f"{root}/step-9")
    assert [candidate.step for candidate in find(root, newest=5)] == [10, 100]


def test_a_root_that_is_a_file_is_not_an_empty_root(root: Path) -> None:
    root.write_text("")
    with pytest.raises(NotADirectoryError):
        find(root)
