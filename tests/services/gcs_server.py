"""Cloud Storage on loopback: gcp-storage-emulator, grown by what it leaves out and the tests are
about.

That is paging, preconditions, the end of a file, generations in answers, threads, faults and a log
of requests.
Usage: `python gcs_server.py`; it prints its port.
"""

import logging
import re
import sys
import tempfile
import threading
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from functools import partial
from http import HTTPStatus
from http.server import ThreadingHTTPServer
from itertools import islice
from typing import Any

from control import ROAD, Control, Fault
from gcp_storage_emulator import server
from gcp_storage_emulator.handlers import buckets, objects
from gcp_storage_emulator.storage import Storage

PAGE = 1000  # as Google's own
_writing = threading.Lock()


def list_objects(request: Any, response: Any, storage: Any, *_: Any) -> None:
    """One page, folders and objects counted together, without a look at what it leaves out."""
    bucket = request.params["bucket_name"]
    if bucket not in storage.buckets:
        response.status = HTTPStatus.NOT_FOUND
        return
    objects_held = storage.objects.get(bucket, {})
    query = {word: values[0] for word, values in request.query.items()}
    rows = list(islice(_rows(sorted(objects_held), query), PAGE + 1))
    page: dict[str, Any] = {"kind": "storage#objects"}
    for part, name in rows[:PAGE]:
        page.setdefault(part, []).append(name if part == "prefixes" else objects_held[name])
    if rows[PAGE:]:
        page["nextPageToken"] = rows[PAGE - 1][1]
    response.json(page)


def _rows(names: list[str], query: dict[str, str]) -> Iterator[tuple[str, str]]:
    """(prefixes or items, name) in order, after the page token."""
    prefix, delimiter = query.get("prefix", ""), query.get("delimiter")
    token = query.get("pageToken")
    at = bisect_left(names, prefix)
    if token:
        at = _after(
            names, token, bool(delimiter) and token != prefix and token.endswith(str(delimiter))
        )
    while at < len(names) and names[at].startswith(prefix):
        head, separator, _ = (
            names[at][len(prefix) :].partition(delimiter) if delimiter else ("", "", "")
        )
        name = f"{prefix}{head}{separator}" if separator else names[at]
        yield ("prefixes" if separator else "items"), name
        at = _after(names, name, bool(separator))


def _after(names: list[str], name: str, folder: bool) -> int:
    """Past an object, or past everything in a folder."""
    return bisect_left(names, f"{name}\U0010ffff") if folder else bisect_right(names, name)


def insert_object(request: Any, response: Any, storage: Any, *_: Any) -> None:
    """With `ifGenerationMatch`; 0 means that there must be nothing yet."""
    request._data = request.data or b""
    bucket = request.params["bucket_name"]
    name = request.query["name"][0] if "name" in request.query else request.data["meta"]["name"]
    generation = request.query.get("ifGenerationMatch", [None])[0]
    with _writing:
        stored_object = storage.objects.get(bucket, {}).get(name)
        if (
            generation is not None
            and (stored_object["generation"] if stored_object else "0") != generation
        ):
            response.status = HTTPStatus.PRECONDITION_FAILED
            message = "At least one of the pre-conditions you specified did not hold."
            response.json({"error": {"code": 412, "message": message}})
            return
        objects.insert(request, response, storage)


def got(request: Any, response: Any, storage: Any, *_: Any) -> None:
    """The content with its generation and the end of it by Range, or one generation's facts."""
    bucket, name = request.params["bucket_name"], request.params["object_id"]
    stored_object = storage.objects.get(bucket, {}).get(name)
    pinned_generation = request.query.get("generation", [None])[0]
    if pinned_generation is not None and (
        stored_object is None or stored_object["generation"] != pinned_generation
    ):
        response.status = HTTPStatus.NOT_FOUND
        return
    objects.get(request, response, storage)
    is_sent = response.status in (HTTPStatus.OK, HTTPStatus.PARTIAL_CONTENT)
    if is_sent and request.query.get("alt") == ["media"]:
        response["x-goog-generation"] = stored_object["generation"]
        _cut(request.get_header("range", ""), response)


def _cut(range_header: str, response: Any) -> None:
    match = re.fullmatch(r"bytes=-(\d+)", range_header or "")
    if range_header and not response._content:
        response.status = HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE
    elif match:
        response.status = HTTPStatus.PARTIAL_CONTENT
        response._content = response._content[-int(match[1]) :]


OURS = {objects.ls: list_objects, objects.insert: insert_object, objects.get: got}


class Handler(server.RequestHandler):
    protocol_version = "HTTP/1.1"
    # an answer in one packet: else the client's own acknowledgement delays each by 40 ms
    wbufsize = -1
    disable_nagle_algorithm = True
    control: Control

    def handle_one_request(self) -> None:
        try:
            super().handle_one_request()
        except (BrokenPipeError, ConnectionResetError):  # the client gave up
            self.close_connection = True

    def _do(self, method: str) -> None:
        if self.path.startswith(ROAD):
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            self._send(200, self.control.answer(self.path, body))
            return
        fault = self.control.meet(method, self.path)
        if fault and not fault.after:
            self._fail(fault)
            return
        if fault:  # the answer is lost
            self.wfile, real = _Nowhere(), self.wfile
            server.Router(self).handle(method)
            self.wfile = real
            self._send(fault.status, fault.body.encode())
            return
        server.Router(self).handle(method)

    def _fail(self, fault: Fault) -> None:
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self._send(fault.status, fault.body.encode())

    def _send(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self) -> None:
        self._do("GET")

    def do_POST(self) -> None:
        self._do("POST")

    def do_DELETE(self) -> None:
        self._do("DELETE")


class _Nowhere:
    def write(self, data: bytes) -> int:
        return len(data)

    def flush(self) -> None: ...


def acts(storage: Storage) -> dict[str, Any]:
    def bucket(facts: dict[str, Any]) -> None:
        """Make a bucket; its further facts, such as location and lifecycle, are told."""
        name = facts.pop("name")
        buckets.create_bucket(name, storage)
        storage.buckets[name].update(facts)

    def fill(facts: dict[str, Any]) -> int:
        """Write files in this process: `{"bucket": .., "files": {name: text}}`."""
        bucket_objects = storage.objects.setdefault(facts["bucket"], {})
        for name, text in facts["files"].items():
            data = text.encode()
            resource = objects._make_object_resource(
                "", facts["bucket"], name, "text/plain", str(len(data))
            )
            bucket_objects[name] = objects._checksums(data, resource)
            storage._store._files[f"{facts['bucket']}/{name}"] = data
        return len(bucket_objects)

    return {"bucket": bucket, "fill": fill}


def main() -> None:
    logging.disable(logging.CRITICAL)
    server.HANDLERS = tuple(
        (road, {method: OURS.get(act, act) for method, act in handler.items()})
        for road, handler in server.HANDLERS
    )
    storage = Storage(use_memory_fs=True, data_dir=tempfile.gettempdir())
    storage._write_config_to_file = lambda: None  # it writes all of it at every change
    Handler.control = Control(acts(storage))
    serving = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, storage))
    print(serving.server_port, flush=True)
    threading.Thread(target=serving.serve_forever, daemon=True).start()
    sys.stdin.read()  # until whoever started it is gone


if __name__ == "__main__":
    main()
