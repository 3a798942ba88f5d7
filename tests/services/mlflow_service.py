"""One MLflow server for all workers of a test session, and what a test's trainer does there."""

import fcntl
import hashlib
import json
import os
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

from services.ray_service import hold_lock
from services.servers import HERE, PYTHON, Service

START = 120.0  # seconds: several sessions may start theirs at once
API = "/api/2.0/mlflow/"


class MlflowService(Service):
    """The server; each test has an experiment of its own there."""

    def call(self, name: str, body: Mapping[str, Any]) -> dict[str, Any]:
        request = Request(
            f"{self.url}{API}{name}",
            json.dumps(body).encode(),
            {"Content-Type": "application/json"},
            method="POST",
        )
        with urlopen(request, timeout=60) as answer:
            document: dict[str, Any] = json.load(answer)
            return document


class MlflowExperiment:
    """What a trainer logs by REST. The experiment is there once something is logged to it."""

    def __init__(self, service: MlflowService, name: str) -> None:
        self.service, self.name = service, name
        self.id = ""
        self.time = int(time.time() * 1000) - 3_600_000  # of the next row

    def begin(self, tag: str = "tiny", name: str = "tiny", status: str = "RUNNING") -> str:
        """A run with our tag: its id."""
        if not self.id:
            experiment = self.service.call("experiments/create", {"name": self.name})
            self.id = experiment["experiment_id"]
        tags = [{"key": "herorun.run", "value": tag}] if tag else []
        fields = {"experiment_id": self.id, "run_name": name, "start_time": self.time, "tags": tags}
        run: str = self.service.call("runs/create", fields)["run"]["info"]["run_id"]
        if status != "RUNNING":
            self.end(run, status)
        return run

    def end(self, run: str, status: str = "FINISHED") -> None:
        self.service.call("runs/update", {"run_id": run, "status": status, "end_time": self.time})

    def delete(self, run: str) -> None:
        self.service.call("runs/delete", {"run_id": run})

    def log(self, run: str, *rows: tuple[int, Mapping[str, Any]]) -> None:
        """Each row a millisecond after the one before, in batches as large as MLflow takes them."""
        points = []
        for step, values in rows:
            self.time += 1
            points += [
                {"key": name, "value": value, "timestamp": self.time, "step": step}
                for name, value in values.items()
            ]
        for first in range(0, len(points), 1000):
            batch = {"run_id": run, "metrics": points[first : first + 1000]}
            self.service.call("runs/log-batch", batch)


def mlflow_installed() -> bool:
    return bool(list(PYTHON.parents[1].glob("lib/python*/site-packages/mlflow")))


@contextmanager
def shared_mlflow(session: str) -> Iterator[MlflowService]:
    """Whoever asks first starts it, and it ends when nobody holds it any more."""
    short = hashlib.sha256(session.encode()).hexdigest()[:8]
    folder = Path(tempfile.gettempdir()) / f"hm-{short}"
    turn = hold_lock(folder / "starting", fcntl.LOCK_EX)
    try:
        users = hold_lock(folder / "users", fcntl.LOCK_SH)
        if not (folder / "address.json").exists():
            _start(folder)
        port = json.loads((folder / "address.json").read_text())["port"]
    finally:
        os.close(turn)
    try:
        yield MlflowService(port)
    finally:
        os.close(users)


def _start(folder: Path) -> None:
    argv = [str(PYTHON), str(HERE / "mlflow_server.py"), str(folder)]
    with (folder / "server.log").open("ab") as log:
        process = subprocess.Popen(
            argv,
            env={**os.environ, "PYTHONPATH": ""},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    until = time.monotonic() + START
    while not (folder / "address.json").exists():
        if process.poll() is not None or time.monotonic() > until:
            process.kill()
            log_end = (folder / "server.log").read_text()[-2000:]
            raise RuntimeError(f"mlflow_server did not start:\n{log_end}")
        time.sleep(0.05)
