"""A node that runs pods as plain processes, and serves their logs: what a kubelet does, as far as
the scheduler's adapter can see it. It touches nothing of this machine.

Pods in a namespace whose name ends in `-by-hand` are left to the test.
"""

import base64
import json
import os
import re
import signal
import ssl
import subprocess
import threading
import time
from contextlib import suppress
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import parse_qs, unquote, urlparse

from services.k8s import Control

_REFERENCE = re.compile(r"\$(\$|\(([-._a-zA-Z0-9]+)\))")


def expand_variables(text: str, env: dict[str, str]) -> str:
    """As Kubernetes expands command, args and values: `$$` is a dollar sign, an unknown `$(NAME)`
    stays.
    """
    return _REFERENCE.sub(
        lambda m: "$" if m[1] == "$" else env.get(m[2], m[0]) if m[2] else m[0], text
    )


def stamp(at: datetime) -> str:
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")


class Node:
    """One for each worker of a test session; pods come to it by `kubernetes.io/hostname`."""

    def __init__(self, control: Control, name: str, folder: Path) -> None:
        self.control, self.name, self.folder = control, name, folder
        self.jobs: dict[str, Pod] = {}
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        certs = control.folder / "certs"
        context.load_cert_chain(certs / "apiserver.crt", certs / "apiserver.key")
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self._over = threading.Event()

    def start(self) -> None:
        labels = {"kubernetes.io/hostname": self.name, "nvidia.com/gpu.product": "H100"}
        node = {"metadata": {"name": self.name, "labels": labels}}
        self.control.ask("POST", "/api/v1/nodes", node)
        self._tell(self.name, self._server.server_port, "True")
        for work in (self._server.serve_forever, self._watch):
            threading.Thread(target=work, daemon=True).start()

    def _tell(self, name: str, port: int, ready: str) -> None:
        capacity = {"cpu": "64", "memory": "256Gi", "pods": "500", "nvidia.com/gpu": "8"}
        status = {
            "capacity": capacity,
            "allocatable": capacity,
            "conditions": [_ready(ready)],
            "addresses": [{"type": "Hostname", "address": "127.0.0.1"}],
            "daemonEndpoints": {"kubeletEndpoint": {"Port": port}},
        }
        self.control.patch(f"/api/v1/nodes/{name}/status", {"status": status})
        # made new, it is marked until the controller has seen that it is ready
        self.control.ask(
            "PATCH",
            f"/api/v1/nodes/{name}",
            {"spec": {"taints": None}},
            "application/merge-patch+json",
        )

    @property
    def url(self) -> str:
        return f"https://127.0.0.1:{self._server.server_port}"

    def stop(self) -> None:
        self._over.set()
        self._server.shutdown()
        self._server.server_close()
        self.kill_all()

    def kill_all(self) -> None:
        """What a test has left running, also one that failed."""
        for pod in list(self.jobs.values()):
            pod.kill(signal.SIGKILL)

    def add_dead_node(self, name: str) -> None:
        """One on which nothing answers, which nobody has noticed yet."""
        labels = {"kubernetes.io/hostname": name}
        self.control.ask("POST", "/api/v1/nodes", {"metadata": {"name": name, "labels": labels}})
        self._tell(name, 9, "True")

    def set_ready(self, name: str, word: str) -> None:
        """`Unknown` is a node that does not answer any more."""
        body = {"status": {"conditions": [_ready(word)]}}
        self.control.patch(f"/api/v1/nodes/{name}/status", body)

    def _watch(self) -> None:
        path = f"/api/v1/pods?fieldSelector=spec.nodeName%3D{self.name}"
        while not self._over.wait(0.06):
            with suppress(HTTPError, URLError, OSError):
                for document in self.control.ask("GET", path)["items"]:
                    self._see(document)

    def _see(self, document: dict[str, Any]) -> None:
        meta = document["metadata"]
        if meta["namespace"].endswith("-by-hand"):
            return
        pod = self.jobs.get(meta["uid"])
        if pod is None and not meta.get("deletionTimestamp"):
            pod = self.jobs[meta["uid"]] = Pod(self, document)
            threading.Thread(target=pod.run, daemon=True).start()
        elif meta.get("deletionTimestamp") and (pod is None or not pod.ending):
            if pod is None:
                self.forget(document)
                return
            pod.ending = True
            grace = float(meta.get("deletionGracePeriodSeconds") or 0)
            threading.Thread(target=pod.end, args=(grace,), daemon=True).start()

    def forget(self, document: dict[str, Any]) -> None:
        meta = document["metadata"]
        with suppress(HTTPError):
            self.control.ask(
                "DELETE",
                f"/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}",
                {"gracePeriodSeconds": 0, "preconditions": {"uid": meta["uid"]}},
            )


class Pod:
    def __init__(self, node: Node, document: dict[str, Any]) -> None:
        self.node, self.document, self.ending = node, document, False
        self.process: subprocess.Popen[bytes] | None = None
        self.container = document["spec"]["containers"][0]
        self.lines: list[tuple[datetime, bytes]] | None = None  # None: it has no log yet
        self.before: list[tuple[datetime, bytes]] | None = None  # of the attempt before
        self.restarts = 0
        self.started_at = datetime.now(UTC)
        self.over = threading.Event()

    @property
    def path(self) -> str:
        meta = self.document["metadata"]
        return f"/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}"

    def run(self) -> None:
        try:
            env = self._environment()
            argv = [*self.container.get("command", ()), *self.container.get("args", ())]
            self.process = subprocess.Popen(
                [expand_variables(word, env) for word in argv],
                cwd=self.container.get("workingDir"),
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                process_group=0,
            )
        except (HTTPError, OSError, LookupError) as error:
            waits = {"reason": "CreateContainerConfigError", "message": str(error)}
            self._tell("Pending", {"waiting": waits})
            return
        self.started_at, self.before, self.lines = datetime.now(UTC), self.lines, []
        reading = threading.Thread(target=self._read_output, daemon=True)
        reading.start()
        self._tell("Running", {"running": {"startedAt": stamp(self.started_at)}}, ready=True)
        code = self.process.wait()
        reading.join(5)  # a child of its own may hold the pipe open
        if code and self.document["spec"]["restartPolicy"] == "OnFailure" and not self.ending:
            self.restarts += 1
            self.run()
            return
        code = code if code >= 0 else 128 - code
        terminated_state = {
            "exitCode": code,
            "reason": "Completed" if code == 0 else "Error",
            "startedAt": stamp(self.started_at),
            "finishedAt": stamp(datetime.now(UTC)),
        }
        self._tell("Failed" if code else "Succeeded", {"terminated": terminated_state})
        self.over.set()

    def _read_output(self) -> None:
        assert self.process is not None and self.process.stdout is not None
        assert self.lines is not None
        for line in self.process.stdout:
            self.lines.append((datetime.now(UTC), line))

    def log(
        self,
        since: str = "",
        lines: int | None = None,
        is_stamped: bool = False,
        before: bool = False,
    ) -> bytes:
        """As a kubelet reads it: by whole seconds, then the newest lines."""
        stamped_lines = self.before if before else self.lines
        selected_lines = [(at, line) for at, line in stamped_lines or () if stamp(at) >= since]
        selected_lines = (
            selected_lines
            if lines is None
            else selected_lines[len(selected_lines) - min(lines, len(selected_lines)) :]
        )
        return b"".join(
            f"{at:%Y-%m-%dT%H:%M:%S.%f}000Z ".encode() + line if is_stamped else line
            for at, line in selected_lines
        )

    def end(self, grace: float) -> None:
        self.kill(signal.SIGTERM)
        if self.process is not None and not self.over.wait(grace):
            self.kill(signal.SIGKILL)
            self.over.wait(10)
        self.node.forget(self.document)

    def kill(self, number: int) -> None:
        if self.process is not None and self.process.poll() is None:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, number)

    def _tell(self, phase: str, state: dict[str, Any], ready: bool = False) -> None:
        image = self.container["image"]
        status = {
            "phase": phase,
            "startTime": stamp(self.started_at),
            "conditions": [_ready("True" if ready else "False")],
            "containerStatuses": [
                {
                    "name": self.container["name"],
                    "state": state,
                    "ready": ready,
                    "restartCount": self.restarts,
                    "image": image,
                    "imageID": f"docker-pullable://{image.partition('@')[0]}@sha256:{'ab' * 32}",
                }
            ],
        }
        with suppress(HTTPError, URLError, OSError):
            self.node.control.patch(f"{self.path}/status", {"status": status})

    def _environment(self) -> dict[str, str]:
        env = {"PATH": os.environ["PATH"]}
        for each in self.container.get("env", ()):
            source = each.get("valueFrom", {})
            if "secretKeyRef" in source:
                env[each["name"]] = self._secret(**source["secretKeyRef"])
            elif not source:
                env[each["name"]] = expand_variables(each.get("value", ""), env)
        return env

    def _secret(self, name: str, key: str, **_: Any) -> str:
        space = self.document["metadata"]["namespace"]
        secret = self.node.control.ask("GET", f"/api/v1/namespaces/{space}/secrets/{name}")
        return base64.b64decode(secret["data"][key]).decode()


def _ready(word: str) -> dict[str, str]:
    now = stamp(datetime.now(UTC))
    reason = {"True": "KubeletReady", "Unknown": "NodeStatusUnknown"}.get(word, "KubeletNotReady")
    return {
        "type": "Ready",
        "status": word,
        "reason": reason,
        "lastHeartbeatTime": now,
        "lastTransitionTime": now,
    }


def _handler(node: Node) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        """`/containerLogs/NAMESPACE/POD/CONTAINER`, as the API server asks for it."""

        def do_GET(self) -> None:
            url = urlparse(self.path)
            query = {name: values[0] for name, values in parse_qs(url.query).items()}
            _, word, space, name, container = (url.path.split("/") + [""] * 5)[:5]
            pods = [pod for pod in node.jobs.values() if pod.path.endswith(f"/{space}/pods/{name}")]
            before = query.get("previous") == "true"
            if before and pods and pods[-1].before is None:
                message = f'previous terminated container "{container}" in pod "{name}" not found'
                self._answer(400, message.encode())
                return
            if word != "containerLogs" or not pods or pods[-1].lines is None:
                message = (
                    f'container "{container}" in pod "{name}" is waiting to start: PodInitializing'
                )
                self._answer(400, message.encode())
                return
            most = int(query["tailLines"]) if "tailLines" in query else None
            is_stamped = query.get("timestamps") == "true"
            data = pods[-1].log(query.get("sinceTime", ""), most, is_stamped, before)
            self._answer(200, data[: int(query["limitBytes"])] if "limitBytes" in query else data)

        def do_POST(self) -> None:
            """`/deny/WORDS` is an admission webhook that says no."""
            review = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            answer = {"message": unquote(self.path.removeprefix("/deny/").partition("?")[0])}
            response = {"uid": review["request"]["uid"], "allowed": False, "status": answer}
            document = {**review, "request": None, "response": response}
            self._answer(200, json.dumps(document).encode())

        def _answer(self, status: int, data: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: Any) -> None:
            pass

    return Handler


def wait_for(query: Any, seconds: float = 60.0) -> Any:
    """What it answers as soon as that is true."""
    until = time.monotonic() + seconds
    while not (answer := query()):
        assert time.monotonic() < until, query
        time.sleep(0.02)
    return answer
