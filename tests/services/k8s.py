"""A real Kubernetes control plane on loopback, one for all processes of a test session: etcd, API
server, controller-manager and scheduler, started when a test first asks for them.

A test plays the kubelet (`k8s_node.py`), patches a pod's status as one would, or starts a real one
(`k8s_kubelet.py`).
"""

import json
import os
import shutil
import ssl
import subprocess
import tempfile
import time
from base64 import b64encode
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache, cached_property
from itertools import count
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import quote
from urllib.request import HTTPSHandler, OpenerDirector, ProxyHandler, Request, build_opener

import pytest

from services.servers import REQUIRE
from services.slurm import HERE, _alone, _folder, _free_ports

BUILD = HERE / "k8s_build.sh"
TOKENS = {"admin": "admin-token-1", "watcher": "watcher-token-1", "nobody": "nobody-token-1"}
WITHOUT = "HERORUN_WITHOUT_K8S"  # set by .ci/run where nobody has built it yet, which it says
CONTROLLERS = (
    "job,ttl-after-finished,garbagecollector,podgc,nodelifecycle,resourcequota,deployment,"
    "replicaset,persistentvolume-binder"
)
START = 240.0  # seconds, of a machine that does much else
_COUNTER = count(1)


def programs() -> Path:
    """Where `make services-k8s` puts them."""
    where = subprocess.run([BUILD, "--where"], capture_output=True, text=True, check=True)
    return Path(where.stdout.strip())


def missing() -> str:
    """Why there can be no cluster here; empty where there can."""
    lacking = [name for name in ("etcd", "kube-apiserver") if not (programs() / name).exists()]
    if lacking:
        return f"{lacking[0]} is not in {programs()}: `make services-k8s` builds it, once"
    return "" if kubectl() else "kubectl is not on the PATH, nor beside the built API server"


def kubectl() -> str:
    beside = programs() / "kubectl"
    return shutil.which("kubectl") or (str(beside) if beside.exists() else "")


@dataclass(frozen=True)
class Control:
    """A running API server."""

    folder: Path

    @cached_property
    def url(self) -> str:
        return (self.folder / "url").read_text()

    def kubeconfig(self, user: str = "admin", **changes: Any) -> str:
        """A file with one context, `test`; another server or token where it is said."""
        settings = {"server": self.url, "token": TOKENS.get(user, ""), **changes}
        cluster = {"server": settings["server"], "insecure-skip-tls-verify": True}
        document = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "test", "cluster": cluster}],
            "users": [{"name": user, "user": {"token": settings["token"]}}],
            "contexts": [{"name": "test", "context": {"cluster": "test", "user": user}}],
            "current-context": "",
        }
        path = Path(tempfile.mkdtemp(dir=self.folder)) / "kubeconfig"
        path.write_text(json.dumps(document))
        path.chmod(0o600)
        return str(path)

    def ask(self, method: str, path: str, body: Any = None, kind: str = "application/json") -> Any:
        request = Request(
            self.url + path,
            None if body is None else json.dumps(body).encode(),
            {"Authorization": f"Bearer {TOKENS['admin']}", "Content-Type": kind},
            method=method,
        )
        try:
            with answer_to(request) as answer:
                return json.load(answer)
        except HTTPError as error:
            error.add_note(error.read().decode("utf-8", "replace")[:2000])
            raise

    def patch(self, path: str, body: Any) -> Any:
        return self.ask("PATCH", path, body, "application/strategic-merge-patch+json")

    def namespace(self, name: str) -> str:
        self.ask("POST", "/api/v1/namespaces", {"metadata": {"name": name}})
        return name

    def quota(self, namespace: str, hard: Mapping[str, str]) -> None:
        """It counts once its controller has seen it."""
        path = f"/api/v1/namespaces/{namespace}/resourcequotas"
        self.ask("POST", path, {"metadata": {"name": "small"}, "spec": {"hard": hard}})
        until = time.monotonic() + START
        while not self.ask("GET", f"{path}/small").get("status", {}).get("used"):
            assert time.monotonic() < until
            time.sleep(0.1)

    def pods(self, namespace: str) -> list[dict[str, Any]]:
        return list(self.ask("GET", f"/api/v1/namespaces/{namespace}/pods")["items"])

    def set_pod(self, namespace: str, name: str, **status: Any) -> None:
        """As a kubelet would."""
        self.patch(f"/api/v1/namespaces/{namespace}/pods/{name}/status", {"status": status})


def answer_to(request: Request) -> Any:
    """By no proxy: one test may change the environment while another thread reads it."""
    return _opener().open(request, timeout=60)


@cache
def _opener() -> OpenerDirector:
    """One, with no authority: to load those of the system takes 36 ms of CPU, and the node that a
    test plays asks many times a second.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return build_opener(ProxyHandler({}), HTTPSHandler(context=context))


@pytest.fixture(scope="session")
def control_plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Control]:
    why = missing()
    if why and os.environ.get(REQUIRE) == "1" and not os.environ.get(WITHOUT):
        pytest.fail(why)
    if why:
        pytest.skip(why)
    base = tmp_path_factory.getbasetemp()
    shared_parent = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    with standing(_folder(shared_parent / "k8s")) as control:
        yield control


@contextmanager
def standing(folder: Path) -> Iterator[Control]:
    """The first to come starts it, the last to leave stops it."""
    user = f"{os.getpid()}"
    with _alone(folder):
        users = folder.with_suffix(".users")
        users.mkdir(exist_ok=True)
        (users / user).touch()
        guard = subprocess.Popen(
            [str(HERE / "slurm_guard.sh"), str(folder), user, "k8s_down.sh"],
            stdin=subprocess.PIPE,
            start_new_session=True,  # an interrupt at the keyboard is not for it
        )
        if not (folder / "up").exists():
            _start(folder, programs())
    try:
        yield Control(folder)
    finally:
        guard.communicate(timeout=60)


def _start(folder: Path, at: Path) -> None:
    port = _free_ports()
    url = f"https://127.0.0.1:{port}"
    (folder / "run").mkdir(parents=True, exist_ok=True)
    lines = [f"{token},{user},{user}" for user, token in TOKENS.items()]
    lines[0] += ',"system:masters"'
    (folder / "tokens.csv").write_text("\n".join(lines) + "\n")
    (folder / "url").write_text(url)
    key = ["openssl", "genrsa", "-out", str(folder / "sa.key"), "2048"]
    subprocess.run(key, check=True, capture_output=True)
    config = Control(folder).kubeconfig("admin")
    for name, flags in _flags(folder, port, config).items():
        if name == "kube-controller-manager":
            _await(Control(folder), folder)
        _launch(folder, at, name, flags)
    (folder / "up").touch()


def _flags(folder: Path, port: int, config: str) -> Mapping[str, list[str]]:
    etcd, peer = f"http://127.0.0.1:{port + 1}", f"http://127.0.0.1:{port + 2}"
    flags = ["--kubeconfig", _with_current(config), "--leader-elect=false", "--port=0"]
    flags += ["--secure-port=0"]
    return {
        "etcd": [
            f"--data-dir={folder}/etcd",
            f"--listen-client-urls={etcd}",
            f"--advertise-client-urls={etcd}",
            f"--listen-peer-urls={peer}",
            f"--initial-advertise-peer-urls={peer}",
            f"--initial-cluster=default={peer}",
            "--unsafe-no-fsync",
        ],
        "kube-apiserver": [
            f"--etcd-servers={etcd}",
            "--bind-address=127.0.0.1",
            f"--secure-port={port}",
            f"--cert-dir={folder}/certs",
            f"--token-auth-file={folder}/tokens.csv",
            "--authorization-mode=RBAC",
            "--service-account-issuer=https://127.0.0.1",
            f"--service-account-key-file={folder}/sa.key",
            f"--service-account-signing-key-file={folder}/sa.key",
            "--service-cluster-ip-range=10.0.0.0/24",
            "--disable-admission-plugins=ServiceAccount",
            "--feature-gates=TTLAfterFinished=true",
            "--kubelet-preferred-address-types=Hostname",
            "--enable-priority-and-fairness=false",
        ],
        "kube-controller-manager": [
            *flags,
            f"--controllers={CONTROLLERS}",
            f"--service-account-private-key-file={folder}/sa.key",
            "--feature-gates=TTLAfterFinished=true",
            "--node-monitor-grace-period=24h",  # a test says itself when a node is lost
        ],
        "kube-scheduler": flags,
    }


def _with_current(config: str) -> str:
    """The same file, whose context need not be named: herorun's own never is."""
    path = Path(config).with_name("own")
    path.write_text(
        Path(config).read_text().replace('"current-context": ""', '"current-context": "test"')
    )
    return str(path)


def _launch(folder: Path, at: Path, name: str, flags: list[str]) -> None:
    env = {**os.environ, "HERORUN_CLUSTER": str(folder), "KUBECONFIG": "/dev/null"}
    with (folder / f"{name}.log").open("wb") as log:
        process = subprocess.Popen(
            [str(at / name), *flags],
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    (folder / "run" / f"{name}.pid").write_text(str(process.pid))


def _await(control: Control, folder: Path) -> None:
    until = time.monotonic() + START
    while True:
        try:
            control.ask("GET", "/api/v1/namespaces/default")
            return
        except (HTTPError, URLError, OSError):
            if time.monotonic() > until:
                log = (folder / "kube-apiserver.log").read_text()[-2000:]
                pytest.fail(f"the API server was not ready within {START:g} s:\n{log}")
        time.sleep(0.05)


@dataclass(frozen=True)
class Space:
    """A namespace of one test, and the node that runs its pods."""

    control: Control
    name: str
    node: Any
    kubeconfig: str
    secrets: dict[str, dict[str, str]] = field(default_factory=dict)

    def jobs(self) -> list[dict[str, Any]]:
        path = f"/apis/batch/v1/namespaces/{self.name}/jobs"
        return list(self.control.ask("GET", path)["items"])

    def job(
        self, name: str, argv: list[str], folder: str, generate: str = "", **env: str
    ) -> dict[str, Any]:
        """One that herorun did not submit, for this test's node."""
        container = {
            "name": "train",
            "image": "x",
            "command": argv,
            "workingDir": folder,
            "env": [{"name": variable, "value": value} for variable, value in env.items()],
        }
        selector = {"kubernetes.io/hostname": self.node.name}
        pod = {"restartPolicy": "Never", "containers": [container], "nodeSelector": selector}
        return {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": {"name": name, **({"generateName": generate} if generate else {})},
            "spec": {"backoffLimit": 0, "template": {"spec": pod}},
        }

    def create_job(self, *arguments: Any, **changes: str) -> None:
        path = f"/apis/batch/v1/namespaces/{self.name}/jobs"
        self.control.ask("POST", path, self.job(*arguments, **changes))

    def set_secret(self, name: str, **values: str | None) -> None:
        """The keys that have a value."""
        data = {key: value for key, value in values.items() if value is not None}
        if data == self.secrets.get(name, {}):
            return
        path = f"/api/v1/namespaces/{self.name}/secrets"
        if name in self.secrets:
            self.control.ask("DELETE", f"{path}/{name}")
        if data:
            body = {"metadata": {"name": name}, "stringData": data}
            self.control.ask("POST", path, body)
        self.secrets[name] = data

    def set_running(self, pod: str, ready: str = "True") -> None:
        """As a kubelet does, and with `False` as a controller does where it hears nothing more."""
        at = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        state = {"running": {"startedAt": at}}
        status = {"name": "main", "state": state, "ready": True, "restartCount": 0}
        container = {**status, "image": "x", "imageID": "x@sha256:1"}
        condition = {"type": "Ready", "status": ready}
        self.control.set_pod(
            self.name,
            pod,
            phase="Running",
            containerStatuses=[container],
            conditions=[condition],
        )

    def allow(self, user: str, resource: str, verbs: list[str], group: str = "batch") -> None:
        self.allow_rules(user, [{"apiGroups": [group], "resources": [resource], "verbs": verbs}])

    def allow_rules(self, user: str, rules: list[dict[str, Any]]) -> None:
        """A role of this namespace."""
        path = f"/apis/rbac.authorization.k8s.io/v1/namespaces/{self.name}"
        meta = {"metadata": {"name": user}}
        self.control.ask("POST", f"{path}/roles", {**meta, "rules": rules})
        role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": user}
        subject = {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user}
        binding = {**meta, "roleRef": role, "subjects": [subject]}
        self.control.ask("POST", f"{path}/rolebindings", binding)

    def deny(self, message: str) -> str:
        """A webhook of this namespace alone that refuses every Job: its configuration's name."""
        path = f"/api/v1/namespaces/{self.name}"
        labels = {"metadata": {"labels": {"denied": self.name}}}
        self.control.patch(path, labels)
        authority = (self.control.folder / "certs" / "apiserver.crt").read_bytes()
        hook = {
            "name": "deny.herorun.test",
            "clientConfig": {
                "url": f"{self.node.url}/deny/{quote(message)}",
                "caBundle": b64encode(authority).decode(),
            },
            "rules": [
                {
                    "apiGroups": ["batch"],
                    "apiVersions": ["v1"],
                    "operations": ["CREATE"],
                    "resources": ["jobs"],
                }
            ],
            "namespaceSelector": {"matchLabels": labels["metadata"]["labels"]},
            "sideEffects": "None",
            "admissionReviewVersions": ["v1"],
        }
        kind = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
        document = {"metadata": {"name": f"deny-{self.name}"}, "webhooks": [hook]}
        self.control.ask("POST", kind, document)
        time.sleep(2)  # the server reads its hooks anew each second
        return f"deny-{self.name}"


@pytest.fixture(scope="session")
def k8s_node(control_plane: Control, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    from services.k8s_node import Node

    node = Node(control_plane, f"node-{os.getpid()}", tmp_path_factory.mktemp("node"))
    node.start()
    yield node
    node.stop()


@pytest.fixture
def space_by_hand(control_plane: Control, k8s_node: Any) -> Space:
    """One whose pods the node leaves to the test."""
    name = control_plane.namespace(f"space-{os.getpid()}-{next(_COUNTER)}-by-hand")
    return Space(control_plane, name, k8s_node, control_plane.kubeconfig())


@pytest.fixture
def space(control_plane: Control, k8s_node: Any) -> Iterator[Space]:
    name = f"space-{os.getpid()}-{next(_COUNTER)}"
    space = control_plane.namespace(name)
    yield Space(control_plane, space, k8s_node, control_plane.kubeconfig())
    k8s_node.kill_all()
