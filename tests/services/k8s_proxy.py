"""A road to the API server that fails: it refuses, is silent, cuts answers short, or loses the
answer of a request that went through.
"""

import json
import ssl
import time
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request

from services.k8s import Control, answer_to

# As the server itself words them: overloaded, without its store, and too late.
STATUS = {
    "429": ("TooManyRequests", "Too many requests, please try again later."),
    "500": ("InternalError", "Internal error occurred: etcdserver: leader changed"),
    "503": ("ServiceUnavailable", "apiserver not ready: not now"),
    "504": ("Timeout", "Timeout: request did not complete within requested timeout 34s"),
}
FAULTS = ("busy", "unavailable", "cut")  # of every request; `silent` takes as long as one waits


class _Server(ThreadingHTTPServer):
    request_queue_size = 128  # kubectl asks for all groups of the API at once


class Proxy:
    def __init__(self, control: Control) -> None:
        self.control, self.fault = control, ""
        self.requests: list[str] = []  # methods and paths
        self._server = _Server(("127.0.0.1", 0), _handler(self))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        certs = control.folder / "certs"
        context.load_cert_chain(certs / "apiserver.crt", certs / "apiserver.key")
        self._server.socket = context.wrap_socket(
            self._server.socket, server_side=True, do_handshake_on_connect=False
        )
        Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"https://127.0.0.1:{self._server.server_port}"

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()


def _status(code: str) -> bytes:
    reason, message = STATUS[code]
    status = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure"}
    return json.dumps({**status, "message": message, "reason": reason, "code": int(code)}).encode()


def _handler(proxy: Proxy) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def _pass(self) -> None:
            proxy.requests.append(f"{self.command} {self.path.partition('?')[0]}")
            fault, writes = proxy.fault, self.command != "GET" and "/jobs" in self.path
            writes = writes and "dryRun" not in self.path
            if fault in ("busy", "unavailable") or (fault == "refused-writes" and writes):
                self._answer(503 if fault == "unavailable" else 500, b"not now", "text/plain")
                return
            if fault in STATUS:
                self._answer(int(fault), _status(fault), "application/json")
                return
            if fault == "silent":
                time.sleep(30)
                return
            status, data, kind = self._forward()
            if fault == "lost-answers" and writes:
                return
            self._answer(status, data[: len(data) // 2] if fault == "cut" else data, kind)

        def _chunks(self) -> Iterator[bytes]:
            yield self.rfile.read(int(self.headers.get("Content-Length") or 0))
            if self.headers.get("Transfer-Encoding") == "chunked":
                while size := int(self.rfile.readline(), 16):
                    yield self.rfile.read(size)
                    self.rfile.readline()

        def _forward(self) -> tuple[int, bytes, str]:
            names = ("Authorization", "Content-Type", "Accept")
            headers = {name: self.headers[name] for name in names if self.headers[name]}
            headers.setdefault("Content-Type", "application/json")  # urllib would say it is a form
            body = b"".join(self._chunks())
            request = Request(
                proxy.control.url + self.path, body or None, headers, method=self.command
            )
            try:
                with answer_to(request) as answer:
                    return answer.status, answer.read(), answer.headers["Content-Type"]
            except HTTPError as error:
                return error.code, error.read(), error.headers["Content-Type"]

        def _answer(self, status: int, data: bytes, kind: str) -> None:
            with suppress(OSError):  # it has hung up
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

        do_GET = do_POST = do_PATCH = _pass

        def log_message(self, *_: Any) -> None:
            pass

    return Handler
