"""Commits that we write ourselves are git's to the byte, and what is not plain is left to git."""

import os
import signal
import subprocess
import sys
import time
import zlib
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from herorun.system.git import Repository, find_repository, plumbing
from herorun.system.git import direct_commit as direct
from herorun.system.git.plumbing import RefMoved, commit_files
from herorun.system.litter import sweep
from stories import Story, git

AT = datetime(2026, 11, 21, tzinfo=UTC)
REF = "refs/herorun/record/x"
FIRST = {"a/b/c": b"1", "a/b.c": b"2", "a/d": b"3", "e": b"4"}
NEXT = {"a/b/c": b"changed", "a/b/new/deep": b"x" * 300_000, "ünï": b"", "a/a": b"5"}


@pytest.fixture
def repository(story: Story) -> Repository:
    return find_repository(story.work)


@pytest.fixture
def first(repository: Repository) -> str:
    return commit_files(repository, REF, None, FIRST, "first\n", AT)


@pytest.fixture
def by_git(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The refs of the commits that were left to git."""
    refs: list[str] = []
    real = plumbing._commit_by_git

    def counted(repository: Repository, ref: str, *rest: object) -> str:
        refs.append(ref)
        return real(repository, ref, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(plumbing, "_commit_by_git", counted)
    return refs


def test_it_is_the_commit_that_git_makes(
    repository: Repository, first: str, by_git: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = commit_files(repository, REF, first, NEXT, "nëxt\n\n[skip ci]\n", AT)
    assert by_git == [] and repository.resolve(REF) == ours
    repository.git("update-ref", REF, first)
    monkeypatch.setattr(direct, "_must_be_plain", _elsewhere)
    assert commit_files(repository, REF, first, NEXT, "nëxt\n\n[skip ci]\n", AT) == ours
    assert by_git == [REF]
    assert repository.git("fsck", "--strict", "--no-dangling", ours).err == b""


def _elsewhere(repository: Repository, ref: str) -> None:
    raise direct.Elsewhere(ref)


def test_a_ref_that_moved_is_not_overwritten(
    repository: Repository, first: str, by_git: list[str]
) -> None:
    second = commit_files(repository, REF, first, {"e": b"5"}, "second\n", AT)
    with pytest.raises(RefMoved):
        commit_files(repository, REF, first, {"e": b"6"}, "third\n", AT)
    assert repository.resolve(REF) == second and by_git == []


def _pack(repository: Repository) -> None:
    git(repository.top, "repack", "-adq")


def _pack_refs(repository: Repository) -> None:
    git(repository.top, "pack-refs", "--all")


def _share(repository: Repository) -> None:
    git(repository.top, "config", "core.sharedRepository", "group")


def _log(repository: Repository) -> None:
    git(repository.top, "config", "core.logAllRefUpdates", "always")


@pytest.mark.parametrize("change", [_pack, _pack_refs, _share, _log])
def test_what_is_not_plain_is_left_to_git(
    repository: Repository, first: str, by_git: list[str], change: Callable[[Repository], None]
) -> None:
    change(repository)
    tip = commit_files(repository, REF, first, NEXT, "next\n", AT)
    assert by_git == [REF] and repository.read(tip, ["a/b/c"]) == {"a/b/c": b"changed"}


def test_a_file_in_the_place_of_a_folder_is_left_to_git(
    repository: Repository, first: str, by_git: list[str]
) -> None:
    tip = commit_files(repository, REF, first, {"a/b": b"file"}, "next\n", AT)
    assert by_git == [REF] and repository.read(tip, ["a/b"]) == {"a/b": b"file"}


def test_a_damaged_object_of_the_name_is_replaced(repository: Repository, first: str) -> None:
    oid = repository.git("hash-object", "-w", "--stdin", stdin=b"new").text.strip()
    path = repository.common / "objects" / oid[:2] / oid[2:]
    path.chmod(0o600)
    path.write_bytes(zlib.compress(b"blob 3\0bad"))
    tip = commit_files(repository, REF, first, {"e": b"new"}, "next\n", AT)
    assert repository.read(tip, ["e"]) == {"e": b"new"}


def test_a_disk_that_refuses_a_write_is_reported_by_git_and_nothing_is_left(
    repository: Repository, first: str, by_git: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(descriptor: int, data: bytes) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(direct, "_write_all", full)
    tip = commit_files(repository, REF, first, NEXT, "next\n", AT)
    assert by_git == [REF] and repository.resolve(REF) == tip
    assert not list((repository.common / "objects").glob("*/tmp_*"))


WRITE = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from herorun.system.git import direct_commit, find_repository
from herorun.system.git.plumbing import commit_files
import os, time
def slow(*args):
    open(sys.argv[3], "w").close()
    time.sleep(60)
setattr(os, sys.argv[4], slow)
repository = find_repository(Path(sys.argv[1]))
commit_files(repository, "refs/herorun/record/x", sys.argv[2], {"e": b"z"}, "x", datetime.now(UTC))
"""


@pytest.mark.parametrize("call", ["fsync", "rename"])
def test_what_a_killed_writer_leaves_goes_and_the_ref_stands(
    repository: Repository, first: str, tmp_path: Path, call: str
) -> None:
    begun = tmp_path / "begun"
    argv = [sys.executable, "-c", WRITE, str(repository.top), first, str(begun), call]
    writer = subprocess.Popen(argv)
    until = time.monotonic() + 30
    while not begun.exists() and time.monotonic() < until:
        time.sleep(0.01)
    os.kill(writer.pid, signal.SIGKILL)
    assert writer.wait() == -signal.SIGKILL
    assert list((repository.common / "objects").glob("*/tmp_obj_*"))
    sweep(repository.common)
    assert not list((repository.common / "objects").glob("*/tmp_obj_*"))
    assert repository.resolve(REF) == first
    assert commit_files(repository, REF, first, {"e": b"z"}, "x", AT)
