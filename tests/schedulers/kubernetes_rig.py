"""The adapter as the tests on a real API server use it, and the schemas of newer servers."""

import re
import subprocess
from pathlib import Path
from typing import Any

from herorun import adapters
from herorun.core.ports import Place
from herorun.schedulers import kubernetes
from herorun.schedulers.external.kubernetes import KubernetesById
from services.fixtures import skip_or_fail
from services.k8s import Space, kubectl
from services.servers import PYTHON

VERSIONS = tuple(f"1.{minor}" for minor in range(25, 38))

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


def adapter(
    space: Space, state: Path, root: str = "/out", **changes: object
) -> kubernetes.Kubernetes:
    secrets = {"TRAINING_TOKEN": "tokens/training"}
    stated_options = contract_table(space, **{"secrets": secrets, "settle": "3s", **changes})
    del stated_options["kind"]
    options = kubernetes.Options.model_validate(stated_options)
    return kubernetes.connect(options, Place("tiny", str(state), root, "/repository"))


def by_id(space: Space) -> KubernetesById:
    options = {"cluster": f"{space.kubeconfig}#test/{space.name}", "program": kubectl()}
    place = Place("job", "/state", "/out", "/repository")
    jobs = adapters.connect("schedulers.external", "kubernetes", options, place)
    assert isinstance(jobs, KubernetesById)
    return jobs


def unexpected_fields(*paths: Path) -> dict[str, list[str]]:
    """What the schemas of each Kubernetes do not know in these documents, which otherwise fit them:
    by one process for all versions, for it takes longer to begin than to judge a document.
    """
    program = PYTHON.with_name("kubernetes-validate")
    if not program.exists():
        skip_or_fail(f"{program} is not there: `make services` installs it")
    versions = [word for version in VERSIONS for word in ("-k", version)]
    argv = [program, "--strict", *versions, *paths]
    process = subprocess.run(argv, capture_output=True, text=True, check=False)
    lines = (process.stdout + process.stderr).splitlines()
    fields: dict[str, list[str]] = {}
    for line in lines:
        against = re.search(r" against version ([\d.]+)(?:$|: .*'(\w+)' was unexpected)", line)
        assert against, lines
        fields.setdefault(against[1], []).extend(filter(None, [against[2]]))
    assert (process.returncode == 0) == (not any(fields.values())), lines
    return fields
