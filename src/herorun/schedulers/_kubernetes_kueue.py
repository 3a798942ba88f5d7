"""What Kueue's Workload of a job says, in a sentence. Pure.

Kueue can hold Admitted, QuotaReserved and Evicted all true for hours (kueue#14811), so it never
decides the state: only the reason of a wait is taken from it.
"""

from collections.abc import Mapping
from typing import Any

from herorun.schedulers._kubernetes_parse import Condition, all_conditions

GROUP, PLURAL = "kueue.x-k8s.io", "workloads"
QUEUE, OWNER = "kueue.x-k8s.io/queue-name", "kueue.x-k8s.io/job-uid"


def kueue_reason(workload: Mapping[str, Any]) -> str:
    """Empty where it says nothing but that the job may run."""
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


def _sentence(words: str, why: Condition) -> str:
    told = ": ".join(part for part in (why.reason, why.message) if part)
    return f"{words} ({told})" if told else words
