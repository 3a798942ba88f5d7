"""What a channel talks to, on loopback: a web service with faults to order, and a mail server."""

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager
from email import message_from_bytes, policy
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any

from aiosmtpd.smtp import SMTP


class WebService(ThreadingHTTPServer):
    """Takes JSON by POST, and pings by GET, which have no body. `fault` is a status code, "hang",
    or nothing.
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.fault: int | str | None = None
        self.deliveries: list[tuple[str, Any]] = []  # path, body
        self.request_count = 0
        self.over = Event()

    @property
    def place(self) -> str:
        return f"127.0.0.1:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    server: WebService

    def do_GET(self) -> None:
        self._answer(None)

    def do_POST(self) -> None:
        self._answer(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

    def _answer(self, body: Any) -> None:
        self.server.request_count += 1
        fault = self.server.fault
        if fault == "hang":
            self.server.over.wait(30)
            return
        if fault is None:
            self.server.deliveries.append((self.path, body))
        self.send_response(200 if fault is None else int(fault))
        self.send_header("Content-Type", "text/plain")
        self.end_headers()
        self.wfile.write(b"ok" if fault is None else b"no")

    def log_message(self, *_: Any) -> None:
        pass


@contextmanager
def web_service() -> Iterator[WebService]:
    server = WebService()
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.over.set()
        server.shutdown()
        server.server_close()
        thread.join()


class Mailbox:
    """Mails as they came: subject, recipients and text. `refuses` turns each away."""

    def __init__(self) -> None:
        self.mails: list[tuple[str, list[str], str]] = []
        self.refuses = False

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:
        if self.refuses:
            return "554 not today"
        mail = message_from_bytes(envelope.content, policy=policy.default)
        part = mail.get_body(("plain", "html"))
        self.mails.append(
            (str(mail["Subject"]), envelope.rcpt_tos, part.get_content() if part else "")
        )
        return "250 OK"


@contextmanager
def mail_server() -> Iterator[tuple[Mailbox, str]]:
    """The mailbox, and the server's place."""
    box, loop = Mailbox(), asyncio.new_event_loop()
    thread = Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        listening = loop.create_server(lambda: SMTP(box, loop=loop), "127.0.0.1", 0)
        server = asyncio.run_coroutine_threadsafe(listening, loop).result(10)
        yield box, f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
        loop.call_soon_threadsafe(server.close)
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
