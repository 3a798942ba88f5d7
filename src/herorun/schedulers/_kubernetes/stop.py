"""Ending an object without deleting it, so that its record shows who ordered it."""

from collections.abc import Mapping
from typing import Any

from herorun.core.canonical_json import timestamp
from herorun.schedulers._kubernetes.client import Kubectl
from herorun.schedulers._kubernetes.kinds import ObjectKind
from herorun.schedulers._kubernetes.kueue import GROUP, PLURAL
from herorun.schedulers._kubernetes.request import STOPPED_AT, STOPPED_BY
from herorun.system.clock import now


def end_object(
    kube: Kubectl, kind: ObjectKind, name: str, uid: str, by: str, spec: Mapping[str, Any]
) -> None:
    """Selects the object that was read: another object of the same name has another uid."""
    notes = {STOPPED_BY: by, STOPPED_AT: timestamp(now())}
    change: dict[str, Any] = {"metadata": {"uid": uid, "annotations": notes}}
    kube.change(kind.resource, name, {**change, "spec": spec} if spec else change)


def end_spec(kind: ObjectKind, is_suspended: bool) -> dict[str, Any]:
    """A deadline that is over ends a Job for good; the others, and a Job that waits, have none."""
    deletes_pods = kind.name == "job" and not is_suspended
    return {"activeDeadlineSeconds": 1} if deletes_pods else {"suspend": True}


def deactivate(kube: Kubectl, workload: Mapping[str, Any]) -> None:
    """Kueue would otherwise start it again."""
    meta = workload["metadata"]
    change = {"metadata": {"uid": meta["uid"]}, "spec": {"active": False}}
    kube.change(f"{PLURAL}.{GROUP}", meta["name"], change)
