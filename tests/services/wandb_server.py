"""A W&B server for the real client: as much of its GraphQL as reading and writing a run takes.

`python wandb_server.py` prints its port and serves on loopback until its standard input ends. A
test looks and steers by HTTP:
GET and PUT /_state, PUT and DELETE /_fault. Runs are kept as `entity/project/id` -> display name,
state, config and history; a run that is `deleted` is hidden and its id is never given again, as W&B
does it; `served` is how many of its rows it serves; a `hidden` project is there, and this key may
not know.
"""

import base64
import gzip
import json
import re
import sys
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

# of 40 characters: a shorter one the client itself refuses
KEY = "0123456789abcdef" * 2 + "01234567"
ENTITY = "ent"
Variables = dict[str, Any]


class Gone(Exception):
    """The id was given once, and is never given again."""


class World:
    """What the server knows."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.runs: dict[str, dict[str, Any]] = {}
        self.hidden_runs: list[str] = []  # projects, as entity/project
        self.faults: list[dict[str, Any]] = []
        self.requests: list[str] = []

    def run(self, path: str) -> dict[str, Any] | None:
        run = self.runs.get(path)
        return None if run is None or run.get("deleted") else run

    def project(self, entity: str, project: str) -> dict[str, dict[str, Any]] | None:
        """Its runs by path; None if this key may not know it, or it is not there."""
        prefix = f"{entity}/{project}/"
        runs = {path: run for path, run in self.runs.items() if path.startswith(prefix)}
        if f"{entity}/{project}" in self.hidden_runs or not runs:
            return None
        return {path: run for path, run in runs.items() if not run.get("deleted")}

    def fault(self, operation: str) -> dict[str, Any] | None:
        return next((f for f in self.faults if f.get("op") in (None, operation)), None)


WORLD = World()


def path_of(v: Variables) -> str:
    entity = v.get("entity") or v.get("entityName") or ENTITY
    project = v.get("project") or v.get("projectName")
    return (
        f"{entity}/{project}/{v.get('name') or v.get('run') or v.get('runName') or v.get('runId')}"
    )


def show_run(path: str, run: dict[str, Any]) -> dict[str, Any]:
    """A run as the fragments ask for it."""
    name, history = path.rpartition("/")[2], run.get("history", [])
    last = int(max((row.get("_step", -1) for row in history), default=-1))
    config = {key: {"value": value} for key, value in run.get("config", {}).items()}
    return {
        "id": base64.b64encode(path.encode()).decode(),
        "projectId": "1",
        "name": name,
        "displayName": run.get("displayName", name),
        "state": run.get("state", "running"),
        "config": json.dumps({**config, **run.get("internal", {})}),
        "summaryMetrics": json.dumps(run.get("summary", {})),
        "systemMetrics": "{}",
        "tags": [],
        "createdAt": run.get("createdAt", "2026-01-01T00:00:00Z"),
        "heartbeatAt": run.get("heartbeatAt", "2026-01-01T00:00:00Z"),
        "historyLineCount": len(history),
        "historyKeys": {"sets": [], "keys": {}, "lastStep": last} if history else None,
        "user": {"name": "Tester", "username": "tester"},
        **dict.fromkeys(("sweepName", "group", "jobType", "commit", "description", "notes")),
        "readOnly": False,
    }


# --- operations -----------------------------------------------------------------------------------


def viewer(v: Variables) -> Any:
    team = {"edges": [{"node": {"name": ENTITY, "id": "T"}}]}
    me = {
        "id": "U",
        "entity": ENTITY,
        "username": "tester",
        "name": "Tester",
        "email": "tester@example.org",
    }
    return {"viewer": {**me, "flags": "{}", "admin": False, "teams": team}}


def server(v: Variables) -> Any:
    versions = {"max_cli_version": "0.31.0", "min_cli_version": "0.10.0"}
    return {
        "serverInfo": {"cliVersionInfo": versions, "latestLocalVersionInfo": None, "features": []}
    }


def one_run(v: Variables) -> Any:
    if WORLD.project(v["entity"], v["project"]) is None:
        return {"project": None}
    run = WORLD.run(path_of(v))
    return {"project": {"run": show_run(path_of(v), run) if run else None}}


def many_runs(v: Variables) -> Any:
    runs = WORLD.project(v["entity"], v["project"])
    if runs is None:
        return {"project": None}
    display_name = json.loads(v.get("filters") or "{}").get("display_name")
    matching = [show_run(path, run) for path, run in sorted(runs.items())]
    nodes = [run for run in matching if display_name in (None, run["displayName"])][
        : v.get("perPage", 50)
    ]
    edges = [{"node": node, "cursor": node["name"]} for node in nodes]
    page = {"endCursor": nodes[-1]["name"] if nodes else None, "hasNextPage": False}
    connection = {"edges": edges, "pageInfo": page}
    return {
        "project": {
            "internalId": "1",
            "runCount": len(nodes),
            "readOnly": False,
            "runs": connection,
        }
    }


def parquet(v: Variables) -> Any:
    """Nothing is exported yet: every row is live."""
    return {"project": {"run": {"parquetHistory": {"parquetUrls": [], "liveData": rows(v)}}}}


def history(v: Variables) -> Any:
    return {"project": {"run": {"history": [json.dumps(row) for row in rows(v)]}}}


def rows(v: Variables) -> list[dict[str, Any]]:
    low, high = v.get("minStep") or 0, v.get("maxStep")
    run = WORLD.run(path_of(v)) or {}
    return [
        r
        for r in run.get("history", [])[: run.get("served")]
        if r["_step"] >= low and (high is None or r["_step"] < high)
    ]


def upsert(v: Variables) -> Any:
    path = path_of(v)
    if WORLD.runs.get(path, {}).get("deleted"):
        raise Gone(f"run {path} was previously created and deleted; try a new run name")
    fresh = path not in WORLD.runs
    run = WORLD.runs.setdefault(path, {"history": []})
    run |= {
        "state": "running",
        "displayName": v.get("displayName") or run.get("displayName") or v["name"],
    }
    config = json.loads(v.get("config") or "{}")
    run["internal"] = {"_wandb": config.pop("_wandb", {"value": {"t": {}}})}
    run["config"] = {key: item.get("value") for key, item in config.items()}
    entity, project, name = path.split("/")
    place = {"id": "P", "name": project, "entity": {"id": "E", "name": entity}}
    bucket = {
        "id": "B",
        "name": name,
        "displayName": run["displayName"],
        "description": None,
        "config": v.get("config") or "{}",
        "sweepName": None,
        "historyLineCount": len(run["history"]),
        "project": place,
    }
    return {"upsertBucket": {"inserted": fresh, "bucket": bucket}}


def resume_fields(v: Variables) -> Any:
    """What a writer asks before it resumes; only a run that was begun counts."""
    run = WORLD.run(path_of(v))
    if run is None:
        return {
            "model": {
                "id": "P",
                "name": v["project"],
                "entity": {"id": "E", "name": ENTITY},
                "bucket": None,
            }
        }
    tail = [json.dumps(row) for row in run["history"][-1:]]
    bucket = {
        "id": "B",
        "name": v["name"],
        "displayName": run.get("displayName"),
        "summaryMetrics": "{}",
        "config": "{}",
        "tags": [],
        "historyLineCount": len(run["history"]),
        "eventsLineCount": 0,
        "logLineCount": 0,
        "historyTail": json.dumps(tail),
        "eventsTail": "[]",
        "notes": None,
        "wandbConfig": json.dumps({"t": 1}),
    }
    return {
        "model": {
            "id": "P",
            "name": v["project"],
            "entity": {"id": "E", "name": ENTITY},
            "bucket": bucket,
        }
    }


def stop_fields(v: Variables) -> Any:
    return {"project": {"run": {"stopped": False}}}


def run_files(v: Variables) -> Any:
    files = [
        {"name": name, "uploadUrl": f"http://{ADDRESS}/_upload/{name}"}
        for name in v.get("files", [])
    ]
    return {"createRunFiles": {"runID": "B", "uploadHeaders": [], "files": files}}


def organization(v: Variables) -> Any:
    return {"entity": {"organization": {"coreWeaveOrganizationId": None}}}


OPERATIONS: dict[str, Callable[[Variables], Any]] = {
    "OrganizationCoreWeaveOrganizationID": organization,
    "Viewer": viewer,
    "GetDefaultEntity": viewer,
    "Run": one_run,
    "RunHistoryKeys": one_run,
    "Runs": many_runs,
    "RunParquetHistory": parquet,
    "HistoryPage": history,
    "UpsertBucket": upsert,
    "RunResumeStatus": resume_fields,
    "RunStoppedStatus": stop_fields,
    "CreateRunFiles": run_files,
}
ADDRESS = ""


def stream(path: str, document: dict[str, Any]) -> Any:
    """What a writer sends while it runs, and at its end. Bare NaN and Infinity are kept as text."""
    run = WORLD.runs.setdefault(path, {"history": []})
    run["heartbeatAt"] = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    lines = (document.get("files") or {}).get("wandb-history.jsonl", {}).get("content", [])
    run["history"] = [
        *run.get("history", []),
        *(json.loads(line, parse_constant=str) for line in lines),
    ]
    if document.get("complete"):
        run["state"] = "failed" if document.get("exitcode") else "finished"
    return {"limits": {}, "stopped": False}


# --- HTTP -----------------------------------------------------------------------------------------


class Answering(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # else each answer waits 40 ms for an acknowledgement

    def do_POST(self) -> None:
        body = self._body()
        if self.path == "/graphql":
            return self._graphql(json.loads(body))
        match = re.fullmatch(r"/files/(.+)/file_stream", self.path)
        with WORLD.lock:
            return self._send(stream(match[1], json.loads(body)) if match else {})

    def do_GET(self) -> None:
        self._body()
        self._send({"runs": WORLD.runs, "hidden": WORLD.hidden_runs, "asked": WORLD.requests})

    def do_PUT(self) -> None:
        body = self._body()
        if self.path == "/_state":
            document = json.loads(body)
            WORLD.runs, WORLD.hidden_runs = document.get("runs", {}), document.get("hidden", [])
        elif self.path == "/_fault":
            WORLD.faults.append(json.loads(body))
        self._send({})

    def do_DELETE(self) -> None:
        WORLD.faults.clear()
        WORLD.requests.clear()
        self._send({})

    def _graphql(self, document: dict[str, Any]) -> None:
        match = re.search(r"\b(?:query|mutation)\s+(\w+)", document["query"])
        operation = match[1] if match else ""
        WORLD.requests.append(operation)
        if fault := WORLD.fault(operation):
            return self._fail(fault)
        if (
            self.headers.get("Authorization")
            != "Basic " + base64.b64encode(f"api:{KEY}".encode()).decode()
        ):
            return self._send({"errors": [{"message": "permission denied"}]}, 401)
        act = server if "serverInfo" in document["query"] else OPERATIONS.get(operation)
        if act is None:
            return self._send({"errors": [{"message": f"unknown operation {operation}"}]}, 400)
        try:
            with WORLD.lock:
                data = act(document.get("variables") or {})
        except Gone as why:
            return self._send({"errors": [{"message": str(why)}]}, 409)
        return self._send({"data": data})

    def _fail(self, fault: dict[str, Any]) -> None:
        time.sleep(fault.get("sleep", 0))
        if "body" in fault:
            return self._write(fault["body"].encode(), fault.get("status", 200))
        return self._send(
            {"errors": [{"message": fault.get("message", "injected")}]}, fault.get("status", 200)
        )

    def _body(self) -> bytes:
        if "chunked" in self.headers.get("Transfer-Encoding", ""):
            body = b"".join(iter(self._chunk, b""))
        else:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        return gzip.decompress(body) if self.headers.get("Content-Encoding") == "gzip" else body

    def _chunk(self) -> bytes:
        chunk = self.rfile.read(int(self.rfile.readline(), 16))
        self.rfile.readline()
        return chunk

    def _send(self, answer: Any, status: int = 200) -> None:
        self._write(json.dumps(answer).encode(), status)

    def _write(self, body: bytes, status: int) -> None:
        try:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
        except ConnectionError:  # the client gave up waiting
            self.close_connection = True

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: the tests ask what was asked."""


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up is no fault of ours."""


if __name__ == "__main__":
    http = Server(("127.0.0.1", 0), Answering)
    ADDRESS = f"127.0.0.1:{http.server_port}"
    print(http.server_port, flush=True)
    threading.Thread(target=http.serve_forever, daemon=True).start()
    sys.stdin.read()  # until whoever started it is gone
