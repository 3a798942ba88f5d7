"""A real Prometheus and a real Alertmanager on loopback, from Debian's packages."""

import json
import os
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from shutil import which
from typing import Any
from urllib.error import URLError
from urllib.parse import urlencode
from urllib.request import urlopen

import pytest
import yaml

from services.servers import REQUIRE

PROGRAMS = ("prometheus", "promtool", "prometheus-alertmanager")
MAX_SECONDS = 60.0  # seconds until one answers


def must_be_installed() -> None:
    """Skip where they are not, and fail where no test may be left out."""
    missing = [name for name in PROGRAMS if which(name) is None]
    if missing:
        message = f"not installed: {', '.join(missing)} (.ci/packages)"
        pytest.fail(message) if os.environ.get(REQUIRE) else pytest.skip(message)


@dataclass(frozen=True)
class Prometheus:
    url: str

    def ask(self, path: str, **query: str) -> Any:
        """One answer of its HTTP API; an error of it is an exception."""
        with urlopen(f"{self.url}/api/v1/{path}?{urlencode(query)}", timeout=10) as answer:
            return json.load(answer)["data"]

    def query(self, expression: str) -> list[dict[str, Any]]:
        result: list[dict[str, Any]] = self.ask("query", query=expression)["result"]
        return result


@contextmanager
def prometheus(home: Path, target: str, rules: Path, webhook: str) -> Iterator[Prometheus]:
    """Both of them: `target` is scraped each second, and what fires is posted to `webhook`."""
    alertmanager, server = _free_port(), _free_port()
    receiver = {"name": "us", "webhook_configs": [{"url": webhook}]}
    route = {"receiver": "us", "group_by": ["alertname"], "group_wait": "0s"}
    routes = _write(home / "alertmanager.yml", {"route": route, "receivers": [receiver]})
    config = {
        "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
        "rule_files": [str(rules)],
        "alerting": {
            "alertmanagers": [{"static_configs": [{"targets": [f"127.0.0.1:{alertmanager}"]}]}]
        },
        "scrape_configs": [{"job_name": "herorun", "static_configs": [{"targets": [target]}]}],
    }
    with (
        _running(
            "prometheus-alertmanager",
            f"--config.file={routes}",
            f"--storage.path={home / 'alerts'}",
            f"--web.listen-address=127.0.0.1:{alertmanager}",
            "--cluster.listen-address=",
            ready=f"http://127.0.0.1:{alertmanager}/-/ready",
        ),
        _running(
            "prometheus",
            f"--config.file={_write(home / 'prometheus.yml', config)}",
            f"--storage.tsdb.path={home / 'series'}",
            f"--web.listen-address=127.0.0.1:{server}",
            ready=f"http://127.0.0.1:{server}/-/ready",
        ),
    ):
        yield Prometheus(f"http://127.0.0.1:{server}")


def _write(path: Path, document: Mapping[str, Any]) -> Path:
    path.write_text(yaml.safe_dump(document))
    return path


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port: int = probe.getsockname()[1]
    return port


@contextmanager
def _running(*argv: str, ready: str) -> Iterator[None]:
    process = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        end = time.monotonic() + MAX_SECONDS
        while not _answers(ready):
            if process.poll() is not None or time.monotonic() > end:
                process.kill()
                raise RuntimeError(f"{argv[0]} did not start: {process.communicate()[1][-2000:]}")
            time.sleep(0.1)
        yield
    finally:
        process.kill()
        process.communicate(timeout=10)


def _answers(url: str) -> bool:
    try:
        with urlopen(url, timeout=1) as answer:
            return bool(answer.status == 200)
    except (URLError, OSError):
        return False
