"""S3 on loopback: moto's server behind a layer of faults and a log of requests.

Usage: `python s3_server.py`; it prints its port.
"""

import logging
import sys
import threading
from collections.abc import Callable, Iterable
from typing import Any

from control import ROAD, Control, Fault
from moto.s3.models import s3_backends
from moto.server import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import WSGIRequestHandler, make_server

ACCOUNT, PARTITION = "123456789012", "aws"
Answer = Iterable[bytes]


class Faulty:
    """moto's application, and in front of it what a test has asked for."""

    def __init__(self, app: Any, control: Control) -> None:
        self.app, self.control = app, control
        # S3 decides a conditional write in one step; moto looks, then writes.
        self.writing = threading.Lock()

    def __call__(self, environ: dict[str, Any], start: Callable[..., Any]) -> Answer:
        path, query = environ["PATH_INFO"], environ.get("QUERY_STRING", "")
        if path.startswith(ROAD):
            body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
            return _send(start, 200, self.control.answer(path, body))
        path_text = path.encode("latin-1").decode("utf-8", "replace")
        fault = self.control.meet(environ["REQUEST_METHOD"], f"{path_text}?{query}")
        if fault and not fault.after:
            environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
            return _answer_fault(start, fault, environ["REQUEST_METHOD"])
        if fault:  # the answer is lost
            with self.writing:
                list(self.app(environ, lambda *_: None))
            return _answer_fault(start, fault, environ["REQUEST_METHOD"])
        if environ["REQUEST_METHOD"] == "PUT":
            with self.writing:
                return self.app(environ, start)
        return self.app(environ, start)


def _answer_fault(start: Callable[..., Any], fault: Fault, method: str) -> Answer:
    return _send(start, fault.status, b"" if method == "HEAD" else fault.body.encode())


def _send(start: Callable[..., Any], status: int, body: bytes) -> Answer:
    start(
        f"{status} Told", [("Content-Length", str(len(body))), ("Content-Type", "application/xml")]
    )
    return [body]


class Quiet(WSGIRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # an answer in one packet
    disable_nagle_algorithm = True

    def handle_expect_100(self) -> bool:
        go_on = super().handle_expect_100()
        self.wfile.flush()
        return go_on

    def log(self, *_: Any) -> None: ...


def acts() -> dict[str, Any]:
    store = s3_backends[ACCOUNT][PARTITION]

    def bucket(facts: dict[str, Any]) -> None:
        """Make a bucket; its further facts, as boto3 takes them, are told."""
        name = facts["name"]
        store.create_bucket(name, facts.get("location", "us-east-1"))
        if "lifecycle" in facts:
            store.put_bucket_lifecycle(name, facts["lifecycle"])
        if "versioning" in facts:
            store.put_bucket_versioning(name, facts["versioning"])

    def fill(facts: dict[str, Any]) -> int:
        """Write files in this process: `{"bucket": .., "files": {name: text}}`."""
        for name, text in facts["files"].items():
            store.put_object(facts["bucket"], name, text.encode())
        return len(facts["files"])

    return {"bucket": bucket, "fill": fill}


def main() -> None:
    logging.disable(logging.CRITICAL)
    app = Faulty(DomainDispatcherApplication(create_backend_app), Control(acts()))
    serving = make_server("127.0.0.1", 0, app, threaded=True, request_handler=Quiet)
    print(serving.server_port, flush=True)
    threading.Thread(target=serving.serve_forever, daemon=True).start()
    sys.stdin.read()  # until whoever started it is gone


if __name__ == "__main__":
    main()
