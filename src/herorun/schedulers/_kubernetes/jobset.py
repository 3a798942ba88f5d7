"""A JobSet: the pods of a run on several nodes, each with a host name that stays. Pure.

It holds one Job. Nothing starts that again: `maxRestarts: 0`. JobSet reports an end in conditions
of its own, and why that came only in those of its Job, so both are read.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from herorun.core.evidence import Job
from herorun.schedulers._kubernetes.kinds import KINDS, ObjectKind, record_of
from herorun.schedulers._kubernetes.options import Options
from herorun.schedulers._kubernetes.parse import JobRecord, job_record
from herorun.schedulers._kubernetes.request import MAIN, QUEUE
from herorun.schedulers._kubernetes.state import judge_kubernetes

JOB, JOBSET = KINDS[:2]


def jobset_of(job: Mapping[str, Any], options: Options) -> dict[str, Any]:
    """The JobSet of a Job's request. A failed Job ends it, unless the back end may restart all."""
    meta, spec = job["metadata"], dict(job["spec"])
    suspend_field = {"suspend": spec.pop("suspend")} if "suspend" in spec else {}
    spec |= {"backoffLimit": 0, "completionMode": "Indexed"}
    labels = {name: value for name, value in meta["labels"].items() if name != QUEUE}
    template = {"metadata": {"labels": labels}, "spec": spec}
    restarts = options.retries if options.restarts == "backend" else 0
    return {
        "apiVersion": JOBSET.version,
        "kind": JOBSET.title,
        "metadata": meta,
        "spec": {
            **suspend_field,
            "failurePolicy": {"maxRestarts": restarts},
            "network": {"enableDNSHostnames": True},
            "replicatedJobs": [{"name": MAIN, "replicas": 1, "template": template}],
        },
    }


def job_spec_of(document: Mapping[str, Any]) -> dict[str, Any]:
    """The `spec` of a request's Job: of the Job itself, or of the one in a JobSet."""
    spec = document["spec"]
    if kind_of(document) == JOBSET:
        spec = spec["replicatedJobs"][0]["template"]["spec"]
    return dict(spec)


def job_in(document: Mapping[str, Any]) -> dict[str, Any]:
    """The Job that JobSet makes of a request: what the server's admission asks about."""
    name = f"{document['metadata']['name']}-{MAIN}-0"
    meta = document["spec"]["replicatedJobs"][0]["template"]["metadata"]
    spec = job_spec_of(document)
    return {
        "apiVersion": JOB.version,
        "kind": JOB.title,
        "metadata": {**meta, "name": name},
        "spec": spec,
    }


def kind_of(document: Mapping[str, Any]) -> ObjectKind:
    return JOBSET if document.get("kind") == JOBSET.title else JOB


def jobset_record(document: Mapping[str, Any], jobs: Sequence[JobRecord]) -> JobRecord:
    """`jobs` are those of the instance, as they were read after it."""
    record = replace(record_of(JOBSET, document, 0), kind=JOBSET.name)
    # JobSet says `Suspended` once it has suspended its Jobs: until then they may still start pods
    record = replace(record, suspended=record.suspended and "Suspended" in record.conditions)
    starts = [job.started for job in jobs if job.started]
    record = replace(record, started=max(starts, default=None))
    failures = [why for job in jobs if (why := job.conditions.get("Failed"))]
    why = next((each for each in failures if each.reason == "DeadlineExceeded"), None)
    if why and "Failed" in record.conditions:
        return replace(record, conditions={**record.conditions, "Failed": why})
    return record


def judge_admitted(document: Mapping[str, Any]) -> Job:
    """Just taken by the server: it has no pods yet."""
    is_set = kind_of(document) == JOBSET
    record = jobset_record(document, ()) if is_set else job_record(document)
    return judge_kubernetes(record, ())
