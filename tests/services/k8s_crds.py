"""Custom resources of JobSet, Kubeflow's Trainer, KubeRay and Kueue on the real API server.

The definitions are ours and minimal: group, version, kind and plural are the projects' own, and
every field is taken as it is sent. The projects' own definitions, 4 MB, need newer servers than
1.20. No controller of theirs runs: a test writes the status that it would, in their field names.
"""

import time
from typing import Any
from urllib.error import HTTPError

from services.k8s import START, Control

RESOURCES = {
    "jobsets.jobset.x-k8s.io": ("v1alpha2", "JobSet"),
    "trainjobs.trainer.kubeflow.org": ("v1alpha1", "TrainJob"),
    "rayjobs.ray.io": ("v1", "RayJob"),
    "workloads.kueue.x-k8s.io": ("v1beta1", "Workload"),
}
_DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


def load(control: Control) -> None:
    """Once for all processes of a session; they are there when it returns."""
    for name, (version, kind) in RESOURCES.items():
        try:
            control.ask("POST", _DEFINITIONS, _definition(name, version, kind))
        except HTTPError as error:
            if error.code != 409:  # another process was quicker
                raise
    until = time.monotonic() + START
    for name, (version, _) in RESOURCES.items():
        plural, _, group = name.partition(".")
        while not _answers(control, f"/apis/{group}/{version}/{plural}"):
            assert time.monotonic() < until, name
            time.sleep(0.05)


def _answers(control: Control, path: str) -> bool:
    try:
        control.ask("GET", path)
    except HTTPError as error:
        if error.code != 404:
            raise
        return False
    return True


def _definition(name: str, version: str, kind: str) -> dict[str, Any]:
    plural, _, group = name.partition(".")
    free = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    served = {
        "name": version,
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": free},
        "subresources": {"status": {}},
    }
    names = {"plural": plural, "singular": kind.lower(), "kind": kind, "listKind": f"{kind}List"}
    note = {"api-approved.kubernetes.io": "unapproved, for tests alone"}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": name, "annotations": note},
        "spec": {"group": group, "scope": "Namespaced", "names": names, "versions": [served]},
    }


def create(control: Control, resource: str, space: str, body: dict[str, Any]) -> dict[str, Any]:
    """An object of one of these kinds, as the server has it afterwards."""
    plural, _, group = resource.partition(".")
    version, kind = RESOURCES[resource]
    document = {"apiVersion": f"{group}/{version}", "kind": kind, **body}
    path = f"/apis/{group}/{version}/namespaces/{space}/{plural}"
    return dict(control.ask("POST", path, document))


def set_status(control: Control, resource: str, space: str, name: str, **status: Any) -> None:
    """As its controller would."""
    plural, _, group = resource.partition(".")
    path = f"/apis/{group}/{RESOURCES[resource][0]}/namespaces/{space}/{plural}/{name}/status"
    control.ask("PATCH", path, {"status": status}, "application/merge-patch+json")
