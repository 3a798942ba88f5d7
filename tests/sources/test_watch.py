"""Who watches: the lease as it is stored, and the lock of this machine."""

import os
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from builders import a_contract
from herorun.core.evidence import Launcher, Nothing, Watch
from herorun.core.ports import Place
from herorun.core.record.lease import Lease
from herorun.sources.watch import read_watch
from herorun.stores.local import LocalStore
from herorun.system.files import lock_file, take_lock
from herorun.system.git import find_repository
from stories import git


@pytest.fixture
def root(tmp_path: Path) -> Path:
    git(tmp_path, "init", "-q", "--template=")
    (tmp_path / "root" / "_herorun").mkdir(parents=True)
    return tmp_path / "root"


def read(root: Path) -> Watch:
    place = Place("tiny", "", str(root), "")
    return read_watch(
        find_repository(root.parent),
        a_contract(),
        place,
        LocalStore(),
        Launcher("dri@here", "Dri"),
        Nothing("it lies in the output root"),
    )


def test_a_fresh_root_is_nobodys(root: Path) -> None:
    assert read(root) == Watch()
    assert read(root / "not-there") == Watch()


@pytest.mark.parametrize(
    ("data", "watch"),
    [
        (Lease("eve@there", "other").bytes(), Watch(False, "eve@there", "other")),
        (Lease("dri@here", "tiny", clone="/").bytes(), Watch(False, "dri@here", "tiny", "/")),
        (Lease("dri@here", "tiny", clone="/deleted").bytes(), Watch(False, "dri@here", "tiny")),
        (b"nonsense", Watch(False, "")),
    ],
)
def test_a_lease_names_its_owner(root: Path, data: bytes, watch: Watch) -> None:
    file = root / "_herorun" / "lease.json"
    file.write_bytes(data)
    renewed_at = datetime(2026, 1, 1, 12, tzinfo=UTC)
    os.utime(file, (renewed_at.timestamp(),) * 2)
    assert read(root) == replace(watch, lease_renewed=renewed_at if watch.lease_slug else None)


def test_a_lease_that_cannot_be_read_is_not_nobodys(root: Path) -> None:
    (root / "_herorun" / "lease.json").mkdir()
    with pytest.raises(OSError, match="directory"):
        read(root)


def test_a_babysitter_of_this_machine_is_seen_by_its_lock(root: Path) -> None:
    lock = lock_file(find_repository(root.parent).common, "tiny", "babysitter")
    held_lock = take_lock(lock, 0.0, "a test")
    assert read(root).here
    os.close(held_lock)
    assert not read(root).here
