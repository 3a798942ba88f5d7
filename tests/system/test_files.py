"""Files that are made whole, on file systems with and without hard links."""

import errno
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from herorun.system import progress
from herorun.system.files import LockHeld, create_atomic, hold_lock, is_locked, take_lock
from stories import eventually


@pytest.mark.parametrize(
    "number", [None, errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS]
)
def test_a_file_is_created_once_with_or_without_hard_links(
    tmp_path: Path, monkeypatch, number
) -> None:
    if number is not None:
        no_links(monkeypatch, number)
    create_atomic(tmp_path / "lease", b"mine", 0o600)
    with pytest.raises(FileExistsError):
        create_atomic(tmp_path / "lease", b"theirs", 0o600)
    assert [path.name for path in tmp_path.iterdir()] == ["lease"]
    assert (tmp_path / "lease").read_bytes() == b"mine"
    assert (tmp_path / "lease").stat().st_mode & 0o777 == 0o600


def test_another_failure_of_the_link_is_an_error(tmp_path: Path, monkeypatch) -> None:
    no_links(monkeypatch, errno.EIO)
    with pytest.raises(OSError, match="refused"):
        create_atomic(tmp_path / "lease", b"mine")
    assert list(tmp_path.iterdir()) == []


def no_links(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    """The system's answer is made here: no such file system is at hand."""

    def refuse(*_: object) -> None:
        raise OSError(number, "refused")

    monkeypatch.setattr(os, "link", refuse)


def test_who_waits_for_a_lock_is_next(tmp_path: Path) -> None:
    """Whoever takes it again and again, as a babysitter does under load, does not get before."""
    path, lock_taken, enough = tmp_path / "act.lock", threading.Event(), threading.Event()

    def wait_for_it() -> None:
        with hold_lock(path):
            lock_taken.set()
            enough.wait(60)

    waiter = threading.Thread(target=wait_for_it)
    with hold_lock(path):
        waiter.start()
        eventually(lambda: is_locked(tmp_path / "act.lock.next"))
    try:
        with pytest.raises(LockHeld), hold_lock(path, wait=0):
            pass
        assert lock_taken.wait(60)
    finally:
        enough.set()
        waiter.join()


@pytest.fixture
def nobody() -> Iterator[None]:
    """What is refused to a user is refused to root too."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    yield
    os.seteuid(0)


@pytest.mark.parametrize("is_taken", [True, False])
def test_whether_a_lock_is_held_is_seen_by_who_may_only_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_taken: bool, request: pytest.FixtureRequest
) -> None:
    path = tmp_path / "babysitter.lock"
    descriptor = take_lock(path, 0, "another")
    if not is_taken:
        os.close(descriptor)
    path.chmod(0o444)
    tmp_path.chmod(0o555)
    monkeypatch.chdir(tmp_path)
    request.getfixturevalue("nobody")
    with pytest.raises(PermissionError):
        os.open(path.name, os.O_RDWR)
    assert is_locked(Path(path.name)) is is_taken


def test_a_process_that_waits_for_a_lock_shows_for_whom(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    messages: list[str] = []
    monkeypatch.setattr(progress, "_show", lambda what, *_: messages.append(what))
    path = tmp_path / "act.lock"
    with hold_lock(path, what="the babysitter"):
        assert messages == []
        with pytest.raises(LockHeld), hold_lock(path, wait=0.01, what="the babysitter"):
            pass
    assert messages and all("the babysitter" in each for each in messages)
