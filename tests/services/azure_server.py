"""Azure Blob Storage on loopback: Azurite behind a layer of faults and a log of requests.

Usage: `python azure_server.py`; it prints its port.
"""

import http.client
import re
import shutil
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from control import ROAD, Control, Fault

HERE = Path(__file__).resolve().parent
NODE = HERE.parents[1] / ".node-services"
MAIN = NODE / "node_modules" / "azurite" / "dist" / "src" / "blob" / "main.js"
HOP = {"connection", "content-length", "keep-alive", "transfer-encoding"}  # of one connection


class Front(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64
    behind = 0  # Azurite's port
    control = Control({})


class Proxy(BaseHTTPRequestHandler):
    server: Front
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # an answer in one packet
    disable_nagle_algorithm = True

    def pass_on(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.path.startswith(ROAD):
            return self.say(200, {}, self.server.control.answer(self.path, body))
        fault = self.server.control.meet(self.command, self.path)
        answer = None if fault and not fault.after else self.forward(body)
        if fault:
            return self.fail(fault)
        assert answer is not None
        return self.say(*answer)

    do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = pass_on

    def forward(self, body: bytes) -> tuple[int, dict[str, str], bytes]:
        """Every header as it came: the signature is about them."""
        link = http.client.HTTPConnection("127.0.0.1", self.server.behind, timeout=60)
        headers = {name: value for name, value in self.headers.items() if name.lower() not in HOP}
        if body or self.command in ("PUT", "POST"):
            headers["Content-Length"] = str(len(body))
        try:
            link.request(self.command, self.path, body, headers)
            answer = link.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read()
        finally:
            link.close()

    def fail(self, fault: Fault) -> None:
        if fault.status < 0:  # hang up
            self.close_connection = True
            return
        code = re.search(r"<Code>(\w+)</Code>", fault.body)
        kind = {"Content-Type": "application/xml", "x-ms-version": "2021-10-04"}
        self.say(
            fault.status,
            {**kind, **({"x-ms-error-code": code[1]} if code else {})},
            fault.body.encode(),
        )

    def say(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.send_response_only(status)
        length = next((v for n, v in headers.items() if n.lower() == "content-length"), "")
        for name, value in headers.items():
            if name.lower() not in HOP:
                self.send_header(name, value)
        bare = self.command == "HEAD"
        if status not in (204, 304):
            self.send_header("Content-Length", length if bare and length else str(len(body)))
        self.end_headers()
        if not bare:
            self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None: ...


def main() -> None:
    argv = [str(shutil.which("node")), str(HERE / "azurite.mjs"), str(MAIN)]
    azurite = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert azurite.stdout is not None
    for line in azurite.stdout:
        if match := re.search(r"listens on http://127\.0\.0\.1:(\d+)", line):
            Front.behind = int(match[1])
            break
    else:
        sys.exit(f"Azurite ended with exit code {azurite.wait()}")
    serving = Front(("127.0.0.1", 0), Proxy)
    print(serving.server_port, flush=True)
    threading.Thread(target=serving.serve_forever, args=(0.05,), daemon=True).start()
    sys.stdin.read()  # until whoever started it is gone; Azurite then loses its own standard input


if __name__ == "__main__":
    main()
