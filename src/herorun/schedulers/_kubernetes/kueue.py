"""The state of a job by Kueue's Workload, in a sentence.

Kueue can hold Admitted, QuotaReserved and Evicted all true for hours (kueue#14811), so it never
decides the state: only the reason of a wait is taken from it.
"""

from collections.abc import Mapping
from typing import Any

from herorun.core.errors import CouldNotLook
from herorun.schedulers._kubernetes.client import Kubectl
from herorun.schedulers._kubernetes.parse import Condition, all_conditions, items_of

GROUP, PLURAL = "kueue.x-k8s.io", "workloads"
QUEUE, OWNER = "kueue.x-k8s.io/queue-name", "kueue.x-k8s.io/job-uid"


def find_workload(kube: Kubectl, uid: str) -> dict[str, Any] | None:
    """The newest of the job with this uid."""
    path = kube.path(kube.version_of(GROUP), PLURAL, labelSelector=f"{OWNER}={uid}")
    workloads = items_of(kube.get(path))
    return max(workloads, key=_read_creation_time, default=None)


def _read_creation_time(workload: Mapping[str, Any]) -> str:
    meta = workload.get("metadata")
    return str(meta.get("creationTimestamp")) if isinstance(meta, Mapping) else ""


def kueue_reason(workload: Mapping[str, Any]) -> str:
    """Empty where it says nothing but that the job may run."""
    try:
        return _reason(workload)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise CouldNotLook(f"Kueue's Workload cannot be read: {error!r}.") from None


def _reason(workload: Mapping[str, Any]) -> str:
    true, false = all_conditions(workload.get("status") or {})
    if (workload.get("spec") or {}).get("active") is False or "DeactivationTarget" in true:
        why = true.get("DeactivationTarget") or true.get("Evicted") or Condition()
        return _sentence("Kueue has deactivated it and will not start it by itself", why)
    if "Evicted" in true and "Admitted" in true:
        return _sentence("Kueue says that it is admitted and evicted at once", true["Evicted"])
    if "Evicted" in true:
        return _sentence("Kueue has evicted it, and it waits to be admitted", true["Evicted"])
    if "QuotaReserved" not in true:
        why = false.get("QuotaReserved", Condition())
        return _sentence("it waits for quota in Kueue's queue", why)
    if "Admitted" not in true:
        why = false.get("Admitted", Condition())
        return _sentence("Kueue has reserved its quota and waits for admission checks", why)
    if "PodsReady" in false:
        return _sentence("Kueue has admitted it, and its pods are not ready", false["PodsReady"])
    return ""


def _sentence(summary: str, why: Condition) -> str:
    detail = ": ".join(part for part in (why.reason, why.message) if part)
    return f"{summary} ({detail})" if detail else summary
