"""A git remote over HTTP on loopback: git's own `http-backend` behind the standard library, with
faults to order.
"""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread
from urllib.parse import urlsplit

_CGI_VARIABLES = {
    "Content-Type": "CONTENT_TYPE",
    "Content-Encoding": "HTTP_CONTENT_ENCODING",
    "Git-Protocol": "GIT_PROTOCOL",
}


class GitServer(ThreadingHTTPServer):
    """Serves every repository below a folder. `fault` is a status code, "hang", "malformed", "cut"
    or nothing.
    """

    daemon_threads = True

    def __init__(self, root: Path) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.root = root
        self.fault: int | str | None = None
        self.requests: list[str] = []
        self.over = Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    server: GitServer

    def do_GET(self) -> None:
        self._answer(b"")

    def do_POST(self) -> None:
        self._answer(self._body())

    def log_message(self, format: str, *args: object) -> None:
        pass

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        data = b""
        while size := int(self.rfile.readline(), 16):
            data += self.rfile.read(size)
            self.rfile.readline()
        return data

    def _answer(self, body: bytes) -> None:
        self.server.requests.append(f"{self.command} {self.path}")
        match self.server.fault:
            case None:
                self._send(*self._backend(body))
            case "hang":
                self.server.over.wait(30)
            case "malformed":
                kind = "application/x-git-upload-pack-advertisement"
                self._send(200, {"Content-Type": kind}, b"001e# service=git-upload-pack\nzzzz")
            case "cut":
                status, headers, data = self._backend(body)
                self._send(status, headers, data, data[: len(data) // 2])
            case int(status):
                login = {"WWW-Authenticate": 'Basic realm="git"'} if status == 401 else {}
                self._send(status, login, b"")

    def _send(
        self, status: int, headers: dict[str, str], data: bytes, really: bytes | None = None
    ) -> None:
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(data))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data if really is None else really)

    def _backend(self, body: bytes) -> tuple[int, dict[str, str], bytes]:
        url = urlsplit(self.path)
        env = {
            "PATH": os.environ["PATH"],
            "GIT_PROJECT_ROOT": str(self.server.root),
            "GIT_HTTP_EXPORT_ALL": "1",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": "safe.directory",
            "GIT_CONFIG_VALUE_0": "*",
            "REQUEST_METHOD": self.command,
            "PATH_INFO": url.path,
            "QUERY_STRING": url.query,
            "CONTENT_LENGTH": str(len(body)),
            **{
                variable: self.headers[name]
                for name, variable in _CGI_VARIABLES.items()
                if name in self.headers
            },
        }
        process = subprocess.run(
            ["git", "http-backend"], env=env, input=body, capture_output=True, check=True
        )
        head, _, data = process.stdout.partition(b"\r\n\r\n")
        headers = dict(line.split(": ", 1) for line in head.decode().split("\r\n"))
        return int(headers.pop("Status", "200").split()[0]), headers, data


@contextmanager
def serving(root: Path) -> Iterator[GitServer]:
    server = GitServer(root)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server
    finally:
        server.over.set()
        server.shutdown()
        server.server_close()
        thread.join(10)
