"""The adapter as the tests on a real API server use it."""

from pathlib import Path
from typing import Any

from herorun import adapters
from herorun.core.ports import Place
from herorun.schedulers import kubernetes
from herorun.schedulers.external.kubernetes import KubernetesById
from services.k8s import Space, kubectl

# What a server of 1.20 does not know yet.
OLD = ("spec.podReplacementPolicy", "spec.completionMode", "spec.suspend")


def contract_table(space: Space, **changes: object) -> dict[str, Any]:
    """`[scheduler]` of a contract, whose pods the test's own node runs."""
    return {
        "kind": "kubernetes",
        "context": "test",
        "namespace": space.name,
        "kubeconfig": space.kubeconfig,
        "program": kubectl(),
        "image": f"registry.test/train@sha256:{'0' * 64}",
        "code": "shared",
        "node_selector": {"kubernetes.io/hostname": space.node.name},
        "ignore_changes": list(OLD),
        "settle": "1s",
        "grace": "5s",
        **changes,
    }


def adapter(space: Space, state: Path, **changes: object) -> kubernetes.Kubernetes:
    secrets = {"TRAINING_TOKEN": "tokens/training"}
    stated = contract_table(space, **{"secrets": secrets, "settle": "3s", **changes})
    del stated["kind"]
    options = kubernetes.Options.model_validate(stated)
    return kubernetes.connect(options, Place("tiny", str(state), "/out", "/repository"))


def by_id(space: Space) -> KubernetesById:
    options = {"cluster": f"{space.kubeconfig}#test/{space.name}", "program": kubectl()}
    place = Place("job", "/state", "/out", "/repository")
    jobs = adapters.connect("schedulers.external", "kubernetes", options, place)
    assert isinstance(jobs, KubernetesById)
    return jobs
