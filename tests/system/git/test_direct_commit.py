"""Commits that we write ourselves are git's to the byte, and what is not plain is left to git."""

import contextlib
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

from herorun.core.errors import CouldNotLook
from herorun.system.git import Repository, direct_commit as direct, find_repository, plumbing
from herorun.system.git.leftovers import sweep
from herorun.system.git.loose_objects import LooseObjects, NotLoose
from herorun.system.git.plumbing import RefMoved, commit_files, move_ref
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

    def count_call(repository: Repository, ref: str, *rest: object) -> str:
        refs.append(ref)
        return real(repository, ref, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(plumbing, "_commit_by_git", count_call)
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


def test_what_it_has_written_is_not_read_again_while_it_lies_there(
    repository: Repository, first: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    second = commit_files(repository, REF, first, NEXT, "second\n", AT)
    loose = LooseObjects(f"{repository.common}/objects")
    entries = git(repository.top, "ls-tree", "-r", "-z", second).split("\0")[:-1]
    with monkeypatch.context() as patch:
        patch.setattr(LooseObjects, "content", _elsewhere)
        rows = loose.files(second)
    assert [f"{mode} blob {oid}\t{path}" for mode, oid, path in rows] == entries

    tree = loose.top(second)
    path = Path(loose.store, tree[:2], tree[2:])
    path.chmod(0o644)
    path.write_bytes(b"damaged")
    with pytest.raises(NotLoose):
        loose.files(second)
    path.unlink()
    with pytest.raises(NotLoose):
        loose.files(second)


@pytest.mark.parametrize("is_packed", [False, True])
def test_a_ref_is_moved_without_git_and_only_from_where_it_was_seen(
    repository: Repository, first: str, is_packed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    second = commit_files(repository, REF, first, NEXT, "second\n", AT)
    third = commit_files(repository, REF, second, {"e": b"5"}, "third\n", AT)
    if is_packed:
        git(repository.top, "pack-refs", "--all")
    calls: list[str] = []
    call = Repository.git
    with monkeypatch.context() as patch:
        patch.setattr(
            Repository,
            "git",
            lambda self, *args, **rest: calls.append(args[0]) or call(self, *args, **rest),
        )
        move_ref(repository, REF, second, third)
    assert calls == (["update-ref"] if is_packed else [])
    assert git(repository.top, "rev-parse", REF).strip() == second
    with pytest.raises(RefMoved):
        move_ref(repository, REF, first, third)
    assert git(repository.top, "rev-parse", REF).strip() == second
    assert not list((repository.common / "refs").rglob("*.lock"))


def test_a_ref_is_not_moved_to_what_is_not_here(repository: Repository, first: str) -> None:
    with pytest.raises(RefMoved):
        move_ref(repository, REF, "0" * 39 + "1", first)
    assert repository.resolve(REF) == first


def _elsewhere(repository: Repository, ref: str) -> None:
    raise direct.NotLoose(ref)


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


def _share_without_a_value(repository: Repository) -> None:
    with (repository.common / "config").open("a") as file:
        file.write("[core]\n\tsharedRepository\n")


@pytest.mark.parametrize("change", [_pack, _pack_refs, _share, _share_without_a_value, _log])
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


def test_a_repository_that_git_refuses_is_not_written_to(
    repository: Repository, first: str
) -> None:
    git(repository.top, "config", "core.repositoryFormatVersion", "1")
    git(repository.top, "config", "extensions.fromTheFuture", "true")
    with pytest.raises(CouldNotLook, match="extension"):
        commit_files(repository, REF, first, NEXT, "next\n", AT)
    assert repository.loose(REF) == first


def _tree(repository: Repository, body: bytes) -> str:
    arguments = ("hash-object", "-w", "-t", "tree", "--literally", "--stdin")
    return repository.git(*arguments, stdin=body).text.strip()


@pytest.mark.parametrize(
    "body",
    [
        b"100644 b\0%(blob)s100644 b\0%(blob)s",
        b"100644 b\0%(blob)s40000 b\0%(tree)s",
        b"1006x4 b\0%(blob)s",
        b"0 b\0%(blob)s",
        b"100644 b\0short",
        b"100644 b",
    ],
)
def test_a_tree_that_git_does_not_write_is_left_to_git(
    repository: Repository, first: str, by_git: list[str], body: bytes
) -> None:
    empty = bytes.fromhex(repository.git("rev-parse", f"{first}:a").text.strip())
    blob = bytes.fromhex(repository.git("rev-parse", f"{first}:e").text.strip())
    tree = _tree(repository, body % {b"blob": blob, b"tree": empty})
    odd = repository.git("commit-tree", "-m", "odd", tree).text.strip()
    repository.git("update-ref", REF, odd)
    with contextlib.suppress(CouldNotLook):  # git refuses some
        commit_files(repository, REF, odd, {"new": b"1"}, "next\n", AT)
    assert by_git == [REF]


def test_a_name_that_no_tree_can_hold_is_left_to_git(
    repository: Repository, first: str, by_git: list[str]
) -> None:
    with contextlib.suppress(CouldNotLook):
        commit_files(repository, REF, first, {"a\0b": b"1"}, "next\n", AT)
    assert by_git == [REF]


def test_all_that_the_ref_stands_for_is_on_the_disk_before_it_moves(
    repository: Repository, first: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Objects that were there too: git syncs neither the user's loose ones nor their folders."""
    there = repository.git("hash-object", "-w", "--stdin", stdin=b"there").text.strip()
    calls = _record_calls(monkeypatch)
    tip = commit_files(repository, REF, first, {"a/b/c": b"new", "f": b"there"}, "next\n", AT)
    first_named = next(at for at, (name, _) in enumerate(calls) if name == "rename")
    assert not any("/tmp_obj_" in path for _, path in calls[first_named:]), "synced together"
    ref_move = calls.index(("rename", f"{repository.common}/{REF}"))
    synced_paths = {path for name, path in calls[:ref_move] if name == "fsync"}
    listing = repository.git("rev-list", "--objects", tip, f"^{first}").text.split("\n")
    new_objects = {line.split(" ")[0] for line in listing if line} | {there}
    objects = repository.common / "objects"
    for oid in new_objects:
        path = str(objects / oid[:2] / oid[2:])
        assert path in synced_paths or calls.index(("rename", path)) < ref_move
        assert calls.index(("fsync", str(objects / oid[:2]))) > (
            0 if path in synced_paths else calls.index(("rename", path))
        )
    assert {str(objects), *(str(objects / oid[:2]) for oid in new_objects)} <= synced_paths
    assert calls[ref_move + 1] == ("fsync", str((repository.common / REF).parent))


def _record_calls(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """Every sync and every move, by the path that it is for."""
    calls: list[tuple[str, str]] = []
    fsync, rename = os.fsync, os.rename

    def sync(descriptor: int) -> None:
        fsync(descriptor)
        calls.append(("fsync", os.readlink(f"/proc/self/fd/{descriptor}")))

    def move(source: Path, target: Path) -> None:
        assert ("fsync", str(source)) in calls
        rename(source, target)
        calls.append(("rename", str(target)))

    monkeypatch.setattr(os, "fsync", sync)
    monkeypatch.setattr(os, "rename", move)
    return calls


def test_a_folder_that_git_removes_once_its_refs_are_packed_is_no_failure(
    repository: Repository, first: str, by_git: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.rename

    def packed_at_once(source: Path, target: Path) -> None:
        real(source, target)
        if target == repository.common / REF:
            git(repository.top, "pack-refs", "--all", "--prune")

    monkeypatch.setattr(os, "rename", packed_at_once)
    tip = commit_files(repository, REF, first, {"e": b"5"}, "next\n", AT)
    assert not (repository.common / REF).parent.exists()
    assert by_git == [] and repository.resolve(REF) == tip


def test_the_lock_of_another_stays_where_a_commit_ends_after_its_own_was_moved(
    repository: Repository, first: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, real = repository.common / REF, os.rename
    lock = path.with_name(f"{path.name}.lock")

    def interrupt_commit(source: Path, target: Path) -> None:
        real(source, target)
        if target == path:
            lock.touch()
            raise KeyboardInterrupt

    monkeypatch.setattr(os, "rename", interrupt_commit)
    with pytest.raises(KeyboardInterrupt):
        commit_files(repository, REF, first, {"e": b"5"}, "next\n", AT)
    assert lock.exists() and repository.resolve(REF) != first


def test_a_commit_that_failed_after_the_ref_moved_is_not_made_twice(
    repository: Repository, first: str, by_git: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As over NFS, where an answer that is lost makes a call that succeeded fail."""
    real = os.rename

    def lose_file(source: Path, target: Path) -> None:
        real(source, target)
        if target == repository.common / REF:
            raise FileNotFoundError(2, "No such file or directory")

    monkeypatch.setattr(os, "rename", lose_file)
    tip = commit_files(repository, REF, first, {"e": b"5"}, "next\n", AT)
    assert by_git == [REF] and repository.resolve(REF) == tip
    assert repository.git("rev-list", "--count", f"{first}..{tip}").text.strip() == "1"


def test_a_damaged_object_of_the_name_is_replaced(repository: Repository, first: str) -> None:
    oid = repository.git("hash-object", "-w", "--stdin", stdin=b"new").text.strip()
    path = repository.common / "objects" / oid[:2] / oid[2:]
    path.chmod(0o600)
    path.write_bytes(zlib.compress(b"blob 3\0bad"))
    tip = commit_files(repository, REF, first, {"e": b"new"}, "next\n", AT)
    assert repository.read(tip, ["e"]) == {"e": b"new"}


def test_more_files_than_a_process_may_have_open_are_written(
    repository: Repository, first: str, by_git: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two paths that hold the same are one object."""
    monkeypatch.setattr(direct, "MAX_OPEN", 3)
    open_count = len(os.listdir("/proc/self/fd"))
    files = {f"many/{number}": b"%d" % (number % 7) for number in range(10)}
    tip = commit_files(repository, REF, first, files, "next\n", AT)
    assert by_git == [] and repository.read(tip, list(files)) == files
    assert len(os.listdir("/proc/self/fd")) == open_count
    assert not list((repository.common / "objects").glob("*/tmp_*"))


def test_a_disk_that_refuses_a_sync_leaves_no_object_without_a_name(
    repository: Repository, first: str, by_git: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    open_count, calls = len(os.listdir("/proc/self/fd")), []

    def fail_sync(descriptor: int) -> None:
        calls.append(descriptor)
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fail_sync)
        tip = commit_files(repository, REF, first, NEXT, "next\n", AT)
    assert calls and by_git == [REF] and repository.resolve(REF) == tip
    assert len(os.listdir("/proc/self/fd")) == open_count
    assert not list((repository.common / "objects").glob("*/tmp_*"))


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
real = getattr(os, sys.argv[4])
def slow(*args):
    if sys.argv[5] not in str(args):
        return real(*args)
    open(sys.argv[3], "w").close()
    time.sleep(60)
setattr(os, sys.argv[4], slow)
repository = find_repository(Path(sys.argv[1]))
commit_files(repository, "refs/herorun/record/x", sys.argv[2], {"e": b"z"}, "x", datetime.now(UTC))
"""


def _kill_writer(repository: Repository, first: str, marker: Path, call: str, of: str = "") -> None:
    """In the first such call whose arguments hold `of`."""
    argv = [sys.executable, "-c", WRITE, str(repository.top), first, str(marker), call, of]
    writer = subprocess.Popen(argv)
    until = time.monotonic() + 30
    while not marker.exists() and time.monotonic() < until:
        time.sleep(0.01)
    os.kill(writer.pid, signal.SIGKILL)
    assert writer.wait() == -signal.SIGKILL


@pytest.mark.parametrize("call", ["fsync", "rename"])
def test_what_a_killed_writer_leaves_goes_and_the_ref_stands(
    repository: Repository, first: str, tmp_path: Path, call: str
) -> None:
    _kill_writer(repository, first, tmp_path / "begun", call)
    assert list((repository.common / "objects").glob("*/tmp_obj_*"))
    sweep(repository.common)
    assert not list((repository.common / "objects").glob("*/tmp_obj_*"))
    assert repository.resolve(REF) == first
    assert commit_files(repository, REF, first, {"e": b"z"}, "x", AT)


def test_the_lock_of_a_killed_writer_goes_in_seconds(
    repository: Repository, first: str, tmp_path: Path, by_git: list[str]
) -> None:
    _kill_writer(repository, first, tmp_path / "begun", "rename", f"{REF}.lock")
    lock = repository.common / f"{REF}.lock"
    assert lock.read_text().strip() and repository.resolve(REF) == first
    sweep(repository.common)
    assert lock.exists(), "a git that lives may hold it"
    for path in (lock, *(repository.common / "herorun" / "writing").iterdir()):
        os.utime(path, (time.time() - 60,) * 2)
    sweep(repository.common)
    assert not lock.exists()
    tip = commit_files(repository, REF, first, {"e": b"z"}, "x", AT)
    assert by_git == [] and repository.resolve(REF) == tip


def test_a_move_removes_the_lock_of_a_killed_one(
    repository: Repository, first: str, tmp_path: Path
) -> None:
    second = commit_files(repository, REF, first, {"e": b"z"}, "x", AT)
    _kill_writer(repository, second, tmp_path / "begun", "rename", f"{REF}.lock")
    lock = repository.common / f"{REF}.lock"
    for path in (lock, *(repository.common / "herorun" / "writing").iterdir()):
        os.utime(path, (time.time() - 60,) * 2)
    move_ref(repository, REF, first, second)
    assert repository.resolve(REF) == first and not lock.exists()
