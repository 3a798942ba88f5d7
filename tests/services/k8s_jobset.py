"""JobSet's controller, played for the namespace of one test: from a JobSet it makes Jobs, which the
real Job controller runs, and it concludes the JobSet by their ends.

As kubernetes-sigs/jobset does it: a Job is called SET-REPLICATED-INDEX, a failed one fails the set
and ends its other Jobs, and a set that is suspended has no live pods. A server of 1.20 cannot
suspend a Job, so `parallelism: 0` deletes the pods of one.
"""

import threading
from datetime import UTC, datetime
from typing import Any
from urllib.error import HTTPError

from services import k8s_crds
from services.k8s import Space
from services.k8s_node import stamp

NAME = "jobsets.jobset.x-k8s.io"
LABEL = "jobset.sigs.k8s.io"


class JobSetController:
    def __init__(self, space: Space) -> None:
        self._space, self._over = space, threading.Event()
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._sets = f"/apis/jobset.x-k8s.io/v1alpha2/namespaces/{space.name}/jobsets"
        self._jobs = f"/apis/batch/v1/namespaces/{space.name}/jobs"

    def start(self) -> None:
        k8s_crds.load(self._space.control)
        self._thread.start()

    def stop(self) -> None:
        self._over.set()
        self._thread.join(30)

    def sets(self) -> list[dict[str, Any]]:
        return list(self._space.control.ask("GET", self._sets)["items"])

    def _work(self) -> None:
        while not self._over.wait(0.1):
            for each in self.sets():
                try:
                    self._reconcile(each)
                except HTTPError as error:
                    if error.code not in (404, 409):  # gone, or changed meanwhile
                        raise

    def _reconcile(self, jobset: dict[str, Any]) -> None:
        name = jobset["metadata"]["name"]
        jobs_listed = self._space.control.ask(
            "GET", f"{self._jobs}?labelSelector={LABEL}%2Fjobset-name%3D{name}"
        )["items"]
        if {"Completed", "Failed"} & true_conditions(jobset):
            return
        if jobset["spec"].get("suspend"):
            for job in jobs_listed:
                self._change(job, {"parallelism": 0})
            self._conclude(jobset, "Suspended", "SuspendedJobs")
            return
        if not jobs_listed:
            for each in jobset["spec"]["replicatedJobs"]:
                self._create(jobset, each)
            return
        failed_jobs = [job for job in jobs_listed if "Failed" in true_conditions(job)]
        if failed_jobs:
            for job in jobs_listed:
                if not true_conditions(job):
                    self._change(job, {"parallelism": 0})
            self._conclude(jobset, "Failed", "FailedJobs")
        elif all("Complete" in true_conditions(job) for job in jobs_listed):
            self._conclude(jobset, "Completed", "AllJobsCompleted")

    def _create(self, jobset: dict[str, Any], replicated_job: dict[str, Any]) -> None:
        name, template = jobset["metadata"]["name"], replicated_job["template"]
        labels = {
            **(template.get("metadata") or {}).get("labels", {}),
            f"{LABEL}/jobset-name": name,
            f"{LABEL}/replicatedjob-name": replicated_job["name"],
            f"{LABEL}/job-index": "0",
            f"{LABEL}/restart-attempt": "0",
        }
        owner = {"apiVersion": jobset["apiVersion"], "kind": "JobSet", "controller": True}
        owner |= {part: jobset["metadata"][part] for part in ("name", "uid")}
        spec = template["spec"]
        pod = spec["template"]
        meta = {**pod.get("metadata", {})}
        meta["labels"] = {**meta.get("labels", {}), **labels}
        job = {
            "metadata": {
                "name": f"{name}-{replicated_job['name']}-0",
                "labels": labels,
                "ownerReferences": [owner],
            },
            "spec": {**spec, "template": {**pod, "metadata": meta}},
        }
        self._space.control.ask("POST", self._jobs, job)

    def _change(self, job: dict[str, Any], spec: dict[str, Any]) -> None:
        if all(job["spec"].get(name) == value for name, value in spec.items()):
            return
        path = f"{self._jobs}/{job['metadata']['name']}"
        self._space.control.patch(path, {"spec": spec})

    def _conclude(self, jobset: dict[str, Any], name: str, reason: str) -> None:
        if name in true_conditions(jobset):
            return
        condition = {"type": name, "status": "True", "reason": reason, "message": reason}
        condition["lastTransitionTime"] = stamp(datetime.now(UTC))
        set_name = jobset["metadata"]["name"]
        k8s_crds.set_status(
            self._space.control, NAME, self._space.name, set_name, conditions=[condition]
        )


def true_conditions(document: dict[str, Any]) -> set[str]:
    conditions = (document.get("status") or {}).get("conditions") or ()
    return {each["type"] for each in conditions if each["status"] == "True"}
