"""A real kubelet with containerd and runc next to the shared control plane: pods are containers.

It needs root and cgroup v1, which is what a kubelet of 1.20 knows, and leaves the machine as it
was: see `k8s_kubelet.sh`.
"""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any
from urllib.error import HTTPError

import pytest

from services.fixtures import skip_or_fail
from services.k8s import START, Control, Space, _with_current, programs
from services.k8s_image import NAME, write_image
from services.slurm import HERE, _alone, _free_ports

NODE = "localhost"  # by which the API server reaches it for logs
CGROUPS = Path("/sys/fs/cgroup")
_COUNTER = count(1)


def missing() -> str:
    """Why no kubelet can run here; empty where one can."""
    lacking = [name for name in ("containerd", "runc", "ctr", "unshare") if not shutil.which(name)]
    if os.geteuid() != 0:
        return "a kubelet needs root"
    if lacking:
        return f"{lacking[0]} is not on the PATH: `.ci/install` installs it"
    if not (CGROUPS / "memory" / "cgroup.clone_children").exists():
        return "a kubelet of 1.20 needs cgroup v1, and this machine has none"
    return ""


@dataclass
class Kubelet:
    control: Control
    folder: Path
    image: str  # by its digest
    process: subprocess.Popen[bytes]

    name = NODE

    def processes(self, word: str) -> list[int]:
        """Those of this node with `word` in their command line, in any of its containers."""
        group = (self.folder / "cgroup").read_text().strip()
        files = (CGROUPS / "pids" / group).rglob("cgroup.procs")
        numbers = [int(line) for path in files for line in path.read_text().split()]
        return [number for number in numbers if word in _command(number)]

    def kill_kubelet(self) -> None:
        """It alone: containerd and the containers go on."""
        (number,) = self.processes("--container-runtime-endpoint")
        os.kill(number, signal.SIGKILL)


def _command(number: int) -> str:
    try:
        return Path(f"/proc/{number}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except (OSError, UnicodeDecodeError):
        return ""


@pytest.fixture
def kubelet(control_plane: Control) -> Iterator[Kubelet]:
    """One at a time: its name is the machine's."""
    if why := missing():
        skip_or_fail(why)
    before = machine()
    with _alone(control_plane.folder / "kubelet"), standing(control_plane) as up:
        yield up
    assert machine() == before


@pytest.fixture
def real_space(control_plane: Control, kubelet: Kubelet) -> Space:
    """A namespace whose pods are containers."""
    name = control_plane.namespace(f"real-{os.getpid()}-{next(_COUNTER)}")
    return Space(control_plane, name, kubelet, control_plane.kubeconfig())


@contextmanager
def standing(control: Control) -> Iterator[Kubelet]:
    """What it leaves when this process is killed, `k8s_down.sh` takes away."""
    folder = Path(tempfile.mkdtemp(prefix="kubelet-", dir=control.folder))
    digest = write_image(folder / "image.tar")
    config = _with_current(control.kubeconfig("admin"))
    argv = [HERE / "k8s_kubelet.sh", folder, programs() / "kubelet", config, str(_free_ports())]
    with (folder / "up.log").open("wb") as log:
        process = subprocess.Popen(
            argv,
            env={**os.environ, "HERORUN_CLUSTER": str(control.folder)},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    own = control.folder / "run" / "kubelet.pid"
    own.write_text(str(process.pid))
    try:
        _await(control, folder, process)
        yield Kubelet(control, folder, f"{NAME}@{digest}", process)
    finally:
        process.kill()
        process.wait(30)
        own.unlink()
        remove_cgroups(folder)
        with suppress(HTTPError):
            control.ask("DELETE", f"/api/v1/nodes/{NODE}")


def _await(control: Control, folder: Path, process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + START
    while not _is_ready(control):
        if time.monotonic() > until or process.poll() is not None:
            logs = (folder / f"{name}.log" for name in ("up", "containerd", "import", "kubelet"))
            text = "\n".join(path.read_text()[-2000:] for path in logs if path.exists())
            pytest.fail(f"the kubelet's node was not ready:\n{text}")
        time.sleep(0.1)


def _is_ready(control: Control) -> bool:
    try:
        node = control.ask("GET", f"/api/v1/nodes/{NODE}")
    except HTTPError:
        return False
    conditions = {each["type"]: each["status"] for each in node["status"]["conditions"]}
    return conditions.get("Ready") == "True" and not node["spec"].get("taints")


def remove_cgroups(folder: Path) -> None:
    """The kernel lets go of them a moment after their last process."""
    group = (folder / "cgroup").read_text().strip()
    until = time.monotonic() + 30
    while leftovers := [top / group for top in CGROUPS.iterdir() if (top / group).exists()]:
        assert time.monotonic() < until, leftovers
        for top in leftovers:
            for path, _, _ in os.walk(top, topdown=False):
                with suppress(OSError):
                    os.rmdir(path)
        time.sleep(0.05)


def machine() -> dict[str, Any]:
    """What a kubelet would change, if it could."""
    names = ("vm/overcommit_memory", "vm/panic_on_oom", "kernel/panic", "kernel/panic_on_oops")
    names += ("net/ipv4/ip_forward", "kernel/keys/root_maxkeys", "kernel/keys/root_maxbytes")
    folders = ("lib/kubelet", "lib/cni", "lib/containerd", "log/pods", "log/containers")
    mounts = Path("/proc/self/mountinfo").read_text().splitlines()
    return {
        "sysctls": {name: (Path("/proc/sys") / name).read_text() for name in names},
        "folders": [name for name in folders if (Path("/var") / name).exists()],
        "run": [name for name in ("containerd", "netns", "runc") if (Path("/run") / name).exists()],
        "mounts": [line.split()[4] for line in mounts if "kubelet" in line or "containerd" in line],
        "cgroups": sorted(str(path) for path in CGROUPS.glob("*/*k8s*")),
    }
