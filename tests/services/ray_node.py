"""A further node of a Ray cluster on loopback, which a test may kill. Runs in `.venv-services`.

`ray_node.py FOLDER GCS RESOURCE` joins the cluster with one of RESOURCE, writes the process id of
its raylet to `FOLDER/raylet`, and ends with everything that it started at SIGTERM. Standard library
alone.
"""

import os
import signal
import sys
import time
from pathlib import Path

from ray_head import DEATH_SIGNAL, START, SUBREAPER, descendants, end, free, prctl, ray_start


def main() -> None:
    folder, gcs, resource = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    prctl(SUBREAPER, 1)
    prctl(DEATH_SIGNAL, signal.SIGTERM)
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
    node = ray_start([], options, folder / "node.log")
    try:
        until = time.monotonic() + START
        while not (raylets := [pid for pid in descendants(os.getpid()) if _is_raylet(pid)]):
            if node.poll() is not None or time.monotonic() > until:
                sys.exit("the node did not start")
            time.sleep(0.1)
        (folder / "raylet").write_text(str(raylets[0]))
        node.wait()
        signal.pause()
    finally:
        end(node)


def _is_raylet(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip() == "raylet"
    except OSError:
        return False


if __name__ == "__main__":
    main()
