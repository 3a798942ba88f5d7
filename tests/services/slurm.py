"""A real Slurm on loopback: one for all processes of a test session, started when a test first asks
for it.
"""

import fcntl
import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import pytest

from services.servers import REQUIRE

HERE = Path(__file__).parent
PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "slurmdbd", "mariadbd", "mariadb-install-db")
PORTS = 16


@dataclass(frozen=True)
class Cluster:
    """Its partitions are `main` and `short`, and for those who break nodes or fill them `breaking`
    and `crowded`.
    """

    folder: Path

    @property
    def conf(self) -> str:
        return str(self.folder / "slurm.conf")

    @property
    def is_confined(self) -> bool:
        """Whether a memory limit is one."""
        return (self.folder / "confined").exists()

    def ask(self, *argv: str, check: bool = True) -> str:
        """What one of Slurm's programs prints."""
        env = {**os.environ, "SLURM_CONF": self.conf, "SLURM_TIME_FORMAT": "%s"}
        process = subprocess.run(
            argv, env=env, capture_output=True, text=True, timeout=60, check=False
        )
        assert process.returncode == 0 or not check, process
        return process.stdout.strip()

    def node(self, partition: str) -> str:
        return self.ask("sinfo", "-h", "-p", partition, "-o", "%N")


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    path = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/sbin"])
    missing = [name for name in PROGRAMS if not shutil.which(name, path=path)]
    if missing:
        why = (
            f"{missing[0]} is not installed: .ci/install brings it, or apt-get install $(cat "
            ".ci/packages)"
        )
        if os.environ.get(REQUIRE) == "1":
            pytest.fail(why)
        pytest.skip(why)
    base = tmp_path_factory.getbasetemp()
    shared_parent = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    with _standing(_folder(shared_parent / "slurm")) as running_cluster:
        yield running_cluster


def _folder(stated_folder: Path) -> Path:
    """The same for the whole session. pytest's own is closed to others, which munge does not put up
    with.
    """
    with _alone(stated_folder):
        if not stated_folder.exists():
            made_folder = Path(tempfile.mkdtemp(prefix="herorun-slurm-"))
            made_folder.chmod(0o755)
            stated_folder.write_text(f"{made_folder}/up")
    return Path(stated_folder.read_text())


@contextmanager
def _standing(folder: Path) -> Iterator[Cluster]:
    """The first to come starts it, the last to leave stops it."""
    user = f"{os.getpid()}"
    with _alone(folder):
        users = folder.with_suffix(".users")
        users.mkdir(exist_ok=True)
        (users / user).touch()
        guard = subprocess.Popen(
            [str(HERE / "slurm_guard.sh"), str(folder), user],
            stdin=subprocess.PIPE,
            start_new_session=True,  # an interrupt at the keyboard is not for it
        )
        if not (folder / "up").exists():
            _start(folder)
    try:
        yield Cluster(folder)
    finally:
        guard.communicate(timeout=60)


def _start(folder: Path) -> None:
    argv = [str(HERE / "slurm_up.sh"), str(folder), str(_free_ports())]
    process = subprocess.run(
        argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, check=False
    )
    if process.returncode:
        pytest.fail(f"Slurm did not start: {process.stderr}")


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """The last to leave removes the folder with the lock: who comes later makes both again."""
    lock = None
    while lock is None:
        folder.parent.mkdir(0o755, exist_ok=True)
        lock = _lock(folder.with_suffix(".lock"))
    with lock:
        yield


def _lock(path: Path) -> IO[str] | None:
    """None if the file was removed meanwhile: then others hold another one."""
    try:
        lock = path.open("a")
        fcntl.flock(lock, fcntl.LOCK_EX)
        if os.path.samestat(os.fstat(lock.fileno()), path.stat()):
            return lock
    except FileNotFoundError:
        return None
    lock.close()
    return None


def _free_ports() -> int:
    """The first of a run of ports that nobody listens on; below those that the kernel hands out by
    itself.
    """
    start = 20000 + os.getpid() % 600 * PORTS
    for first in range(start, 32000, PORTS):
        if all(_is_free(first + offset) for offset in range(PORTS)):
            return first
    pytest.fail("there are no 16 free ports in a row")


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("", port))
        except OSError:
            return False
    return True
