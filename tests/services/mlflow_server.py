"""MLflow's own tracking server on loopback, its runs in an SQLite file, behind a layer of faults.
Runs in `.venv-services`.

`mlflow_server.py FOLDER` writes `address.json` into FOLDER once it answers, and ends as soon as
nobody holds a shared lock on `FOLDER/users`; FOLDER goes with it. Its start takes seven seconds of
CPU, most of it for the tables, so all workers of a session share one.
"""

import fcntl
import json
import logging
import os
import shutil
import sys
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from control import ROAD, Control
from werkzeug.serving import WSGIRequestHandler, make_server

Answer = Iterable[bytes]


class Guarded:
    """MLflow's application, and in front of it what a test has asked for."""

    def __init__(self, app: Any) -> None:
        self.app = app
        self.locks: dict[str, str] = {}  # words of a URL -> the Authorization that opens it
        self.control = Control({"lock": self.lock})

    def lock(self, facts: dict[str, Any]) -> None:
        self.locks[facts["url"]] = facts["authorization"]

    def __call__(self, environ: dict[str, Any], start: Callable[..., Any]) -> Answer:
        path, query = environ["PATH_INFO"], environ.get("QUERY_STRING", "")
        if path.startswith(ROAD):
            body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
            return _send(start, 200, self.control.answer(path, body))
        url = f"{path}?{query}"
        fault = self.control.meet(environ["REQUEST_METHOD"], url)
        if fault:
            return _send(start, fault.status, fault.body.encode())
        keys = [key for address_part, key in self.locks.items() if address_part in unquote(url)]
        if keys and environ.get("HTTP_AUTHORIZATION") not in keys:
            return _send(start, 401, b"You are not authenticated.")
        answer: Answer = self.app(environ, start)
        return answer


def _send(start: Callable[..., Any], status: int, body: bytes) -> Answer:
    headers = [("Content-Length", str(len(body))), ("Location", "/elsewhere")]
    start(f"{status} Told", headers)
    return [body]


class Quiet(WSGIRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # an answer in one packet
    disable_nagle_algorithm = True

    def log(self, *_: Any) -> None: ...


def main() -> None:
    folder = Path(sys.argv[1])
    os.environ |= {
        "_MLFLOW_SERVER_FILE_STORE": f"sqlite:///{folder}/runs.db",
        "_MLFLOW_SERVER_ARTIFACT_ROOT": str(folder / "artifacts"),
        "MLFLOW_DISABLE_TELEMETRY": "true",
        "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false",
    }
    from mlflow.server import app

    logging.disable(logging.CRITICAL)
    app.test_client().get("/api/2.0/mlflow/experiments/get?experiment_id=0")  # makes the tables
    serving = make_server("127.0.0.1", 0, Guarded(app), threaded=True, request_handler=Quiet)
    threading.Thread(target=serving.serve_forever, daemon=True).start()
    aside = folder / "address.new"
    aside.write_text(json.dumps({"port": serving.server_port}))
    aside.rename(folder / "address.json")
    users = os.open(folder / "users", os.O_RDWR)
    fcntl.flock(users, fcntl.LOCK_EX)  # the kernel frees the locks of whoever is gone
    (folder / "address.json").unlink()
    shutil.rmtree(folder, ignore_errors=True)
    os._exit(0)


if __name__ == "__main__":
    main()
