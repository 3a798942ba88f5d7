"""A snapshot of a namespace: its Jobs or JobSets, their pods, and the nodes that may be lost.

It answers for any number of runs. No list names a `resourceVersion`: one from the server's cache
may be older than a Job that was submitted a moment ago, which would then seem absent.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from typing import Any

from herorun.core.errors import CouldNotLook
from herorun.core.lazy_dataclass import dataclass
from herorun.schedulers._kubernetes.client import Kubectl, ObjectNotFound
from herorun.schedulers._kubernetes.dry_run import no_jobsets
from herorun.schedulers._kubernetes.events import WarningEvents, read_warnings
from herorun.schedulers._kubernetes.jobset import JOB, JOBSET, jobset_record
from herorun.schedulers._kubernetes.kinds import ObjectKind
from herorun.schedulers._kubernetes.parse import (
    JobRecord,
    PodRecord,
    items_of,
    job_record,
    pod_record,
)
from herorun.system.clock import now


@dataclass(frozen=True)
class KubernetesSnapshot:
    at: datetime  # when it was asked for
    jobs: Mapping[str, JobRecord]  # by name, the Jobs of JobSets too
    pods: tuple[PodRecord, ...]
    lost_nodes: frozenset[str]  # nodes that do not answer
    kube: Kubectl

    @cached_property
    def all_jobs(self) -> tuple[JobRecord, ...]:
        """All jobs of the namespace, herorun's or not; queried once, when they are needed."""
        return all_jobs(self.kube)

    @cached_property
    def warnings(self) -> WarningEvents:
        return read_warnings(self.kube)

    def pods_of(self, instance: str) -> tuple[PodRecord, ...]:
        return tuple(pod for pod in self.pods if pod.instance == instance)

    def jobs_of(self, instance: str) -> tuple[JobRecord, ...]:
        """The Jobs of an instance's JobSet."""
        return _jobs_of(instance, self.jobs.values())


def take_snapshot(kube: Kubectl, selector: str, kind: ObjectKind) -> KubernetesSnapshot:
    """The Jobs first: a pod that is there without its Job was then left behind."""
    at = now()
    sets = _sets(kube, selector) if kind == JOBSET else []
    documents = items_of(kube.get(kube.path(JOB.version, JOB.plural, labelSelector=selector)))
    records = [job_record(each) for each in documents]
    records += [_set_record(each, records) for each in sets]
    documents = items_of(kube.get(kube.path("v1", "pods", labelSelector=selector)))
    pods = tuple(pod_record(each) for each in documents)
    return KubernetesSnapshot(
        at, {each.name: each for each in records}, pods, lost_nodes(kube, pods), kube
    )


def all_jobs(kube: Kubectl) -> tuple[JobRecord, ...]:
    documents = items_of(kube.get(kube.path(JOB.version, JOB.plural)))
    return tuple(map(job_record, documents))


def _sets(kube: Kubectl, selector: str) -> list[dict[str, Any]]:
    path = kube.path(JOBSET.version, JOBSET.plural, labelSelector=selector)
    try:
        return items_of(kube.get(path))
    except ObjectNotFound:
        raise CouldNotLook(no_jobsets(kube)) from None


def _set_record(document: Mapping[str, Any], jobs: Sequence[JobRecord]) -> JobRecord:
    name = str((document.get("metadata") or {}).get("name"))
    return jobset_record(document, _jobs_of(name, jobs))


def _jobs_of(instance: str, jobs: Iterable[JobRecord]) -> tuple[JobRecord, ...]:
    return tuple(job for job in jobs if job.instance == instance != job.name)


def lost_nodes(kube: Kubectl, pods: Iterable[PodRecord]) -> frozenset[str]:
    """Nodes are asked for only where a pod runs and is not ready, as its node's controller leaves
    it when the node falls silent; one that cannot be asked about counts as silent.
    """
    doubtful = {pod.node for pod in pods if pod.phase == "Running" and pod.ready is False}
    return frozenset(node for node in doubtful if node and not _node_answers(kube, node))


def _node_answers(kube: Kubectl, node: str) -> bool:
    try:
        node_object = kube.get(f"/api/v1/nodes/{node}")
    except (ObjectNotFound, CouldNotLook):
        return False
    conditions = (node_object.get("status") or {}).get("conditions") or ()
    ready: Mapping[str, object] = next(
        (each for each in conditions if each.get("type") == "Ready"), {}
    )
    return bool(ready.get("status") == "True")
