"""The W&B server of `wandb_server.py`, started and stopped, and steered by HTTP."""

import json
import os
import select
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

from services.wandb_server import KEY

HERE = Path(__file__).parent


@dataclass(frozen=True)
class WandbService:
    """One server on loopback."""

    url: str

    def put(self, runs: Mapping[str, Any], hidden_names: tuple[str, ...] = ()) -> None:
        """These runs by entity/project/id, and no others."""
        self._call("PUT", "/_state", {"runs": runs, "hidden": hidden_names})

    def runs(self) -> dict[str, dict[str, Any]]:
        runs: dict[str, dict[str, Any]] = self._call("GET", "/_state")["runs"]
        return runs

    def queries(self) -> list[str]:
        """The GraphQL operations since the last `heal`."""
        requests: list[str] = self._call("GET", "/_state")["asked"]
        return requests

    def fault(self, **fault: Any) -> None:
        """`status`, `body`, `message`, `sleep`: what each request gets, or only those of the
        operation `op`.
        """
        self._call("PUT", "/_fault", fault)

    def heal(self) -> None:
        self._call("DELETE", "/_fault")

    def _call(self, method: str, path: str, body: Any = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        with urlopen(Request(self.url + path, data, method=method), timeout=10) as answer:
            return json.load(answer)


@contextmanager
def running() -> Iterator[WandbService]:
    argv = [sys.executable, str(HERE / "wandb_server.py")]
    process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None
        yield WandbService(f"http://127.0.0.1:{int(process.stdout.readline())}")
    finally:
        process.kill()
        process.communicate()


class Reader:
    """One process that asks the real client, for many questions: starting it again takes a second
    each time.
    """

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._process = subprocess.Popen(
            [sys.executable, str(HERE / "wandb_reader.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "WANDB_API_KEY": KEY},
            text=True,
        )

    def __call__(self, question: Mapping[str, Any], seconds: float) -> Mapping[str, Any]:
        assert self._process.stdin is not None and self._process.stdout is not None
        with self._turn:
            self._process.stdin.write(json.dumps(question) + "\n")
            self._process.stdin.flush()
            ready, _, _ = select.select([self._process.stdout], [], [], seconds)
            assert ready, f"W&B's client gave no answer within {seconds} s"
            answer: Mapping[str, Any] = json.loads(self._process.stdout.readline())
        return answer

    def stop(self) -> None:
        self._process.communicate(timeout=20)


@contextmanager
def reading() -> Iterator[Reader]:
    reader = Reader()
    try:
        yield reader
    finally:
        reader.stop()
