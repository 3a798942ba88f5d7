"""Custom resources of JobSet, Kubeflow's Trainer, KubeRay and Kueue on the real API server.

`k8s_crds.json` has the projects' own definitions, so a field that they do not have is dropped, and
a word that they do not know is refused: kubernetes-sigs/jobset 08dfbdfd, kubeflow/trainer
8c0f5059b, ray-project/kuberay feeaf72fa and kubernetes-sigs/kueue ff69552e79, Apache License 2.0.
Changed here: the stored version alone, without descriptions and printed columns; every pod
specification is a free object, which makes 60 kB of 4 MB; and what a server of 1.20 does not take
is left out: CEL rules, empty defaults, list keys without a default, conversion.

No controller of theirs runs: a test writes the status that it would.
"""

import json
import time
from pathlib import Path
from typing import Any
from urllib.error import HTTPError

from services.k8s import START, Control

DEFINITIONS: list[dict[str, Any]] = json.loads(Path(__file__).with_suffix(".json").read_text())
RESOURCES = {
    each["metadata"]["name"]: (each["spec"]["versions"][0]["name"], each["spec"]["names"]["kind"])
    for each in DEFINITIONS
}
_PATH = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


def load(control: Control) -> None:
    """Once for all processes of a session; they are there when it returns."""
    for definition in DEFINITIONS:
        try:
            control.ask("POST", _PATH, definition)
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
    answer = control.ask("PATCH", path, {"status": status}, "application/merge-patch+json")
    dropped_fields = sorted(status.keys() - answer["status"].keys())
    assert not dropped_fields, f"{resource} has no status.{dropped_fields[0]}"
