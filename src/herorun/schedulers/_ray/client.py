"""One request to a Ray dashboard: bounded in time and size, sent directly to its address, never
redirected.

Neither proxies nor Ray's own variables count (`RAY_ADDRESS` would even overrule an address that was
given).
"""

import http.client
import json
import ssl
import time
from collections.abc import Mapping
from dataclasses import field
from typing import Any
from urllib.parse import urlsplit

from herorun.core.durations import format_span
from herorun.core.errors import CouldNotLook
from herorun.core.lazy_dataclass import dataclass
from herorun.core.redaction.scrub import scrub

MAX_ANSWER_BYTES = 64 * 2**20  # bytes of an answer
BLOCK = 2**16


@dataclass(frozen=True)
class RayResponse:
    status: int
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode("utf-8", "replace")

    @property
    def complaint(self) -> str:
        """The last line, where Ray's tracebacks say what went wrong."""
        lines = [line.strip() for line in self.text.splitlines() if line.strip(" .")]
        return scrub(lines[-1])[:300] if lines else f"HTTP {self.status}"


@dataclass(frozen=True)
class Dashboard:
    """The dashboard of one cluster."""

    address: str  # http(s)://host:port
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)  # a token among them
    timeout: float = 20.0  # seconds, the most that a request may take in all
    ca_file: str | None = None

    def ask(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        *,
        ok: tuple[int, ...] = (200,),
        timeout: float | None = None,
        end: int | None = None,
    ) -> RayResponse:
        """The answer, if its status is one of `ok`; otherwise `CouldNotLook`. With `end`, only its
        last bytes are kept.
        """
        within = timeout or self.timeout
        try:
            answer = self._ask(method, path, body, within, end)
        except ssl.SSLError as error:
            raise CouldNotLook(
                f"{self.address}: TLS failed ({error.reason or error}): {_TLS}"
            ) from None
        except TimeoutError:
            raise CouldNotLook(
                f"{self.address} gave no answer within {format_span(within)}."
            ) from None
        except (http.client.HTTPException, ValueError) as error:
            raise CouldNotLook(
                f"{self.address} does not speak HTTP as Ray's dashboard does "
                f"({error or type(error).__name__})."
            ) from None
        except OSError as error:
            raise CouldNotLook(
                f"{self.address} cannot be reached: {error.strerror or error}. Is the Ray head "
                "up, and is this its dashboard?"
            ) from None
        if answer.status not in ok:
            raise CouldNotLook(self._refusal(answer, f"{method} {path.partition('?')[0]}"))
        return answer

    def read(self, path: str) -> Any:
        """The JSON of a GET."""
        return self.json(self.ask("GET", path), path)

    def json(self, answer: RayResponse, path: str) -> Any:
        try:
            return json.loads(answer.body)
        except ValueError:
            raise CouldNotLook(
                f"{self.address}{path.partition('?')[0]} answered with something other than JSON: "
                "[scheduler] address must be that of Ray's dashboard, without a login page before "
                "it."
            ) from None

    def _ask(
        self, method: str, path: str, body: bytes | None, within: float, end: int | None
    ) -> RayResponse:
        until = time.monotonic() + within
        link = self._link(within)
        kind = "application/json" if body and body[:1] == b"{" else "application/octet-stream"
        try:
            link.request(
                method, path, body, {**({"Content-Type": kind} if body else {}), **self.headers}
            )
            answer = link.getresponse()
            return RayResponse(answer.status, _read_body(answer, link, until, end))
        finally:
            link.close()

    def _link(self, within: float) -> http.client.HTTPConnection:
        parts = urlsplit(self.address)
        host = parts.hostname or ""
        if parts.scheme == "https":
            return http.client.HTTPSConnection(
                host, parts.port, timeout=within, context=self._trust()
            )
        return http.client.HTTPConnection(host, parts.port, timeout=within)

    def _trust(self) -> ssl.SSLContext:
        try:
            if self.ca_file:  # OpenSSL may lose the reason why it could not open a file
                with open(self.ca_file, "rb"):
                    pass
            return ssl.create_default_context(cafile=self.ca_file)
        except OSError as error:
            why = "no PEM file" if isinstance(error, ssl.SSLError) else error.strerror
            raise CouldNotLook(
                f"[scheduler] ca_file {self.ca_file} cannot be used: {why}."
            ) from None

    def _refusal(self, answer: RayResponse, question: str) -> str:
        if answer.status in (401, 403):
            return (
                f"{self.address} refuses us (HTTP {answer.status}): set [scheduler] token_env or "
                "header_env to what it takes."
            )
        if 300 <= answer.status < 400:
            return (
                f"{self.address} sends us elsewhere (HTTP {answer.status}): name the dashboard's "
                "own address."
            )
        if answer.status in (404, 405):
            return (
                f"{self.address} has no Ray Jobs API ({question}: HTTP {answer.status}): is this "
                "Ray's dashboard?"
            )
        detail = f", {answer.complaint}" if answer.text.strip(" .\n") else ""
        return f"{self.address} could not answer {question}: HTTP {answer.status}{detail}"


_TLS = (
    "name the cluster's certificate authority as [scheduler] ca_file, or correct the certificate."
)


def _read_body(
    answer: http.client.HTTPResponse,
    link: http.client.HTTPConnection,
    until: float,
    end: int | None,
) -> bytes:
    """All of it in time: the time-out of a socket counts again with each byte."""
    data, size = bytearray(), 0
    while block := answer.read1(BLOCK):
        data += block
        size += len(block)
        if end is not None and len(data) > end:
            del data[: len(data) - end]
        if size > MAX_ANSWER_BYTES and end is None:
            raise ValueError(f"an answer of more than {MAX_ANSWER_BYTES // 2**20} MiB")
        seconds = until - time.monotonic()
        if seconds <= 0:
            raise TimeoutError
        if link.sock:
            link.sock.settimeout(seconds)
    return bytes(data)
