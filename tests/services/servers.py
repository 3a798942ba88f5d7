"""Start and stop the loopback servers, each in a process of its own from `.venv-services`."""

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

HERE = Path(__file__).parent
PYTHON = HERE.parents[1] / ".venv-services" / "bin" / "python"
REQUIRE = "HERORUN_REQUIRE_SERVICES"  # 1 where a missing service must fail and not skip


class Service:
    """One running server, and the words that it takes under `/_control/`."""

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}"

    def tell(self, word: str, **facts: Any) -> Any:
        request = Request(f"{self.url}/_control/{word}", json.dumps(facts).encode(), method="POST")
        with urlopen(request, timeout=60) as answer:
            return json.load(answer)

    def requests(self) -> list[str]:
        """Every request since the last time that somebody asked, as `GET /path?query`, unquoted."""
        return [str(line) for line in self.tell("requests")]

    def fault(self, **facts: Any) -> None:
        """See `control.Fault`."""
        self.tell("fault", **facts)

    def heal(self) -> None:
        self.tell("heal")


def is_installed() -> bool:
    """Whether `make services` went through to its end."""
    return (PYTHON.parents[1] / ".installed").exists()


@contextmanager
def running(name: str) -> Iterator[Service]:
    """`gcs_server` or `s3_server`, on a port of its own; it ends with us, however we end."""
    env = {
        **os.environ,
        "PYTHONPATH": "",
        "AWS_ACCESS_KEY_ID": "testing",
        "AWS_SECRET_ACCESS_KEY": "testing",
    }
    argv = [str(PYTHON), str(HERE / f"{name}.py")]
    process = subprocess.Popen(
        argv, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        port = process.stdout.readline()
        if not port:
            raise RuntimeError(f"{name} did not start: it ended with exit code {process.wait(10)}")
        yield Service(int(port))
    finally:
        process.kill()
        process.communicate(timeout=10)
