"""The commit that a source bundle says it was made from."""

import gzip
from pathlib import Path

import pytest

from builders import a_contract
from herorun.core.evidence import Bundle, Nothing
from herorun.sources.bundle import read_bundle
from herorun.stores.local import LocalStore
from herorun.system.git import Repository
from stories import git


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    top = tmp_path_factory.mktemp("work")
    git(top, "init", "-q", "-b", "main")
    (top / "train.py").write_text("")
    git(top, "add", "-A")
    git(top, "-c", "user.name=d", "-c", "user.email=d@example.org", "commit", "-q", "-m", "code")
    git(top, "archive", "--output=commit.tar", "HEAD")
    git(top, "archive", "--output=tree.tar", "HEAD^{tree}")
    (top / "commit.tar.gz").write_bytes(gzip.compress((top / "commit.tar").read_bytes()))
    return top


def read(work: Path, name: str | None) -> Bundle | Nothing:
    contract = a_contract(runtime={"bundle": name})
    return read_bundle(contract, Repository(work, work / ".git"), LocalStore())  # a store that only reads


@pytest.mark.parametrize("name", ["commit.tar", "commit.tar.gz"])
def test_an_archive_of_a_commit_says_which(work: Path, name: str) -> None:
    assert read(work, name) == Bundle(name, git(work, "rev-parse", "HEAD").strip())


def test_an_absolute_path_is_taken_as_it_is(work: Path) -> None:
    found = read(work, str(work / "commit.tar"))
    assert isinstance(found, Bundle) and found.commit


def test_an_archive_of_a_tree_does_not_say(work: Path) -> None:
    assert read(work, "tree.tar") == Bundle("tree.tar")


def test_a_named_commit_is_taken_at_its_word(work: Path) -> None:
    assert read(work, "git:abcdef0123") == Bundle("git:abcdef0123", "abcdef0123")


def test_an_opaque_identity_does_not_say(work: Path) -> None:
    assert read(work, "sha256:abc") == Bundle("sha256:abc")


def test_no_bundle_is_nothing(work: Path) -> None:
    assert isinstance(read(work, None), Nothing)


def test_a_missing_or_cut_bundle_is_an_error(work: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read(work, "missing.tar")
    (work / "cut.tar.gz").write_bytes((work / "commit.tar.gz").read_bytes()[:40])
    with pytest.raises(OSError, match="no whole gzip file"):
        read(work, "cut.tar.gz")
