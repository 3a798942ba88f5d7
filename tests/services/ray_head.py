"""A Ray head on loopback, alone: private ports, a short temporary folder, no usage statistics. Runs
in `.venv-services`.

`ray_head.py FOLDER PORT [--warm]` (0: any) writes `address.json` into FOLDER once jobs are taken,
and ends with everything that it started as soon as nobody holds a shared lock on `FOLDER/users`, or
at SIGTERM. The kernel frees such locks, so it outlives nobody; FOLDER goes with it. With `--warm`
its workers are forks: see `ray_workers.py`. Standard library alone.
"""

import contextlib
import ctypes
import fcntl
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.request import urlopen

SUBREAPER, DEATH_SIGNAL = 36, 1  # of prctl(2)
START = 60.0  # seconds
ATTEMPTS = 3  # Ray waits 30 s for the node that it starts, at times too little on a busy machine
QUIET = {
    "RAY_GRACEFUL_SHUTDOWN_DRAIN_TIMEOUT_S": "0",  # 30 s by default
    "RAY_USAGE_STATS_ENABLED": "0",
    # no worker before a job asks for one: each imports Ray, and no test uses what stands ready
    "RAY_enable_worker_prestart": "0",
    "RAY_prestart_worker_first_driver": "0",
    "RAY_DISABLE_IMPORT_WARNING": "1",
    "PYTHONPATH": "",
    # each job starts Python anew, and compiling Ray takes longer than running it
    "PYTHONDONTWRITEBYTECODE": "",
}


def main() -> None:
    folder, port = Path(sys.argv[1]), int(sys.argv[2])
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    prctl(SUBREAPER, 1)
    session = folder / "s"
    users = os.open(folder / "users", os.O_RDWR | os.O_CREAT, 0o600)
    for _ in range(ATTEMPTS):
        if (head := _start(session, port or free(), folder / "head.log")) is not None:
            break
    else:
        sys.exit(f"ray did not start: see {folder / 'head.log'}")
    try:
        while head.poll() is None and not _alone(users):
            time.sleep(0.2)
        if head.poll() is not None:
            sys.exit(f"ray ended with exit code {head.returncode}")
    finally:
        with contextlib.suppress(FileNotFoundError):
            (folder / "address.json").unlink()
        end(head)
        shutil.rmtree(folder, ignore_errors=True)


def _start(session: Path, port: int, log: Path) -> "subprocess.Popen[bytes] | None":
    """The head, once it takes jobs; nothing remains of one that did not come to that."""
    ports = {
        name: free() for name in ("port", "ray-client-server-port", "dashboard-agent-listen-port")
    }
    options = {
        **ports,
        "node-ip-address": "127.0.0.1",
        "include-dashboard": "true",
        "dashboard-host": "127.0.0.1",
        "dashboard-port": port,
        "min-worker-port": 0,
        "max-worker-port": 0,
        "num-cpus": 4,  # none is asked for by a job of the tests, but for one that asks for more
        "object-store-memory": 80_000_000,
        "temp-dir": session,
    }
    head = ray_start(["--head"], options, log, _forking(log.parent))
    url = f"http://127.0.0.1:{port}"
    until = time.monotonic() + START
    agent = f"http://127.0.0.1:{ports['dashboard-agent-listen-port']}"
    while not _takes_jobs(url, agent):
        if head.poll() is not None or time.monotonic() > until:
            end(head)
            shutil.rmtree(session, ignore_errors=True)
            return None
        time.sleep(0.1)
    aside = log.with_name("address.new")
    aside.write_text(
        json.dumps({"url": url, "pid": os.getpid(), "gcs": f"127.0.0.1:{ports['port']}"})
    )
    aside.rename(log.with_name("address.json"))
    return head


def _forking(folder: Path) -> list[str]:
    """The program that begins each worker, where it is not Ray's own."""
    if "--warm" not in sys.argv:
        return []
    program = folder / "setup_worker.py"
    program.unlink(missing_ok=True)
    program.symlink_to(Path(__file__).with_name("ray_workers.py"))
    return [str(program)]


def ray_start(
    flags: list[str], options: dict[str, object], log: Path, setup_worker: Sequence[str] = ()
) -> "subprocess.Popen[bytes]":
    """Not by the script `ray`, which names the environment by the path where it was made."""
    argv = [
        sys.executable,
        str(Path(__file__).with_name("ray_start.py")),
        *setup_worker,
        "start",
        *flags,
        "--block",
        "--disable-usage-stats",
        "--include-log-monitor=false",  # it prints to drivers what their workers print
    ]
    with log.open("ab") as log_file:
        return subprocess.Popen(
            [*argv, *(f"--{name}={value}" for name, value in options.items())],
            env={**os.environ, **QUIET},
            stdin=subprocess.DEVNULL,
            stdout=log_file,
            stderr=log_file,
            start_new_session=True,
            preexec_fn=lambda: prctl(DEATH_SIGNAL, signal.SIGTERM),
        )


def _takes_jobs(url: str, agent: str) -> bool:
    """Whether its parts answer, and it has been there for a second, so that a test may speak of a
    moment ago. The agent comes last on a busy machine, and a job is refused ten seconds later.
    """
    try:
        with (
            urlopen(f"{agent}/api/local_raylet_healthz", timeout=5),
            urlopen(f"{url}/api/jobs/", timeout=5),
            urlopen(f"{url}/api/v0/nodes?detail=1", timeout=5) as nodes,
        ):
            (node,) = json.load(nodes)["data"]["result"]["result"]
        return time.time() - node["start_time_ms"] / 1000 > 1
    except (HTTPError, URLError, OSError, ValueError, LookupError, TypeError):
        return False


def _alone(users: int) -> bool:
    """Whether nobody uses it any more; then the lock is ours, and kept to our end."""
    try:
        fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def end(head: "subprocess.Popen[bytes]") -> None:
    """The head by its process, then whatever it left behind: all of it has become our child."""
    head.terminate()
    with contextlib.suppress(subprocess.TimeoutExpired):
        head.wait(8)
    until = time.monotonic() + 10
    while (remaining := descendants(os.getpid())) and time.monotonic() < until:
        for pid in remaining:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        time.sleep(0.05)


def descendants(root: int) -> list[int]:
    parents = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError, ValueError, IndexError):
                parents[int(name)] = int(
                    Path(f"/proc/{name}/stat").read_text().rpartition(")")[2].split()[1]
                )
    pids, new = set[int](), {root}
    while new := {pid for pid, parent in parents.items() if parent in new and pid not in pids}:
        pids |= new
    return sorted(pids)


def free() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def prctl(what: int, value: int) -> None:
    ctypes.CDLL(None, use_errno=True).prctl(what, value, 0, 0, 0)


if __name__ == "__main__":
    main()
