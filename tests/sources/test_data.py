"""The data that a contract pins, in the commit and outside of it."""

import hashlib
from pathlib import Path

import pytest

from builders import a_contract
from herorun.core.contract import Contract
from herorun.core.evidence import DataFound, WorkTree
from herorun.core.ports import Place
from herorun.sources import data as source
from herorun.stores import local
from herorun.system.git import Repository, find_repository
from screens.notices import Notice
from stories import git
from wording import mentions

MIX = b'{"web": 0.7}\n'
DIGEST = "sha256:" + hashlib.sha256(MIX).hexdigest()
OTHER = "sha256:" + "0" * 64


class Bench:
    """A repository with a manifest in `train/`, and the same manifest next to it on the disk."""

    def __init__(self, home: Path) -> None:
        self.home, self.work = home, home / "work"
        git(home, "init", "-q", "--template=", "-b", "main", str(self.work))
        (self.work / "train").mkdir()
        self.commit(MIX)
        self.outside = home / "mix.json"
        self.outside.write_bytes(MIX)

    def commit(self, data: bytes) -> None:
        (self.work / "train" / "mix.json").write_bytes(data)
        git(self.work, "add", "-A")
        texts = ("-c", "user.name=dri", "-c", "user.email=dri@example.org")
        git(self.work, *texts, "commit", "-q", "-m", "data", "--allow-empty")

    def read(self, path: str, pinned_digest: str = OTHER) -> DataFound:
        contract: Contract = a_contract(
            command={"cwd": "train"}, data={"manifests": {path: pinned_digest}}
        )
        repository: Repository = find_repository(self.work)
        commit = repository.resolve("HEAD")
        assert commit
        store = local.connect(
            local.Options(), Place("tiny", str(self.home), "/data/tiny", str(self.work))
        )
        return source.read_data_found(repository, contract, WorkTree(commit=commit), store)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


@pytest.mark.parametrize("path", ["mix.json", "../train/mix.json", "./mix.json"])
def test_a_relative_path_is_read_from_the_commit(bench: Bench, path: str) -> None:
    (bench.work / "train" / "mix.json").write_text("edited and not committed")

    assert bench.read(path) == DataFound({path: DIGEST})


def test_an_absolute_path_is_read_by_its_store(bench: Bench) -> None:
    path = str(bench.outside)

    assert bench.read(path) == DataFound({path: DIGEST})


def test_a_generation_is_the_stores_own_word_and_moves_with_a_rewrite(bench: Bench) -> None:
    path = str(bench.outside)
    before = bench.read(path, "generation:1").digests[path]
    bench.outside.unlink()
    bench.outside.write_bytes(b"other")
    after = bench.read(path, "generation:1").digests[path]

    assert before is not None and before.startswith("generation:") and before != after


@pytest.mark.parametrize("path", ["missing.json", "/nowhere/at/all.json"])
def test_what_is_not_there_is_reported_as_such(bench: Bench, path: str) -> None:
    assert bench.read(path) == DataFound({path: None})


@pytest.mark.parametrize(
    ("path", "pinned_digest"),
    [
        ("mix.json", "generation:1"),
        ("../../mix.json", OTHER),
        ("gs://bucket/mix.json", OTHER),
    ],
)
def test_what_cannot_be_read_says_why(
    bench: Bench, path: str, pinned_digest: str, notice: Notice
) -> None:
    evidence = bench.read(path, pinned_digest)

    assert evidence.digests == {} and evidence.unread[path] == notice


def test_a_large_file_is_refused_with_advice(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "MAX_BYTES", len(MIX) - 1)
    path = str(bench.outside)

    assert mentions(bench.read(path).unread[path], "generation")
    monkeypatch.setattr(source, "MAX_BYTES", len(MIX))
    assert bench.read(path).digests == {path: DIGEST}


def test_a_pointer_of_git_lfs_stands_for_its_content(bench: Bench) -> None:
    pointer = f"version https://git-lfs.github.com/spec/v1\noid {DIGEST}\nsize {len(MIX)}\n"
    bench.commit(pointer.encode())

    assert bench.read("mix.json") == DataFound({"mix.json": DIGEST})
