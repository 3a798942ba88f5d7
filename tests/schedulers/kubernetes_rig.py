"""The adapter as the tests on a real API server use it."""

from pathlib import Path

from herorun.core.ports import Place
from herorun.schedulers import kubernetes
from services.k8s import Space, kubectl

# What a server of 1.20 does not know yet.
OLD = ("spec.podReplacementPolicy", "spec.completionMode", "spec.suspend")


def adapter(space: Space, state: Path, **changes: object) -> kubernetes.Kubernetes:
    stated = {
        "context": "test",
        "namespace": space.name,
        "kubeconfig": space.kubeconfig,
        "program": kubectl(),
        "image": f"registry.test/train@sha256:{'0' * 64}",
        "code": "shared",
        "node_selector": {"kubernetes.io/hostname": space.node.name},
        "secrets": {"TRAINING_TOKEN": "tokens/training"},
        "ignore_changes": OLD,
        "settle": "3s",
        "grace": "5s",
        **changes,
    }
    options = kubernetes.Options.model_validate(stated)
    return kubernetes.connect(options, Place("tiny", str(state), "/out", "/repository"))
