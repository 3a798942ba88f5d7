"""A small HTTP server for pages: read-only, with limits, and with an optional token."""

import base64
import hmac
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socket import AF_INET, AF_INET6, SHUT_RDWR
from threading import Lock, Timer
from typing import Any, TypeAlias
from urllib.parse import unquote, urlsplit

from herorun.system.host import LOOPBACK

Pages: TypeAlias = Callable[[str], tuple[int, str]]  # a path's status and its page

MAX_REQUESTS = 32  # requests at once
# of them from one address, except loopback, where a proxy may serve many clients
MAX_PEER_REQUESTS = 8
ASKING = 5.0  # seconds for a client to send its request, in any number of parts
TAKING = 30.0  # seconds for a client to receive the answer
HTML, PLAIN = "text/html; charset=utf-8", "text/plain; charset=utf-8"
PLAINLY = {401, 421, 500}  # the server's own answers, as plain text
# in addition to the page's own policy: no frames, and no type sniffing
HEADERS = {
    "Content-Security-Policy": "frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}


def page_server(
    pages: Pages, host: str, port: int, token: str = "", kind: str = HTML
) -> ThreadingHTTPServer:
    """A server that listens, and answers once `serve_forever` is called. Without a token everyone
    who can connect may read. `kind` is the media type of the pages.
    """
    return _server_class(host)((host, port), _handler(pages, host in LOOPBACK, token, kind))


class ConnectionSlots:
    """Limits the requests at once: so many in all, and fewer from one address."""

    def __init__(self) -> None:
        self._lock, self._held_by = Lock(), Counter[str]()

    def take(self, peer: str) -> bool:
        with self._lock:
            most = MAX_REQUESTS if peer in LOOPBACK else MAX_PEER_REQUESTS
            free = self._held_by.total() < MAX_REQUESTS and self._held_by[peer] < most
            self._held_by[peer] += free
            return free

    def give_back(self, peer: str) -> None:
        with self._lock:
            self._held_by[peer] -= 1
            self._held_by += Counter()  # drops addresses without requests


def _server_class(host: str) -> type[ThreadingHTTPServer]:
    class PageServer(ThreadingHTTPServer):
        """Limits the concurrent requests; further connections are closed."""

        address_family = AF_INET6 if ":" in host else AF_INET
        daemon_threads = True
        slots = ConnectionSlots()

        def process_request(self, request: Any, client_address: Any) -> None:
            if self.slots.take(client_address[0]):
                super().process_request(request, client_address)
            else:
                self.shutdown_request(request)

        def process_request_thread(self, request: Any, client_address: Any) -> None:
            try:
                super().process_request_thread(request, client_address)
            finally:
                self.slots.give_back(client_address[0])

        def handle_error(self, request: Any, client_address: Any) -> None:
            """Ignores errors of a connection, such as a client that disconnects."""

    return PageServer


class PageHandler(BaseHTTPRequestHandler):
    """What it answers with is set by `_handler`."""

    pages: Pages
    loopback: bool
    token: str
    kind: str
    timeout = TAKING
    server_version, sys_version = "herorun", ""

    def setup(self) -> None:
        """Set a deadline: a client that sends single bytes would keep its slot forever."""
        super().setup()
        self.hang_up_timer = Timer(ASKING, self._hang_up)
        self.hang_up_timer.daemon = True
        self.hang_up_timer.start()

    def finish(self) -> None:
        self.hang_up_timer.cancel()
        super().finish()

    def parse_request(self) -> bool:
        """All headers have arrived, or the client has stopped sending."""
        try:
            return super().parse_request()
        finally:
            self.hang_up_timer.cancel()

    def _hang_up(self) -> None:
        with suppress(OSError):
            self.connection.shutdown(SHUT_RDWR)

    def do_GET(self) -> None:
        self._answer(*self._page())

    def do_HEAD(self) -> None:
        self._answer(*self._page())

    def _page(self) -> tuple[int, str]:
        if self.loopback and not _is_local(self.headers.get("Host", "")):
            return 421, "This server is reached by the name localhost alone."
        if self.token and not has_token(self.headers.get("Authorization", ""), self.token):
            return 401, "The password is the token; the name may be anything."
        try:
            return type(self).pages(unquote(urlsplit(self.path).path))
        except Exception as error:  # our own fault: closing the connection would explain nothing
            return 500, f"The page cannot be made: {type(error).__name__}."

    def _answer(self, status: int, page: str) -> None:
        body = page.encode("utf-8", "backslashreplace")
        self.send_response(status)
        for name, value in HEADERS.items():
            self.send_header(name, value)
        self.send_header("Content-Type", PLAIN if status in PLAINLY else self.kind)
        if status == 401:
            self.send_header("WWW-Authenticate", 'Basic realm="herorun", charset="UTF-8"')
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Logs nothing: requests are not recorded."""


def _handler(pages: Pages, loopback: bool, token: str, kind: str) -> type[BaseHTTPRequestHandler]:
    members = {"pages": staticmethod(pages), "loopback": loopback, "token": token, "kind": kind}
    return type("Handler", (PageHandler,), members)


def _is_local(host: str) -> bool:
    """Guards against DNS rebinding: a foreign name that resolves here is still in `Host`."""
    name = host.rpartition(":")[0] if host.rpartition(":")[2].isdecimal() else host
    return name.strip("[]") in LOOPBACK


def has_token(authorization: str, token: str) -> bool:
    """Whether the header has the token, as a browser's password or a bearer token."""
    scheme, _, credentials = authorization.partition(" ")
    if scheme.lower() == "basic":
        try:
            credentials = (
                base64.b64decode(credentials.encode(), validate=True).decode().partition(":")[2]
            )
        except ValueError:
            return False
    elif scheme.lower() != "bearer":
        return False
    return hmac.compare_digest(credentials.encode(), token.encode(errors="surrogateescape"))
