"""A GitHub on loopback: npm's stateful emulator behind a proxy of ours that adds the faults and
limits it lacks.

Every request and answer is kept; where GitHub's own description of its API is installed, each is
held against it.
"""

import http.client
import json
import os
import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from shutil import which
from typing import Any

import pytest

from services.servers import REQUIRE

HERE = Path(__file__).parent
NODE = HERE.parents[1] / ".node-services"
EMULATE = NODE / "node_modules" / "emulate" / "dist" / "api.js"
ENTERPRISE = "/api/v3"  # where GitHub Enterprise answers
MAX_BODY = 65_536  # characters of a body, by GitHub's own refusal
TOKENS = {"token-of-dri": "dri", "token-of-other": "other"}
REPO, ANOTHER = "dri/runs", "dri/others"
APP, INSTALLATION, SLUG = 12345, 100, "herorun"


def _seed() -> dict[str, Any]:
    app = {
        "app_id": APP,
        "slug": SLUG,
        "name": SLUG,
        "permissions": {"issues": "write", "metadata": "read"},
        "installations": [
            {"installation_id": INSTALLATION, "account": "dri", "repository_selection": "all"}
        ],
    }
    return {
        "tokens": {token: {"login": login, "scopes": ["repo"]} for token, login in TOKENS.items()},
        "github": {
            "users": [{"login": login} for login in TOKENS.values()],
            "repos": [{"owner": "dri", "name": name} for name in ("runs", "others")],
            "apps": [app],
        },
    }


@dataclass
class Fault:
    """What to answer instead to requests whose method and path hold these words. Status 0 drops the
    connection.
    """

    method: str = ""
    url: str = ""
    status: int = 0
    body: Any = None  # text is sent as it is, anything else as JSON
    headers: Mapping[str, str] = field(default_factory=dict)
    after: bool = False  # carried out first, and the answer lost
    times: int = 1  # -1: until it is taken back
    skip: int = 0  # how many such requests pass before it


@dataclass(frozen=True)
class Exchange:
    """One request and what was answered."""

    method: str
    path: str
    request_body: Any
    status: int
    answer: Any  # None where it is no JSON
    ours: bool  # answered by a fault


class GitHub:
    """The proxy, and the process behind it."""

    def __init__(self, server: "Server", process: subprocess.Popen[str], key: str) -> None:
        self._server, self._process = server, process
        self.url = server.url
        self.key = key  # of the app, as PEM

    @property
    def exchanges(self) -> list[Exchange]:
        return self._server.exchanges

    def exchanges_of(self, method: str, path_part: str = "") -> list[Exchange]:
        return [each for each in self.exchanges if each.method == method and path_part in each.path]

    def fault(self, **facts: Any) -> None:
        self._server.faults.append(Fault(**facts))

    def heal(self) -> None:
        self._server.faults.clear()

    def reset(self) -> None:
        """As on the first day: no issues, no faults, nothing asked."""
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write("reset\n")
        self._process.stdin.flush()
        self._process.stdout.readline()
        self.heal()
        self.exchanges.clear()

    def ask(self, method: str, path: str, body: Any = None, token: str = "token-of-dri") -> Any:
        """By another client than the one under test, past the proxy."""
        data = None if body is None else json.dumps(body)
        _, _, text = self._server.forward(method, path, data, {"Authorization": f"token {token}"})
        return json.loads(text) if text else None

    def issues(self) -> list[Any]:
        return list(self.ask("GET", f"/repos/{REPO}/issues?state=all&per_page=100"))

    def comments(self, number: int = 1) -> list[Any]:
        return list(self.ask("GET", f"/repos/{REPO}/issues/{number}/comments?per_page=100"))

    def read_messages(self, number: int = 1) -> str:
        """The page and its comments as they read, titles included."""
        page = self.ask("GET", f"/repos/{REPO}/issues/{number}")
        bodies = (comment["body"] for comment in self.comments(number))
        return "\n\n".join((page["title"], page["body"] or "", *bodies))


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Proxy)
        self.url = f"http://localhost:{self.server_port}"
        self.behind = 0  # the emulator's port
        self.faults: list[Fault] = []
        self.exchanges: list[Exchange] = []
        self.lock = threading.Lock()

    def forward(
        self, method: str, path: str, body: str | None, headers: Mapping[str, str]
    ) -> tuple[Any, ...]:
        if body and path.endswith(
            "/access_tokens"
        ):  # GitHub takes no permissions for all of them, PyGithub sends none
            body = json.dumps({k: v for k, v in json.loads(body).items() if v != {}})
        connection = http.client.HTTPConnection("127.0.0.1", self.behind, timeout=30)
        try:
            headers_kept = {
                k: v
                for k, v in headers.items()
                if k.lower() not in ("content-length", "connection")
            }
            connection.request(
                method, path, body.encode() if body is not None else None, headers_kept
            )
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read().decode()
        finally:
            connection.close()

    def meet(self, method: str, path: str) -> Fault | None:
        with self.lock:
            matching_faults = [
                f for f in self.faults if f.times and f.method in ("", method) and f.url in path
            ]
            fault = next((f for f in matching_faults if not f.skip), None)
            for each in matching_faults:
                each.skip = max(0, each.skip - 1)
            if fault:
                fault.times -= 1
        return fault


class Proxy(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # else each answer waits 40 ms for an acknowledgement
    server: Server

    def do_GET(self) -> None:
        size = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(size).decode() if size else None
        prefix = ENTERPRISE if self.path.startswith(ENTERPRISE) else ""
        path = self.path.removeprefix(prefix)
        fault = self.server.meet(self.command, path)
        answer: tuple[Any, ...] | None = None
        if fault is None or fault.after:
            refusal = self._refusal(body)
            answer = refusal or self.server.forward(self.command, path, body, dict(self.headers))
        if fault is not None:
            answer = (fault.status, dict(fault.headers), fault.body)
        assert answer is not None
        self._answer(path, body, *answer, prefix=prefix, ours=fault is not None)

    do_POST = do_PATCH = do_DELETE = do_PUT = do_GET

    def _refusal(self, body: str | None) -> tuple[Any, ...] | None:
        """What GitHub refuses and the emulator takes: a token that it does not know, and a body
        that is too long.
        """
        _, _, token = self.headers.get("Authorization", "").partition(" ")
        if not (token in TOKENS or token.startswith("ghs_") or token.count(".") == 2):
            return 401, {}, {"message": "Bad credentials", "documentation_url": self.server.url}
        document = json.loads(body) if body else None
        text = document.get("body") if isinstance(document, dict) else None
        if isinstance(text, str) and len(text) > MAX_BODY:
            why = f"body is too long (maximum is {MAX_BODY} characters)"
            errors = [{"resource": "Issue", "code": "custom", "field": "body", "message": why}]
            return (
                422,
                {},
                {
                    "message": "Validation Failed",
                    "errors": errors,
                    "documentation_url": self.server.url,
                },
            )
        return None

    def _answer(
        self,
        path: str,
        body: str | None,
        status: int,
        headers: dict[str, str],
        answer_body: Any,
        *,
        prefix: str,
        ours: bool,
    ) -> None:
        text = answer_body if isinstance(answer_body, str) else json.dumps(answer_body)
        document = _as_json(text)
        request_document = json.loads(body) if body else None
        self.server.exchanges.append(
            Exchange(self.command, path, request_document, status, document, ours)
        )
        if not status:
            self.close_connection = True
            return
        if prefix and document is not None:
            text = json.dumps(_under(document, self.server.url, prefix))
        headers_kept = {
            k: v
            for k, v in headers.items()
            if k.lower() not in ("content-length", "transfer-encoding", "connection")
        }
        headers_kept.setdefault(
            "Content-Type", "application/json" if document is not None else "text/html"
        )
        if "Link" in headers_kept or "link" in headers_kept:
            name = "Link" if "Link" in headers_kept else "link"
            headers_kept[name] = headers_kept[name].replace(
                self.server.url, self.server.url + prefix
            )
        self.send_response(status)
        for name, value in headers_kept.items():
            self.send_header(name, value)
        data = text.encode() if status != 204 else b""
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        pass


def _as_json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


def _under(document: Any, url: str, prefix: str) -> Any:
    """The same answer as an Enterprise server gives it: the API's own addresses lie under the
    prefix.
    """
    if isinstance(document, list):
        return [_under(each, url, prefix) for each in document]
    if isinstance(document, dict):
        rewritten_links = {}
        for name, value in document.items():
            api = (
                isinstance(value, str)
                and name.endswith("url")
                and name not in ("html_url", "avatar_url")
            )
            rewritten_links[name] = (
                value.replace(url, url + prefix) if api else _under(value, url, prefix)
            )
        return rewritten_links
    return document


def missing() -> str:
    """Why there is no emulator here; empty where there is one."""
    if which("node") is None:
        return "the GitHub emulator needs Node 20 or newer"
    if not (NODE / ".installed").exists():
        return f"the GitHub emulator is not in {NODE}: `make services` installs it"
    return ""


@contextmanager
def running() -> Iterator[GitHub]:
    """Emulator and proxy; both end with us, however we end."""
    server = Server()
    argv = [
        "node",
        str(HERE / "github_emulator.mjs"),
        str(EMULATE),
        json.dumps(_seed()),
        server.url,
    ]
    process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    thread = threading.Thread(
        target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True
    )
    try:
        assert process.stdout is not None
        first_line = process.stdout.readline()
        if not first_line:
            raise RuntimeError(
                f"the emulator did not start: it ended with exit code {process.wait(10)}"
            )
        up = json.loads(first_line)
        server.behind = up["port"]
        thread.start()
        yield GitHub(server, process, up["key"])
    finally:
        if thread.is_alive():
            server.shutdown()
        server.server_close()
        process.kill()
        process.communicate(timeout=10)


@pytest.fixture(scope="session")
def github_server() -> Iterator[GitHub]:
    why = missing()
    if why and os.environ.get(REQUIRE) == "1":
        pytest.fail(why)
    if why:
        pytest.skip(why)
    with running() as github:
        yield github


@pytest.fixture
def github(github_server: GitHub, monkeypatch: pytest.MonkeyPatch) -> Iterator[GitHub]:
    """A GitHub without issues, whose token is in the environment. What went over the wire is held
    against its API.
    """
    from services import github_api

    for name in ("GH_TOKEN", "GITHUB_ACTIONS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("GITHUB_TOKEN", "token-of-dri")
    github_server.reset()
    yield github_server
    wrong = github_api.faults(github_server.exchanges)
    assert not wrong, "\n".join(wrong)
