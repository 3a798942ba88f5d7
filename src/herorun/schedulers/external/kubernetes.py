"""A Job, JobSet, TrainJob or RayJob of Kubernetes by its name, no matter who submitted it.

It has ended if its own condition says so and no pod is live; Kueue's Workload gives the reason of a
wait.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from herorun.core.adhoc_jobs.kind import JobKind
from herorun.core.adhoc_jobs.spec import JobSpec
from herorun.core.errors import CouldNotLook, WrongUse, describe_error
from herorun.core.evidence import Job
from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_pydantic import Field
from herorun.core.lazy_regex import lazy_regex
from herorun.core.ports import AdapterOptions, ById, Found, Origin, Place, Search, Unknown
from herorun.schedulers._clusters import ClusterNames
from herorun.schedulers._kubernetes import options as kubernetes_options
from herorun.schedulers._kubernetes.client import Kubectl, ObjectNotFound
from herorun.schedulers._kubernetes.events import own_names, read_warnings, warning_lines
from herorun.schedulers._kubernetes.kinds import (
    ID,
    KINDS,
    PRINTED_NAME,
    ObjectKind,
    concluded_pods,
    is_same_work,
    kind_and_name,
    pod_of_kind,
    pod_selector,
    record_of,
    with_ray_state,
)
from herorun.schedulers._kubernetes.kueue import QUEUE, find_workload, kueue_reason
from herorun.schedulers._kubernetes.logs import PodLogs
from herorun.schedulers._kubernetes.parse import PodRecord, items_of, pod_record
from herorun.schedulers._kubernetes.snapshot import lost_nodes
from herorun.schedulers._kubernetes.state import judge_kubernetes
from herorun.schedulers._kubernetes.stop import deactivate, end_object, end_spec

CLUSTERS = ClusterNames("kubernetes", {}, "--cluster CONTEXT/NAMESPACE")
_WHERE = lazy_regex(r"(?:(?P<config>[^#]+)#)?(?P<context>.+)/(?P<namespace>[a-z0-9-]+)")
_CONTAINER = "kubectl.kubernetes.io/default-container"


@dataclass(frozen=True, kw_only=True)
class KubernetesJobKind(JobKind):
    def listing(self, spec: JobSpec) -> str:
        return f"kubectl get jobs in {spec.cluster}" if spec.cluster else ""

    def resolve_names(self, spec: JobSpec, start: str) -> JobSpec:
        """The spec with the kubeconfig of `--config` as a part of the cluster: one file may have
        many clusters.
        """
        if not spec.cluster:
            return spec
        cluster = CLUSTERS.resolve(spec.cluster)
        if spec.config:
            path = Path(start, Path(spec.config).expanduser()).resolve()
            cluster = f"{path}#{cluster.rpartition('#')[2]}"
        return replace(spec, cluster=cluster, config="")

    def contract_options(self, options: Mapping[str, Any]) -> dict[str, Any]:
        where = f"{options.get('context')}/{options.get('namespace')}"
        config = options.get("kubeconfig")
        return {**options, "cluster": f"{config}#{where}" if config else where}

    def must_be_reachable(self, spec: JobSpec) -> None:
        if not _WHERE.fullmatch(spec.cluster):
            raise WrongUse(
                "A job of Kubernetes needs --cluster CONTEXT/NAMESPACE, a context of the "
                "kubeconfig and the job's namespace."
            )


JOBS = KubernetesJobKind(
    id_pattern=ID,
    id_form="a name as kubectl prints it: job.batch/tiny-1, jobset/x, trainjob/x or rayjob/x",
    needs=("cluster",),
    place=("cluster",),
    printed=PRINTED_NAME,
    has_machine=False,
)


class Options(AdapterOptions):
    cluster: str = Field(
        pattern=rf"^{_WHERE.pattern}$",
        description="`CONTEXT/NAMESPACE`, or `KUBECONFIG#CONTEXT/NAMESPACE`.",
    )
    program: str = Field("kubectl", min_length=1, description="The kubectl program.")


def connect(options: Options, place: Place) -> ById:
    return KubernetesById(options)


class KubernetesById:
    def __init__(self, options: Options) -> None:
        parts = _WHERE.fullmatch(options.cluster)
        assert parts  # by the pattern of its option
        kind_options = kubernetes_options.Options(
            context=parts["context"],
            namespace=parts["namespace"],
            kubeconfig=parts["config"] or "~/.kube/config",
            program=options.program,
            image="none",
            code="shared",
        )
        self._kube = Kubectl(kind_options)

    def find_job(self, job: str) -> Search:
        """The job. After a 404 its end is unknown: a TTL or a person may have deleted it."""
        kind, name = kind_and_name(job)
        try:
            document = self._read(kind, name)
            return Found(self._judge(job, kind, document))
        except ObjectNotFound:
            return Unknown(
                f"{self._kube.where} has no {kind.title} {name}: it was deleted, also by "
                "ttlSecondsAfterFinished, or never was, and how it ended is unknown"
            )
        except (CouldNotLook, OSError) as error:
            return Unknown(describe_error(error))

    def _judge(self, job: str, kind: ObjectKind, document: Mapping[str, Any]) -> Job:
        pods = self._pods(kind, document)
        record = record_of(kind, document, len(pods))
        ended_pods = concluded_pods(kind, document, pods)
        answer = judge_kubernetes(record, ended_pods, lost_nodes(self._kube, ended_pods))
        answer = with_ray_state(answer, document) if kind.name == "rayjob" else answer
        if not answer.state.is_final and (workload := self._workload(document)):
            reasons = (answer.reason, kueue_reason(workload))
            answer = replace(answer, reason="; ".join(part for part in reasons if part))
        return replace(answer, id=job, instance=job)

    def _read(self, kind: ObjectKind, name: str) -> dict[str, Any]:
        return self._kube.get(self._kube.path(self._kube.version_of(kind.group), kind.plural, name))

    def _pod_documents(self, kind: ObjectKind, document: Mapping[str, Any]) -> list[dict[str, Any]]:
        selector = pod_selector(kind, document)
        if not selector:
            return []
        return items_of(self._kube.get(self._kube.path("v1", "pods", labelSelector=selector)))

    def _pods(self, kind: ObjectKind, document: Mapping[str, Any]) -> list[PodRecord]:
        documents = self._pod_documents(kind, document)
        records = [pod_record(each) for each in documents]
        owners = len({record.owner for record in records})
        labels = [(each["metadata"].get("labels") or {}) for each in documents]
        return [
            pod_of_kind(kind, record, label, owners)
            for record, label in zip(records, labels, strict=True)
        ]

    def _workload(self, document: Mapping[str, Any]) -> dict[str, Any] | None:
        """Kueue's Workload, if the object is in one of its queues."""
        meta = document["metadata"]
        if QUEUE not in (meta.get("labels") or {}):
            return None
        return find_workload(self._kube, str(meta["uid"]))

    def tail(self, job: str, lines: int) -> str:
        logs, pods = self._logs(job)
        return logs.tail(pods, lines)

    def log_age(self, job: str) -> timedelta:
        logs, pods = self._logs(job)
        return logs.age(pods)

    def _logs(self, job: str) -> tuple[PodLogs, list[PodRecord]]:
        kind, name = kind_and_name(job)
        documents = self._pod_documents(kind, self._read(kind, name))
        logs = PodLogs(self._kube, _main_container(documents))
        return logs, [pod_record(each) for each in documents]

    def warnings(self, job: str) -> tuple[str, ...]:
        """Warnings about the object and its pods; for a Job also about deleted pods."""
        kind, name = kind_and_name(job)
        if kind.name == "job":
            return warning_lines(read_warnings(self._kube), own_names(name, is_indexed=True))
        documents = self._pod_documents(kind, self._read(kind, name))
        names = [name, *(str(each["metadata"]["name"]) for each in documents)]
        return warning_lines(read_warnings(self._kube), re.compile("|".join(map(re.escape, names))))

    def live_namesakes(self, job: str) -> tuple[str, ...]:
        """Other live objects of its kind with the same work, because names are unique in
        Kubernetes.
        """
        kind, name = kind_and_name(job)
        path = self._kube.path(self._kube.version_of(kind.group), kind.plural)
        objects = {str(each["metadata"]["name"]): each for each in items_of(self._kube.get(path))}
        if name not in objects:
            raise CouldNotLook(
                f"{self._kube.where} no longer lists {job}, so what it ran is unknown"
            )
        own = objects.pop(name)
        same = [other for other, each in objects.items() if is_same_work(own, each)]
        return tuple(
            f"{kind.resource}/{other}"
            for other in sorted(same)
            if not self._judge(other, kind, objects[other]).state.is_final
        )

    def origin(self, job: str) -> Origin:
        """The command of its main container; Kubernetes stores no user."""
        kind, name = kind_and_name(job)
        documents = self._pod_documents(kind, self._read(kind, name))
        if not documents:
            return Origin()
        container = _container(documents[0], _main_container(documents))
        argv = [*(container.get("command") or ()), *(container.get("args") or ())]
        return Origin(command=tuple(map(str, argv)), folder=str(container.get("workingDir") or ""))

    def listed(self, most: int) -> tuple[tuple[str, str], ...]:
        """The Jobs of the namespace, the newest first."""
        kind = KINDS[0]
        jobs = items_of(self._kube.get(self._kube.path("batch/v1", kind.plural)))
        newest = sorted(jobs, key=_read_creation, reverse=True)[:most]
        answers = [judge_kubernetes(record_of(kind, each, 0), ()) for each in newest]
        names = [str(each["metadata"]["name"]) for each in newest]
        return tuple((name, job.raw or "active") for name, job in zip(names, answers, strict=True))

    def stop(self, job: str) -> None:
        """Nothing is deleted. A Job gets a deadline that is over; the others are suspended, and
        what Kueue has admitted is deactivated there, since Kueue would start it again.
        """
        kind, name = kind_and_name(job)
        try:
            document = self._read(kind, name)
        except ObjectNotFound:
            raise WrongUse(f"There is no {kind.title} {name} in {self._kube.where}.") from None
        answer = self._judge(job, kind, document)
        if answer.state.is_final:
            return
        workload = self._workload(document)
        spec = end_spec(kind, document["spec"].get("suspend") is True)
        uid = document["metadata"]["uid"]
        end_object(self._kube, kind, name, uid, "herorun", {} if workload else spec)
        if workload:
            deactivate(self._kube, workload)


def _read_creation(document: Mapping[str, Any]) -> tuple[str, str]:
    meta = document["metadata"]
    return str(meta.get("creationTimestamp") or ""), str(meta.get("name"))


def _main_container(documents: list[dict[str, Any]]) -> str:
    """The container that `kubectl logs` would choose."""
    if not documents:
        return ""
    notes = documents[0]["metadata"].get("annotations") or {}
    return str(notes.get(_CONTAINER) or documents[0]["spec"]["containers"][0]["name"])


def _container(document: Mapping[str, Any], name: str) -> dict[str, Any]:
    containers = document["spec"]["containers"]
    return next((each for each in containers if each["name"] == name), containers[0])
