"""One Ray head for all workers of a test session, and heads of their own for tests that end
them.
"""

import contextlib
import fcntl
import hashlib
import json
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

from services.servers import HERE, PYTHON

START = 180.0  # seconds: the first start of all compiles Ray, and one that fails is repeated


@dataclass(frozen=True)
class Head:
    url: str
    pid: int  # of the process that started it, and ends with it
    gcs: str  # where other nodes join it

    def get(self, path: str) -> Any:
        with urlopen(f"{self.url}{path}", timeout=30) as answer:
            return json.load(answer)

    def post(self, path: str, body: dict[str, Any]) -> Any:
        data, headers = json.dumps(body).encode(), {"Content-Type": "application/json"}
        with urlopen(Request(f"{self.url}{path}", data, headers), timeout=30) as answer:
            return json.load(answer)


def ray_installed() -> bool:
    """Whether `make services-ray` went through to its end."""
    return (PYTHON.parents[1] / ".with-ray").exists()


@contextmanager
def shared_head(session: str, env: dict[str, str]) -> Iterator[Head]:
    """The head of a test session: whoever asks first starts it, and it ends when nobody holds it
    any more.
    """
    # the path of a socket has at most 107 bytes
    short = hashlib.sha256(session.encode()).hexdigest()[:8]
    folder = Path(tempfile.gettempdir()) / f"hr-{short}"
    turn = hold_lock(folder / "starting", fcntl.LOCK_EX)
    try:
        users = hold_lock(folder / "users", fcntl.LOCK_SH)
        if not (folder / "address.json").exists():
            _launch(folder, 0, env, "--warm")
        head = _address(folder)
    finally:
        os.close(turn)
    try:
        yield head
    finally:
        os.close(users)


@contextmanager
def own_head(folder: Path, port: int = 0, env: dict[str, str] | None = None) -> Iterator[Head]:
    """A head that a test may end: killed with all that it started when the test is done with it."""
    users = hold_lock(folder / "users", fcntl.LOCK_SH)
    process = _launch(folder, port, env or {})
    try:
        yield _address(folder)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)
        os.close(users)


@contextmanager
def second_node(folder: Path, head: Head, resource: str, env: dict[str, str]) -> Iterator[int]:
    """Another node of its cluster, which alone has the resource: the process id of its raylet, to
    be killed.
    """
    argv = [str(PYTHON), str(HERE / "ray_node.py"), str(folder), head.gcs, resource]
    process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, env={**os.environ, **env})
    try:
        until = time.monotonic() + START
        while not any(resource in node for node in _resources(head)):
            if process.poll() is not None or time.monotonic() > until:
                raise RuntimeError(
                    f"ray_node did not start:\n{(folder / 'node.log').read_text()[-2000:]}"
                )
            time.sleep(0.1)
        yield int((folder / "raylet").read_text())
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)


def _resources(head: Head) -> list[dict[str, float]]:
    """Of each node that lives."""
    nodes = head.get("/api/v0/nodes?detail=1")["data"]["result"]["result"]
    return [node["resources_total"] for node in nodes if node["state"] == "ALIVE"]


def hold_lock(path: Path, kind: int) -> int:
    """A lock that is held until the descriptor is closed. A head that ends takes the folder with
    it: then again.
    """
    while True:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with contextlib.suppress(FileNotFoundError):
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            fcntl.flock(descriptor, kind)
            with contextlib.suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(descriptor), path.stat()):
                    return descriptor
            os.close(descriptor)


def _launch(
    folder: Path, port: int, env: dict[str, str], *options: str
) -> "subprocess.Popen[bytes]":
    argv = [str(PYTHON), str(HERE / "ray_head.py"), str(folder), str(port), *options]
    with (folder / "head.log").open("ab") as log:
        process = subprocess.Popen(
            argv,
            env={**os.environ, **env},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    until = time.monotonic() + START
    while not (folder / "address.json").exists():
        if process.poll() is not None or time.monotonic() > until:
            process.kill()
            raise RuntimeError(
                f"ray_head did not start:\n{(folder / 'head.log').read_text()[-2000:]}"
            )
        time.sleep(0.05)
    return process


def _address(folder: Path) -> Head:
    return Head(**json.loads((folder / "address.json").read_text()))
