"""What kubectl says of each failure, as it was recorded on a real API server, and what is read in
it.

A recorded text is made again and compared where Kubernetes is built; with HERORUN_RECORD set to
tests/recordings/kubernetes/errors.json, it is recorded again.
"""

import json
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from herorun.core.errors import CouldNotLook, WrongUse
from herorun.schedulers._kubernetes.client import (
    Kubectl,
    NameTaken,
    ObjectNotFound,
    ServerRefusal,
    kubectl_environment,
)
from herorun.schedulers._kubernetes.options import Options
from herorun.system.process import run
from schedulers.kubernetes_rig import contract_table
from services.k8s import Space
from services.k8s_proxy import Proxy
from wording import mentions

RECORDING = Path(__file__).parents[1] / "recordings" / "kubernetes" / "errors.json"
URL = "https://127.0.0.1:6443"
# Each with the error that it means, and what a person must read in it.
MEANING: dict[str, tuple[type[Exception], str]] = {
    "401": (CouldNotLook, "log in again"),
    "403": (ServerRefusal, 'cannot list resource "pods"'),
    "404": (ObjectNotFound, ""),
    "404 namespace": (ServerRefusal, 'namespaces "no-such" not found'),
    "404 kind": (ObjectNotFound, ""),
    "409": (NameTaken, "tiny-1"),
    "422": (ServerRefusal, "spec.template.spec.restartPolicy"),
    "400": (ServerRefusal, "backoffLimit"),
    "webhook": (ServerRefusal, "gpus are for Tuesdays"),
    "429": (CouldNotLook, "Too many requests"),
    "500": (CouldNotLook, "leader changed"),
    "503": (CouldNotLook, "not now"),
    "504": (CouldNotLook, "did not complete"),
    "silent": (CouldNotLook, "deadline|imeout"),
    "refused connection": (CouldNotLook, "connection"),
    "unknown authority": (CouldNotLook, "x509"),
    "no login plugin": (CouldNotLook, "/no/such/login-plugin"),
    "no context": (WrongUse, "prod"),
    "no kubeconfig": (WrongUse, "/no/such/kubeconfig"),
}


def recorded_errors() -> dict[str, str]:
    document: dict[str, dict[str, str]] = json.loads(RECORDING.read_text())
    return document["stderr"]


def kube_of(space: str, **changes: object) -> Kubectl:
    contract_options = {
        "context": "test",
        "namespace": space,
        "image": "x",
        "code": "shared",
        **changes,
    }
    return Kubectl(Options.model_validate(contract_options))


def means(stderr: str, what: str) -> bool:
    error = kube_of("heroes").trouble(stderr, "/apis/batch/v1/namespaces/heroes/jobs/tiny-1")
    kind, words = MEANING[what]
    return type(error) is kind and bool(re.search(words, str(error))) and "\n" not in str(error)


@pytest.mark.parametrize("what", MEANING)
def test_each_recorded_failure_is_read_as_what_it_is(what: str) -> None:
    assert means(recorded_errors()[what], what), recorded_errors()[what]


def test_a_wrong_kubeconfig_names_the_file_of_the_environment_that_is_ignored(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("KUBECONFIG", "/home/ada/cluster.yaml")
    for what in ("no context", "no kubeconfig"):
        error = kube_of("heroes").trouble(recorded_errors()[what], "/x")
        assert mentions(f"{error}", "KUBECONFIG", "/home/ada/cluster.yaml", "[scheduler]")


def test_a_failure_of_the_cluster_is_never_no_such_job() -> None:
    absent = {what for what in MEANING if MEANING[what][0] is ObjectNotFound}
    assert absent == {"404", "404 kind"}
    assert not any(
        mentions(recorded_errors()[what], "NotFound")
        for what in MEANING.keys() - absent - {"404 namespace"}
    )


# --- recording them ------------------------------------------------------------------------------


@pytest.fixture
def proxy(space: Space) -> Iterator[Proxy]:
    kubernetes_proxy = Proxy(space.control)
    yield kubernetes_proxy
    kubernetes_proxy.stop()


def strict(space: Space) -> str:
    """A kubeconfig that trusts only what it is told to."""
    path = Path(space.control.kubeconfig())
    document = json.loads(path.read_text())
    del document["clusters"][0]["cluster"]["insecure-skip-tls-verify"]
    path.write_text(json.dumps(document))
    return str(path)


def plugin(space: Space) -> str:
    path = Path(space.control.kubeconfig())
    document = json.loads(path.read_text())
    api = "client.authentication.k8s.io/v1beta1"
    command = {"apiVersion": api, "command": "/no/such/login-plugin", "interactiveMode": "Never"}
    document["users"][0]["user"] = {"exec": command}
    path.write_text(json.dumps(document))
    return str(path)


def complaints(space: Space, proxy: Proxy) -> Iterator[tuple[str, str]]:
    options = contract_table(space)
    del options["kind"]

    def complaint_of(words: list[str], stdin: object = None, **changes: object) -> str:
        kube = Kubectl(Options.model_validate({**options, **changes}))
        data = json.dumps(stdin).encode() if stdin is not None else b""
        answer = run([*kube.argv, *words], 30.0, env=kubectl_environment(), stdin=data)
        assert answer.code, (words, answer)
        text = answer.err.decode()
        for url in (proxy.url, space.control.url):
            text = text.replace(url, URL).replace(url.removeprefix("https://"), URL[8:])
        return re.sub(r"^\S+ +\d+ (memcache|request)\.go:\d+\].*\n", "", text, flags=re.M).replace(
            space.name, "heroes"
        )

    def through(fault: str, **changes: object) -> str:
        proxy.fault = fault
        config = space.control.kubeconfig(server=proxy.url)
        return complaint_of(["get", "--raw", jobs], kubeconfig=config, **changes)

    jobs = f"/apis/batch/v1/namespaces/{space.name}/jobs"
    pods = f"/api/v1/namespaces/{space.name}/pods"
    create = ["create", "--raw", jobs, "-f", "-"]
    job = space.job("tiny-1", ["true"], "/")
    login: Callable[..., str] = space.control.kubeconfig
    space.allow("watcher", "jobs", ["get", "list"])
    yield "401", complaint_of(["get", "--raw", jobs], kubeconfig=login(token="expired"))
    yield "403", complaint_of(["get", "--raw", pods], kubeconfig=login("watcher"))
    yield "404", complaint_of(["get", "--raw", f"{jobs}/tiny-1"])
    yield "404 kind", complaint_of(["get", "--raw", jobs.replace("batch/v1", "no.such/v1")])
    elsewhere = jobs.replace(space.name, "no-such")
    yield "404 namespace", complaint_of(["create", "--raw", elsewhere, "-f", "-"], job)
    yield "400", complaint_of(create, {**job, "spec": {**job["spec"], "backoffLimit": "many"}})
    odd = json.loads(json.dumps(job))
    odd["spec"]["template"]["spec"]["restartPolicy"] = "Always"
    yield "422", complaint_of(create, odd)
    space.create_job("tiny-1", ["true"], "/")
    yield "409", complaint_of(create, job)
    for status in ("429", "500", "503", "504"):
        yield status, through(status)
    yield "silent", through("silent", timeout="2s")
    yield "refused connection", complaint_of(["get", "--raw", jobs], kubeconfig=login(server=URL))
    yield "unknown authority", complaint_of(["get", "--raw", jobs], kubeconfig=strict(space))
    yield "no login plugin", complaint_of(["get", "--raw", jobs], kubeconfig=plugin(space))
    yield "no context", complaint_of(["get", "--raw", jobs], context="prod")
    yield "no kubeconfig", complaint_of(["get", "--raw", jobs], kubeconfig="/no/such/kubeconfig")
    hook = space.deny("gpus are for Tuesdays")
    kind = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
    try:
        yield "webhook", complaint_of(create, space.job("tiny-2", ["true"], "/"))
    finally:
        space.control.ask("DELETE", f"{kind}/{hook}")


@pytest.mark.back_end
def test_kubectl_says_of_each_failure_what_was_recorded(space: Space, proxy: Proxy) -> None:
    """Word by word it may differ between versions of kubectl; what it means may not."""
    texts = dict(complaints(space, proxy))
    if path := os.environ.get("HERORUN_RECORD"):
        version = run([contract_table(space)["program"], "version", "--client"], 30.0).text
        document = {"kubectl": version.strip(), "stderr": texts}
        Path(path).write_text(json.dumps(document, indent=1, sort_keys=True) + "\n")
    assert texts.keys() == MEANING.keys()
    assert [what for what, text in texts.items() if not means(text, what)] == []
