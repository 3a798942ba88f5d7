"""The local store: the contract suite, then what is special about files."""

import errno
import os
import socket
import stat
import subprocess
import sys
from pathlib import Path

import pytest

import herorun
from herorun.core.errors import WrongUse
from herorun.core.ports import Place, Store
from herorun.stores import _posix_files, _ssh_remote, local
from herorun.system.disk_reserve import keep_reserve
from herorun.system.files import hold_lock, node
from ports.store_suite import StoreBench, StoreSuite

SRC = str(Path(herorun.__file__).parents[1])


def connect() -> Store:
    return local.connect(local.Options(), Place("tiny", "state", "/data/tiny", "."))


class Bench:
    def __init__(self, root: Path) -> None:
        self.root = str(root)

    def connect(self) -> Store:
        return connect()

    def cut_off(self, path: str) -> None:
        os.symlink(os.path.basename(path), path)  # a loop: there, and not to be opened


class TestLocal(StoreSuite):
    @pytest.fixture(params=["out", "with space/ünï\nline"])
    def bench(self, request: pytest.FixtureRequest, tmp_path: Path) -> StoreBench:
        return Bench(tmp_path / request.param)


def test_a_name_that_is_not_utf_8_survives(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"caf\xe9")).mkdir()
    (name,) = connect().names(str(tmp_path))
    assert os.fsencode(name) == b"caf\xe9/"
    connect().create(f"{tmp_path}/{name}a", b"1")
    assert connect().read(f"{tmp_path}/{name}a") == b"1"


def test_a_linked_folder_is_a_folder_and_a_dangling_link_is_none(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "linked").symlink_to("real")
    (tmp_path / "dangling").symlink_to("gone")
    (tmp_path / "loop").symlink_to("loop")
    assert connect().names(str(tmp_path)) == ("dangling", "linked/", "loop", "real/")


def test_a_parent_that_is_a_file_is_not_taken_for_an_existing_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    for path in ("file/lease", "file/deeper/lease"):
        with pytest.raises(NotADirectoryError):
            connect().create(f"{tmp_path}/{path}", b"")


@pytest.mark.parametrize("kind", ["pipe", "socket", "folder"])
def test_only_regular_files_are_read(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # a socket's path must be short
    if kind == "pipe":
        os.mkfifo("odd")
    elif kind == "folder":
        os.mkdir("odd")
    else:
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind("odd")
    with pytest.raises(OSError, match=r"regular file|directory"):
        connect().read(str(tmp_path / "odd"))


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has files of the kernel here")
@pytest.mark.parametrize("path", ["/proc/kmsg", "/proc/self/mem", "/dev/zero"])
def test_no_file_of_the_kernel_is_read(tmp_path: Path, path: str) -> None:
    (tmp_path / "odd").symlink_to(path)
    with pytest.raises(OSError, match=r"kernel|regular.*file|permitted"):
        connect().read(str(tmp_path / "odd"))
    with pytest.raises(OSError, match=r"kernel|regular.*file|permitted"):
        connect().end(str(tmp_path / "odd"), 100)


@pytest.mark.parametrize("path", ["", "a\0b", "gs://bucket/x", "file:///data"])
def test_what_is_no_local_path_is_wrong_use(path: str) -> None:
    with pytest.raises(WrongUse, match=r"local.*paths"):
        connect().read(path)


def test_swap_keeps_the_mode(tmp_path: Path) -> None:
    file = tmp_path / "lease"
    file.write_bytes(b"one")
    file.chmod(0o640)
    assert connect().swap(str(file), b"one", b"two")
    assert stat.S_IMODE(file.stat().st_mode) == 0o640


def test_a_lock_that_is_never_freed_is_a_time_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_posix_files, "LOCK_WAIT", 0.1)
    file = tmp_path / "lease"
    file.write_bytes(b"one")
    with hold_lock(tmp_path / ".lease.lock"), pytest.raises(TimeoutError):
        connect().swap(str(file), b"one", b"two")
    assert file.read_bytes() == b"one"


COUNT = """
import sys
from herorun.stores.local import LocalStore
store, path = LocalStore(), sys.argv[1]
for _ in range(20):
    while not store.swap(path, before := store.read(path), b"%d" % (int(before) + 1)):
        pass
"""


@pytest.mark.thorough
def test_no_swap_is_lost_between_processes(tmp_path: Path) -> None:
    path = str(tmp_path / "count")
    connect().create(path, b"0")
    processes = [
        subprocess.Popen([sys.executable, "-c", COUNT, path], env={**os.environ, "PYTHONPATH": SRC})
        for _ in range(3)
    ]
    assert [process.wait(60) for process in processes] == [0, 0, 0]
    assert connect().read(path) == b"60"


FULL = """
import resource, signal, sys
from herorun.stores.local import LocalStore
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
try:
    LocalStore().probe(sys.argv[1])
except OSError as error:
    sys.exit(0 if "cannot write" in str(error) and type(error) is OSError else 2)
sys.exit(1)
"""


@pytest.mark.thorough
def test_a_probe_that_fails_names_the_step_and_leaves_nothing(tmp_path: Path) -> None:
    root = tmp_path / "root"
    process = subprocess.run(
        [sys.executable, "-c", FULL, str(root)], env={**os.environ, "PYTHONPATH": SRC}, timeout=60
    )
    assert process.returncode == 0
    assert list(root.iterdir()) == []


def test_a_root_that_cannot_be_made_fails_the_probe(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    for root in (tmp_path / "file", tmp_path / "file" / "root"):
        with pytest.raises(OSError, match="cannot make") as error:
            connect().probe(str(root))
        assert type(error.value) is OSError


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_root_fails_the_probe(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(OSError, match="cannot make"):
        connect().probe(str(tmp_path))


def test_a_file_of_gigabytes_is_not_read_whole(tmp_path: Path) -> None:
    """As a job could write it in place of a checkpoint's metadata: a hole takes no room there."""
    file = tmp_path / "metadata.json"
    with file.open("wb") as writer:
        writer.truncate(8 << 30)
    with pytest.raises(OSError, match="larger than 256 MiB"):
        connect().read(str(file))
    with pytest.raises(OSError, match="larger than 256 MiB"):
        _ssh_remote.read(str(file))
    assert connect().end(str(file), 4) == b"\0\0\0\0"


def test_a_swap_sweeps_what_a_killed_writer_left(tmp_path: Path) -> None:
    lease, store = tmp_path / "lease.json", connect()
    store.create(str(lease), b"1")
    process = subprocess.Popen([sys.executable, "-c", "pass"])
    process.wait()
    leftover = tmp_path / f".lease.json.{node()}-{process.pid}-deadbeef.new"
    leftover.write_bytes(b"half")
    assert store.swap(str(lease), b"1", b"2")
    assert not leftover.exists() and lease.read_bytes() == b"2"


def test_a_swap_on_a_full_disk_is_given_the_reserve(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lease, reserve, store = tmp_path / "lease.json", tmp_path / "reserve", connect()
    store.create(str(lease), b"1")
    keep_reserve(reserve)
    sync = os.fsync

    def full_while_reserved(descriptor: int) -> None:
        if reserve.exists():
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", full_while_reserved)
    assert store.swap(str(lease), b"1", b"2")
    assert lease.read_bytes() == b"2" and not reserve.exists()
