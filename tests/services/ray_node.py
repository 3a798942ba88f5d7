"""A further node of a Ray cluster on loopback, which a test may kill. Runs in `.venv-services`.

`ray_node.py FOLDER GCS RESOURCE` joins the cluster with one of RESOURCE, writes the process id of
its raylet to `FOLDER/raylet`, and ends with everything that it started at SIGTERM. Standard library
alone.
"""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from ray_head import ATTEMPTS, DEATH_SIGNAL, SUBREAPER, descendants, end, free, prctl, ray_start


def main() -> None:
    folder, gcs, resource = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    prctl(SUBREAPER, 1)
    prctl(DEATH_SIGNAL, signal.SIGTERM)
    for _ in range(ATTEMPTS):
        log = folder / "node.log"
        log.unlink(missing_ok=True)
        node = _start(gcs, resource, log)
        try:
            _write_raylet(node, folder / "raylet")
            node.wait()
            if "Ray runtime started" in log.read_text(errors="replace"):
                signal.pause()
        finally:
            end(node)
    sys.exit("the node did not start")


def _start(gcs: str, resource: str, log: Path) -> "subprocess.Popen[bytes]":
    options: dict[str, object] = {
        "address": gcs,
        "node-ip-address": "127.0.0.1",
        "dashboard-agent-listen-port": free(),
        "min-worker-port": 0,
        "max-worker-port": 0,
        "num-cpus": 1,
        "resources": f'{{"{resource}": 1}}',
        "object-store-memory": 80_000_000,
    }
    return ray_start([], options, log)


def _write_raylet(node: "subprocess.Popen[bytes]", path: Path) -> None:
    """As soon as there is one, until the node's command has ended."""
    while node.poll() is None:
        if raylets := [pid for pid in descendants(os.getpid()) if _is_raylet(pid)]:
            path.write_text(str(raylets[0]))
            return
        time.sleep(0.1)


def _is_raylet(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip() == "raylet"
    except OSError:
        return False


if __name__ == "__main__":
    main()
