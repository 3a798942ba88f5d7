"""Facts about a Ray cluster: its nodes, how far back it remembers, what it cannot place. Pure."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from herorun.core.admission.hardware import tpu
from herorun.core.errors import CouldNotLook
from herorun.core.finding import count
from herorun.core.lazy_dataclass import dataclass
from herorun.schedulers._ray.parse import RayJob, time_of


@dataclass(frozen=True)
class Node:
    id: str
    address: str
    alive: bool
    began: datetime | None
    total: Mapping[str, float]


def nodes_of(document: Any) -> tuple[Node, ...]:
    """Parses the answer of `/api/v0/nodes?detail=1`."""
    try:
        return tuple(
            Node(
                str(each["node_id"]),
                str(each["node_ip"]),
                each["state"] == "ALIVE",
                time_of(each.get("start_time_ms")),
                dict(each.get("resources_total") or {}),
            )
            for each in document["data"]["result"]["result"]
        )
    except (KeyError, TypeError):
        raise CouldNotLook("Ray's list of nodes has an unknown format.") from None


def began(nodes: Iterable[Node], records: Iterable[RayJob]) -> datetime | None:
    """A time since which the cluster certainly remembers its jobs: that of the oldest item that it
    lists.
    """
    moments = [*(node.began for node in nodes), *(record.submitted for record in records)]
    return min((at for at in moments if at), default=None)


def lost_node(nodes: Iterable[Node], id: str) -> str:
    """The address of a dead node (Ray's term); empty if it is alive or not listed."""
    return next((node.address or node.id for node in nodes if node.id == id and not node.alive), "")


def demand_of(document: Any) -> str:
    """What the cluster cannot place now, in words, from `/api/cluster_status`; empty if it does not
    report it.
    """
    try:
        report = document["data"]["clusterStatus"]
        load = report["loadMetricsReport"]
        demands = [dict(each) for each, _ in load["resourceDemand"] or ()]
        shapes = [dict(each) for each, _ in load["nodeTypes"] or ()]
        coming = len((report.get("autoscalerReport") or {}).get("pendingNodes") or ())
    except (KeyError, TypeError, ValueError):
        return ""
    if not demands:
        return ""
    examples = ", ".join(_shape(each) for each in demands[:3])
    fits = all(any(_has_resources(each, shape) for shape in shapes) for each in demands)
    more = (
        f"{count(coming, 'node')} starting"
        if coming
        else ""
        if fits
        else "no node satisfies that as things stand"
    )
    return f"unsatisfied resources in this cluster: {examples}{'; ' + more if more else ''}"


def _shape(resources: Mapping[str, float]) -> str:
    return " + ".join(f"{amount:g} {name}" for name, amount in sorted(resources.items()))


def _has_resources(demand: Mapping[str, float], shape: Mapping[str, float]) -> bool:
    return all(shape.get(name, 0) >= amount for name, amount in demand.items())


def describe_unplaced(document: Any, driver: str) -> str:
    """The placement groups of one job that wait for resources, in words, from
    `/api/v0/placement_groups`.
    """
    try:
        groups = [
            each
            for each in document["data"]["result"]["result"]
            if each["creator_job_id"] == driver
        ]
        pending = [each for each in groups if each["state"] in ("PENDING", "RESCHEDULING")]
    except (KeyError, TypeError):
        return ""
    if not pending:
        return ""
    return (
        f"runs without its whole allocation: {len(pending)} of {len(groups)} placement groups "
        "wait (unsatisfied resources)"
    )


def _resources_asked(resources: Iterable[str]) -> dict[str, Any]:
    """The accelerator among the entrypoint's own resources: `accelerator_type:H100`, or the head of
    a TPU slice.
    """
    for name in resources:
        kind = name.removeprefix("accelerator_type:")
        head = (
            tpu(name.removeprefix("TPU-").removesuffix("-head"))
            if name.startswith("TPU-")
            else None
        )
        if head and head.chips:
            return {"accelerator": head.kind, "count": head.chips}
        if kind != name:
            return {
                "accelerator": kind.removeprefix("TPU-").lower()
                if kind.startswith("TPU-")
                else kind
            }
    return {}


def hardware_of(
    nodes: Iterable[Node], stated_resources: Mapping[str, Any], resources: Iterable[str] = ()
) -> tuple[dict[str, Any], str]:
    """Keys of `[hardware]` that options or cluster state, and why the others are unknown."""
    totals = [node.total for node in nodes if node.alive]
    kinds = sorted(
        {
            name.partition(":")[2]
            for total in totals
            for name in total
            if name.startswith("accelerator_type:")
        }
    )
    counts = {name: sum(total.get(name, 0) for total in totals) for name in ("GPU", "TPU")}
    hardware: dict[str, Any] = {}
    if len(kinds) == 1:
        hardware["accelerator"] = kinds[0]
    hardware |= _resources_asked(resources)
    if "count" in hardware:
        return hardware, ""
    stated_count = stated_resources.get("count")
    total_count = max(counts.values())
    if stated_count is not None and total_count >= stated_count:
        hardware["count"] = stated_count
        return hardware, ""
    return (
        hardware,
        f"the cluster has {total_count:g} accelerators now; Ray does not report if it can grow",
    )
