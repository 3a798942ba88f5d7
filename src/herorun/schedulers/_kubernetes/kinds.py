"""The kinds of objects that hold a training job, brought to the form of a Job. Pure.

A JobSet, a TrainJob and a RayJob have end conditions of their own, and other labels on their pods;
`_kubernetes.state` evaluates the form that is made of them here.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from herorun.core.errors import CouldNotLook
from herorun.core.evidence import Job, JobState
from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_regex import lazy_regex
from herorun.core.untrusted_json import parse_utc
from herorun.schedulers._kubernetes.parse import Condition, JobRecord, PodRecord, job_record

JOBSET = "jobset.sigs.k8s.io"  # prefix of the labels that JobSet gives its pods
_OVER = ("Complete", "Failed", "ValidationFailed")  # of `jobDeploymentStatus`


@dataclass(frozen=True)
class ObjectKind:
    name: str  # as `kubectl get NAME/x` takes it
    plural: str
    group: str
    title: str
    version: str = ""  # `group/version` that herorun submits, whatever the cluster prefers

    @property
    def resource(self) -> str:
        """As kubectl prints it with `-o name`."""
        return f"{self.name}.{self.group}"


KINDS = (
    ObjectKind("job", "jobs", "batch", "Job", "batch/v1"),
    ObjectKind("jobset", "jobsets", "jobset.x-k8s.io", "JobSet", "jobset.x-k8s.io/v1alpha2"),
    ObjectKind("trainjob", "trainjobs", "trainer.kubeflow.org", "TrainJob"),
    ObjectKind("rayjob", "rayjobs", "ray.io", "RayJob"),
)
_NAME = r"[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?"
_TYPES = "|".join(re.escape(each.resource) for each in KINDS)
ID = lazy_regex(rf"(?:(?:{_TYPES}|{'|'.join(each.name for each in KINDS)})/)?{_NAME}")
PRINTED_NAME = lazy_regex(rf"^((?:{_TYPES})/{_NAME})(?: created)?\s*$", re.MULTILINE)


def kind_and_name(job: str) -> tuple[ObjectKind, str]:
    """
    >>> kind_and_name("jobset.jobset.x-k8s.io/x")[0].plural, kind_and_name("x")[0].plural
    ('jobsets', 'jobs')
    """
    kind_name, _, name = job.rpartition("/")
    kind = next((each for each in KINDS if kind_name in (each.name, each.resource)), KINDS[0])
    return kind, name


def pod_selector(kind: ObjectKind, document: Mapping[str, Any]) -> str:
    """Empty where the object has no pods yet."""
    meta = document.get("metadata") or {}
    if kind.name == "job":
        return f"controller-uid={meta.get('uid', '')}"
    if kind.name == "rayjob":
        cluster = (document.get("status") or {}).get("rayClusterName")
        return f"ray.io/cluster={cluster}" if cluster else ""
    return f"{JOBSET}/jobset-name={meta.get('name', '')}"  # a TrainJob's JobSet has its name


def record_of(kind: ObjectKind, document: Mapping[str, Any], pods: int) -> JobRecord:
    """`pods` is how many there are, for a kind that does not say how many there should be."""
    try:
        record = job_record(document)
        if kind.name == "job":
            return record
        record = replace(
            record, parallelism=_count_pods(kind, document["spec"]) or pods, started=None
        )
        if kind.name == "rayjob":
            return _ray_record(record, document.get("status") or {})
        names = {"Completed": "Complete"}
        conditions = {names.get(name, name): why for name, why in record.conditions.items()}
        return replace(record, conditions=conditions)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise CouldNotLook(
            f"Kubernetes returned a {kind.title} that cannot be read: {error!r}."
        ) from None


def _count_pods(kind: ObjectKind, spec: Mapping[str, Any]) -> int:
    if kind.name == "jobset":
        return sum(_count_replicas(each) for each in spec.get("replicatedJobs") or ())
    return int((spec.get("trainer") or {}).get("numNodes") or 0) if kind.name == "trainjob" else 0


def _count_replicas(job: Mapping[str, Any]) -> int:
    spec = (job.get("template") or {}).get("spec") or {}
    each = 1 if spec.get("parallelism") is None else int(spec["parallelism"])
    return each * (1 if job.get("replicas") is None else int(job["replicas"]))


def _ray_record(record: JobRecord, status: Mapping[str, Any]) -> JobRecord:
    """KubeRay concludes it; what Ray says alone may still change."""
    deployment, word = str(status.get("jobDeploymentStatus") or ""), str(status.get("jobStatus"))
    is_suspended = record.suspended or deployment == "Suspended"
    if deployment not in _OVER:
        return replace(record, suspended=is_suspended, conditions={})
    end_time = status.get("endTime")
    reason = str(status.get("reason") or ("" if deployment == "Complete" else deployment))
    at = parse_utc(str(end_time)) if end_time else None
    condition = Condition(reason, str(status.get("message") or ""), at)
    name = "Complete" if word == "SUCCEEDED" and deployment == "Complete" else "Failed"
    return replace(record, suspended=False, conditions={name: condition})


def pod_of_kind(
    kind: ObjectKind, pod: PodRecord, labels: Mapping[str, Any], owners: int
) -> PodRecord:
    """With an index that no other pod of the same work has: JobSet counts each of its Jobs from
    0, and the pods of a Ray cluster have none. `owners` is how many Jobs there are.
    """
    if kind.name == "rayjob":
        return replace(pod, index=pod.name)
    if kind.name == "job" or (not pod.index and owners < 2):
        return pod
    place = [
        str(labels.get(f"{JOBSET}/{each}", "")) for each in ("replicatedjob-name", "job-index")
    ]
    return replace(pod, index="/".join([*place, pod.index or pod.name]))


def concluded_pods(
    kind: ObjectKind, document: Mapping[str, Any], pods: Sequence[PodRecord]
) -> Sequence[PodRecord]:
    """A Ray cluster may outlive its job: once Ray itself says that the job is over, its pods do
    not count.
    """
    status = document.get("status") or {}
    has_ended = status.get("jobStatus") in ("SUCCEEDED", "FAILED", "STOPPED")
    return [] if kind.name == "rayjob" and has_ended else pods


def with_ray_state(job: Job, document: Mapping[str, Any]) -> Job:
    """A Ray cluster that runs is no job that runs."""
    status = document.get("status") or {}
    word = str(status.get("jobStatus") or "")
    deployment = str(status.get("jobDeploymentStatus") or "")
    job = replace(job, raw=", ".join(filter(None, (word, deployment))) or job.raw)
    if job.state is JobState.FAILED:
        why = ": ".join(str(status[each]) for each in ("reason", "message") if status.get(each))
        state = JobState.CANCELLED if word == "STOPPED" else JobState.FAILED
        return replace(job, state=state, reason=why or job.reason)
    if job.state.is_final or deployment in (*_OVER, "Suspended"):
        return job
    if word in ("SUCCEEDED", "FAILED", "STOPPED"):
        reason = f"Ray says {word}, and KubeRay has not concluded the RayJob yet"
        return replace(job, state=JobState.UNKNOWN, reason=reason)
    if job.state is JobState.RUNNING and word != "RUNNING":
        reason = f"the Ray cluster runs, and the job on it is {word or 'not submitted'}"
        return replace(job, state=JobState.BUILDING, reason=reason, started=None)
    return job


def is_same_work(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether two objects were made from one `generateName`, or run the same commands in the same
    images.
    """
    prefixes = [(each.get("metadata") or {}).get("generateName") for each in (one, other)]
    if prefixes[0] and prefixes[0] == prefixes[1]:
        return True
    work = _work_of(one.get("spec"))
    return bool(work) and work == _work_of(other.get("spec"))


_WORK = ("image", "command", "args", "env", "entrypoint", "runtimeRef")


def _work_of(spec: Any) -> list[Any]:
    """What is run, wherever in the object's tables it stands, in order."""
    if isinstance(spec, Mapping):
        own = [(name, spec[name]) for name in _WORK if name in spec]
        return own + [
            part for name, value in spec.items() if name not in _WORK for part in _work_of(value)
        ]
    return [part for each in spec for part in _work_of(each)] if isinstance(spec, list) else []
