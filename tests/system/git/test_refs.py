"""A ref with a file of its own is never answered with an older packed value."""

import errno
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from herorun.core.errors import CouldNotLook
from herorun.system.git import Repository, find_repository
from herorun.system.git.tags import annotated_tag, tag_text
from stories import Story, git

REF = "refs/herorun/record/other"
ERRORS = (errno.EACCES, errno.EMFILE, errno.ESTALE, errno.EIO)
DAMAGES: dict[str, Callable[[Path], object]] = {
    "empty": lambda path: path.write_bytes(b""),
    "zeros": lambda path: path.write_bytes(bytes(41)),
    "garbage": lambda path: path.write_bytes(b"gar\xffbage\n"),
    "cut short": lambda path: path.write_bytes(path.read_bytes()[:20]),
    "a link to itself": lambda path: (path.unlink(), path.symlink_to(path)),
    "a link to nothing": lambda path: (path.unlink(), path.symlink_to("nowhere")),
}


@pytest.fixture
def repository(story: Story) -> Repository:
    for number in range(2):
        git(story.work, "commit", "-q", "--allow-empty", "-m", str(number))
    return find_repository(story.work)


def _move(repository: Repository, ref: str) -> Path:
    """Pack an older value of a ref, and move it on; returns its file."""
    git(repository.top, "update-ref", ref, "HEAD~1")
    git(repository.top, "pack-refs", "--all", "--prune")
    git(repository.top, "update-ref", ref, "HEAD")
    return repository.common / ref


def _fail(monkeypatch: pytest.MonkeyPatch, call: str, path: Path, number: int) -> None:
    real = getattr(os, call)

    def failing(where: object, *rest: object, **keywords: object) -> object:
        if str(where) == str(path):
            raise OSError(number, os.strerror(number), str(path))
        return real(where, *rest, **keywords)

    monkeypatch.setattr(os, call, failing)


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_ref_is_not_its_older_packed_value(
    repository: Repository, damage: Callable[[Path], object]
) -> None:
    path = _move(repository, REF)
    assert repository.ref_object(REF) == repository.resolve("HEAD")
    damage(path)
    assert repository.ref_object(REF) is None and not repository.lacks(REF)
    with pytest.raises(CouldNotLook, match="damaged"):
        repository.resolve(REF)


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_branch_is_not_its_older_packed_value(
    repository: Repository, damage: Callable[[Path], object]
) -> None:
    branch = git(repository.top, "symbolic-ref", "HEAD").strip()
    git(repository.top, "pack-refs", "--all", "--prune")
    git(repository.top, "commit", "-q", "--allow-empty", "-m", "newer")
    damage(repository.common / branch)
    with pytest.raises(CouldNotLook, match="damaged"):
        repository.resolve("HEAD")


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_tag_is_not_its_older_packed_value(
    repository: Repository, damage: Callable[[Path], object]
) -> None:
    annotated_tag(repository, "old", "HEAD", "an old text")
    git(repository.top, "update-ref", "refs/tags/one", "refs/tags/old")
    git(repository.top, "pack-refs", "--all", "--prune")
    annotated_tag(repository, "new", "HEAD", "a new text")
    git(repository.top, "update-ref", "refs/tags/one", "refs/tags/new")
    assert "a new text" in (tag_text(repository, "one") or "")
    damage(repository.common / "refs" / "tags" / "one")
    with pytest.raises(CouldNotLook, match="damaged"):
        tag_text(repository, "one")


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_record_does_not_go_back_to_its_packed_state(
    story: Story, damage: Callable[[Path], object]
) -> None:
    git(story.work, "commit", "-q", "--allow-empty", "-m", "newer")
    story.init()
    record = story.run.record
    path = _move(record.repository, record.ref)
    damage(path)
    with pytest.raises(CouldNotLook, match="damaged"):
        assert not record.tip


@pytest.mark.parametrize("number", ERRORS)
def test_a_ref_that_cannot_be_opened_is_left_to_git(
    repository: Repository, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    path, head = _move(repository, REF), repository.resolve("HEAD")
    _fail(monkeypatch, "open", path, number)
    assert repository.ref_object(REF) is None
    assert repository.resolve(REF) == head


@pytest.mark.parametrize("number", ERRORS)
def test_a_ref_that_cannot_be_looked_for_is_not_lacking(
    repository: Repository, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    path = repository.common / REF
    assert repository.lacks(REF)
    _fail(monkeypatch, "lstat", path, number)
    assert not repository.lacks(REF)


@pytest.mark.parametrize("number", ERRORS)
def test_packed_refs_that_cannot_be_opened_are_not_answered_from_memory(
    repository: Repository, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    _move(repository, REF).unlink()
    assert repository.ref_object(REF) and repository.lacks(f"{REF}s")
    _fail(monkeypatch, "open", repository.common / "packed-refs", number)
    assert repository.ref_object(REF) is None and not repository.lacks(f"{REF}s")


@pytest.mark.parametrize("end", [b"12345", b"\0" * 64, b"\0" * 64 + b"\n"])
def test_packed_refs_that_are_damaged_are_left_to_git(repository: Repository, end: bytes) -> None:
    _move(repository, REF).unlink()
    packed_refs = repository.common / "packed-refs"
    packed_refs.write_bytes(packed_refs.read_bytes() + end)
    assert repository.ref_object(REF) is None and not repository.lacks(f"{REF}s")


def test_a_ref_that_names_another_is_what_git_says(repository: Repository) -> None:
    path = _move(repository, REF)
    path.write_text("ref: refs/herorun/third\n")
    git(repository.top, "update-ref", "refs/herorun/third", "HEAD~2")
    assert repository.ref_object(REF) is None
    assert repository.resolve(REF) == git(repository.top, "rev-parse", "HEAD~2").strip()


def test_a_folder_of_other_refs_hides_no_packed_ref(repository: Repository) -> None:
    path = _move(repository, REF)
    path.unlink()
    path.mkdir()
    packed_commit = git(repository.top, "rev-parse", "HEAD~1").strip()
    assert repository.ref_object(REF) == repository.resolve(REF) == packed_commit


def test_a_linked_work_tree_has_its_own_refs_below_some_folders(
    repository: Repository, tmp_path: Path
) -> None:
    git(repository.top, "update-ref", "refs/worktree/one", "HEAD")
    git(repository.top, "worktree", "add", "-q", "--detach", str(tmp_path / "linked"), "HEAD")
    linked_repository = find_repository(tmp_path / "linked")
    assert linked_repository.resolve("refs/worktree/one") is None
    git(linked_repository.top, "update-ref", "refs/worktree/two", "HEAD~1")
    older = git(repository.top, "rev-parse", "HEAD~1").strip()
    assert linked_repository.resolve("refs/worktree/two") == older
    assert repository.resolve("refs/worktree/two") is None


def test_a_head_that_names_a_commit_needs_no_git(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    git(repository.top, "checkout", "-q", "--detach", "HEAD~1")
    head = git(repository.top, "rev-parse", "HEAD").strip()
    monkeypatch.setenv("PATH", str(repository.top / "nowhere"))
    assert shutil.which("git") is None
    assert repository.resolve("HEAD") == head
