"""A container registry on loopback that answers as the OCI distribution specification says, reading
only.
"""

import base64
import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit

INDEX = "application/vnd.oci.image.index.v1+json"
MANIFEST = "application/vnd.oci.image.manifest.v1+json"
CONFIG = "application/vnd.oci.image.config.v1+json"
REVISION = "org.opencontainers.image.revision"


class ImageRegistry(ThreadingHTTPServer):
    """`login`: None (open), "token" (anyone gets one), "password" (ada:hunter2 gets one) or
    "basic".

    `fault` is a status code, "hang", "malformed", "cut", "list" or nothing.
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.content: dict[str, tuple[str, bytes]] = {}  # path below the repository -> (type, data)
        self.login: str | None = None
        self.fault: int | str | None = None
        self.requests: list[str] = []
        self.over = Event()

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.server_address[1]}"

    def put(self, kind: str, content: Any, tag: str = "") -> str:
        """Store a manifest or a config, by its digest and by a tag."""
        data = json.dumps(content).encode()
        digest = "sha256:" + hashlib.sha256(data).hexdigest()
        folder = "blobs" if kind == CONFIG else "manifests"
        self.content[f"{folder}/{digest}"] = (kind, data)
        if tag:
            self.content[f"{folder}/{tag}"] = (kind, data)
        return digest

    def image(self, labels: Mapping[str, str] | None, tag: str = "", **manifest: Any) -> str:
        """An image with these labels; its digest."""
        config = self.put(
            CONFIG, {"os": "linux", "config": {"Labels": labels} if labels is not None else {}}
        )
        layer = {"schemaVersion": 2, "mediaType": MANIFEST, "layers": []}
        return self.put(
            MANIFEST, {**layer, "config": {"mediaType": CONFIG, "digest": config}, **manifest}, tag
        )

    def index(self, images: Mapping[str, str], tag: str = "") -> str:
        """An index of `os/architecture` -> digest."""
        rows = [
            {
                "mediaType": MANIFEST,
                "digest": digest,
                "platform": dict(zip(("os", "architecture"), name.split("/"), strict=True)),
            }
            for name, digest in images.items()
        ]
        return self.put(INDEX, {"schemaVersion": 2, "mediaType": INDEX, "manifests": rows}, tag)


class _Handler(BaseHTTPRequestHandler):
    server: ImageRegistry

    def do_GET(self) -> None:
        server, url = self.server, urlsplit(self.path)
        server.requests.append(url.path)
        name, _, path = url.path.removeprefix("/v2/").partition("/train/")
        if url.path == "/token":
            self._token(parse_qs(url.query))
        elif server.login and not self._is_allowed():
            self._send(401, b"{}", {"WWW-Authenticate": self._challenge()})
        elif server.fault:
            self._fail(server.fault)
        elif name != "lab" or path not in server.content:
            self._send(404, b'{"errors": [{"code": "MANIFEST_UNKNOWN"}]}', {})
        else:
            kind, data = server.content[path]
            self._send(200, data, {"Content-Type": kind})

    def log_message(self, format: str, *args: object) -> None:
        pass

    def _fail(self, fault: int | str) -> None:
        match fault:
            case "hang":
                self.server.over.wait(30)
            case "malformed":
                self._send(200, b"<html>a login page</html>", {})
            case "list":
                self._send(200, b"[]", {})
            case "cut":
                self._send(200, b"{", {"Content-Length": "100"})
            case int(status):
                self._send(status, b"{}", {})

    def _challenge(self) -> str:
        if self.server.login == "basic":
            return 'Basic realm="registry"'
        return (
            "Bearer "
            f'realm="http://{self.server.host}/token",service="here",scope="repository:lab/train:pull"'
        )

    def _is_allowed(self) -> bool:
        authorization = self.headers.get("Authorization", "")
        return (
            self._ada(authorization)
            if self.server.login == "basic"
            else authorization == "Bearer let-me-in"
        )

    def _ada(self, authorization: str) -> bool:
        return authorization == "Basic " + base64.b64encode(b"ada:hunter2").decode()

    def _token(self, query: Mapping[str, list[str]]) -> None:
        authorization = self.headers.get("Authorization", "")
        right = query == {"service": ["here"], "scope": ["repository:lab/train:pull"]}
        if right and (
            self._ada(authorization) or (self.server.login == "token" and not authorization)
        ):
            self._send(200, b'{"token": "let-me-in"}', {})
        else:
            self._send(401, b"{}", {})

    def _send(self, status: int, data: bytes, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(data)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)


@contextmanager
def serving_images() -> Iterator[ImageRegistry]:
    server = ImageRegistry()
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server
    finally:
        server.over.set()
        server.shutdown()
        server.server_close()
        thread.join(10)
