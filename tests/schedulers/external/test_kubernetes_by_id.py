"""Jobs of a real API server by their names, whoever submitted them; the controllers of custom
resources are played by the test.
"""

from pathlib import Path
from typing import Any

import pytest

from herorun import adapters, job_kinds
from herorun.core.adhoc_jobs.spec import JobSpec
from herorun.core.errors import CouldNotLook, WrongUse
from herorun.core.evidence import Job, JobState
from herorun.core.ports import Found, Place, Unknown
from herorun.schedulers._kubernetes.kinds import KINDS, record_of, with_ray_state
from herorun.schedulers._kubernetes.kueue import kueue_reason
from herorun.schedulers._kubernetes.state import judge_kubernetes
from herorun.schedulers.external.kubernetes import KubernetesById
from services import k8s_crds
from services.k8s import Space, kubectl
from services.k8s_node import wait_for
from wording import mentions

JOBSETS, TRAINJOBS, RAYJOBS, WORKLOADS = k8s_crds.RESOURCES
AT = "2026-11-23T07:00:00Z"


def by_id(space: Space, **changes: str) -> KubernetesById:
    cluster = f"{space.kubeconfig}#test/{space.name}"
    options = {"cluster": cluster, "program": kubectl(), **changes}
    place = Place("job", "/state", "/out", "/repository")
    adapter = adapters.connect("schedulers.external", "kubernetes", options, place)
    assert isinstance(adapter, KubernetesById)
    return adapter


def find_job(space: Space, job: str) -> Job:
    answer = by_id(space).find_job(job)
    assert isinstance(answer, Found), answer
    return answer.job


def a_job(space: Space, name: str, script: str, **spec: Any) -> None:
    container = {"name": "train", "image": "x", "command": ["sh", "-c", script]}
    selector = {"kubernetes.io/hostname": space.node.name}
    pod = {"restartPolicy": "Never", "containers": [container], "nodeSelector": selector}
    body = {"backoffLimit": 0, "template": {"spec": pod}, **spec}
    path = f"/apis/batch/v1/namespaces/{space.name}/jobs"
    space.control.ask("POST", path, {"metadata": {"name": name}, "spec": body})


def a_pod(space: Space, name: str, **labels: str) -> None:
    """As a controller would make it, on a node that the test plays."""
    spec = {"nodeName": space.node.name, "containers": [{"name": "trainer", "image": "x"}]}
    meta = {"name": name, "labels": labels}
    path = f"/api/v1/namespaces/{space.name}/pods"
    space.control.ask("POST", path, {"metadata": meta, "spec": spec})


@pytest.fixture
def crds(space_by_hand: Space) -> Space:
    k8s_crds.load(space_by_hand.control)
    return space_by_hand


@pytest.mark.back_end
def test_a_job_of_another_program_is_followed_to_its_end(space: Space) -> None:
    a_job(space, "foreign", "echo step 7; exit 3")
    job = wait_for(lambda: (j := find_job(space, "foreign")).state.is_final and j, 40)
    assert (job.state, job.exit_code, job.id) == (JobState.FAILED, 3, "foreign")
    assert by_id(space).tail("job.batch/foreign", 5) == "step 7\n"
    origin = by_id(space).origin("job/foreign")
    assert origin.command == ("sh", "-c", "echo step 7; exit 3")
    assert [name for name, _ in by_id(space).listed(5)] == ["foreign"]
    by_id(space).stop("foreign")  # it has ended: nothing is to be done
    assert find_job(space, "foreign").state is JobState.FAILED


@pytest.mark.back_end
def test_a_stop_ends_it_and_leaves_its_record(space: Space) -> None:
    a_job(space, "long", "exec sleep 600")
    wait_for(lambda: find_job(space, "long").state is JobState.RUNNING, 40)
    by_id(space).stop("job.batch/long")
    job = wait_for(lambda: (j := find_job(space, "long")).state.is_final and j, 40)
    assert (job.state, job.stopped_by) == (JobState.CANCELLED, "herorun")


@pytest.mark.back_end
def test_a_missing_name_is_unknown_and_an_unknown_kind_says_so(space: Space) -> None:
    answer = by_id(space).find_job("typo")
    assert isinstance(answer, Unknown) and mentions(answer.why, "typo", "deleted", "ended")
    with pytest.raises(WrongUse, match="typo"):
        by_id(space).stop("typo")
    answer = by_id(space, cluster=f"{space.kubeconfig}#elsewhere/{space.name}").find_job("typo")
    assert isinstance(answer, Unknown) and mentions(answer.why, "context")


@pytest.mark.back_end
def test_a_jobset_ends_by_its_condition_and_no_live_pod(crds: Space) -> None:
    space = crds
    parallel = {"template": {"spec": {"parallelism": 2, "template": {}}}}
    spec = {"replicatedJobs": [{"name": "workers", "replicas": 1, **parallel}]}
    k8s_crds.create(space.control, JOBSETS, space.name, {"metadata": {"name": "set"}, "spec": spec})
    assert find_job(space, "jobset/set").state is JobState.PENDING
    label = {"jobset.sigs.k8s.io/jobset-name": "set"}
    for number in (0, 1):
        a_pod(space, f"set-{number}", **label)
        space.set_running(f"set-{number}")
    job = find_job(space, "jobset/set")
    assert (job.state, job.tasks, job.running_tasks) == (JobState.RUNNING, 2, 2)
    assert job.other_writers == ()
    over = condition("Failed", "True", "FailedJobs")
    k8s_crds.set_status(space.control, JOBSETS, space.name, "set", conditions=[over])
    assert find_job(space, "jobset/set").state.live
    for number in (0, 1):
        space.control.set_pod(space.name, f"set-{number}", phase="Failed")
    assert find_job(space, "jobset.jobset.x-k8s.io/set").state is JobState.FAILED


@pytest.mark.back_end
def test_a_trainjob_is_suspended_by_a_stop(crds: Space) -> None:
    space = crds
    body = {
        "metadata": {"name": "fit"},
        "spec": {"runtimeRef": {"name": "torch"}, "trainer": {"numNodes": 4}},
    }
    k8s_crds.create(space.control, TRAINJOBS, space.name, body)
    assert find_job(space, "trainjob/fit").tasks == 4
    by_id(space).stop("trainjob/fit")
    job = find_job(space, "trainjob/fit")
    assert (job.state, job.stopped_by) == (JobState.CANCELLED, "herorun")


@pytest.mark.back_end
def test_a_ray_cluster_that_runs_is_no_job_that_runs(crds: Space) -> None:
    space = crds
    k8s_crds.create(space.control, RAYJOBS, space.name, {"metadata": {"name": "ray"}, "spec": {}})
    assert find_job(space, "rayjob/ray").state is JobState.PENDING
    a_pod(space, "ray-head", **{"ray.io/cluster": "ray-x"})
    space.set_running("ray-head")

    def set_status(deployment: str, **status: str) -> Job:
        fields = {"rayClusterName": "ray-x", "jobDeploymentStatus": deployment, **status}
        k8s_crds.set_status(space.control, RAYJOBS, space.name, "ray", **fields)
        return find_job(space, "rayjob/ray")

    assert set_status("Initializing").state is JobState.BUILDING
    assert set_status("Running", jobStatus="RUNNING").state is JobState.RUNNING
    doubt = set_status("Failed", jobStatus="RUNNING", reason="DeadlineExceeded")
    assert doubt.state.live and mentions(doubt.reason, "still", "write")  # its pod still runs
    assert set_status("Running", jobStatus="SUCCEEDED").state is JobState.UNKNOWN
    ended_status = set_status("Complete", jobStatus="SUCCEEDED", endTime=AT)
    assert ended_status.state is JobState.SUCCEEDED


@pytest.mark.back_end
def test_kueue_says_what_a_jobset_waits_for_and_a_stop_deactivates_it(crds: Space) -> None:
    space, queue = crds, {"kueue.x-k8s.io/queue-name": "heroes"}
    body = {"metadata": {"name": "queued", "labels": queue}, "spec": {"suspend": True}}
    uid = k8s_crds.create(space.control, JOBSETS, space.name, body)["metadata"]["uid"]
    owner = {"kueue.x-k8s.io/job-uid": uid}
    workload = {"metadata": {"name": "jobset-queued-1", "labels": owner}, "spec": {"active": True}}
    k8s_crds.create(space.control, WORKLOADS, space.name, workload)
    waits = condition("QuotaReserved", "False", "Pending", "no GPU")
    k8s_crds.set_status(space.control, WORKLOADS, space.name, "jobset-queued-1", conditions=[waits])
    job = find_job(space, "jobset/queued")
    assert job.state is JobState.PENDING and mentions(job.reason, "suspended", "quota", "no GPU")
    by_id(space).stop("jobset/queued")
    path = f"/apis/kueue.x-k8s.io/v1beta2/namespaces/{space.name}/workloads/jobset-queued-1"
    assert space.control.ask("GET", path)["spec"]["active"] is False
    assert find_job(space, "jobset/queued").state is JobState.CANCELLED


# --- pure ----------------------------------------------------------------------------------------


def condition(name: str, status: str, reason: str = "Any", message: str = "why") -> dict[str, str]:
    """With all that the projects' definitions demand."""
    fields = {"type": name, "status": status, "reason": reason, "message": message}
    return {**fields, "lastTransitionTime": AT}


@pytest.mark.parametrize(
    ("conditions", "words"),
    [
        ([], ("quota",)),
        ([condition("QuotaReserved", "True")], ("admission checks",)),
        ([condition("QuotaReserved", "True"), condition("Admitted", "True")], ()),
        ([condition("Evicted", "True", "Preempted")], ("evicted", "Preempted")),
        (
            [
                condition("QuotaReserved", "True"),
                condition("Admitted", "True"),
                condition("Evicted", "True", "NodeFailures"),
            ],
            ("admitted", "evicted", "at once", "NodeFailures"),
        ),
        (
            [condition("DeactivationTarget", "True", "RequeuingLimitExceeded")],
            ("deactivated", "RequeuingLimitExceeded"),
        ),
    ],
)
def test_what_kueue_says_in_words(conditions: list[dict[str, str]], words: tuple[str, ...]) -> None:
    reason = kueue_reason({"spec": {}, "status": {"conditions": conditions}})
    assert mentions(reason, *words) if words else reason == ""


def test_a_ray_job_that_was_stopped_is_cancelled() -> None:
    status = {"jobStatus": "STOPPED", "jobDeploymentStatus": "Complete"}
    document = {"metadata": {"name": "x", "uid": "1"}, "spec": {}, "status": status}
    job = judge_kubernetes(record_of(KINDS[3], document, 0), ())
    assert with_ray_state(job, document).state is JobState.CANCELLED


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("fields", [{}, {"metadata": {}, "spec": []}, {"metadata": 1, "spec": {}}])
def test_an_object_that_cannot_be_read_is_no_crash(kind: Any, fields: dict[str, Any]) -> None:
    with pytest.raises(CouldNotLook):
        record_of(kind, fields, 0)


def test_an_id_is_what_kubectl_prints() -> None:
    printed_id = job_kinds.job_kind("kubernetes").printed
    text = "configmap/x created\njobset.jobset.x-k8s.io/tiny-2 created\n"
    match = printed_id.search(text)
    assert match and match[1] == "jobset.jobset.x-k8s.io/tiny-2"
    job_kinds.must_be_id("kubernetes", match[1])
    for job in ("-x", "pod/x", "job/", "job/A", "a b"):
        with pytest.raises(WrongUse):
            job_kinds.must_be_id("kubernetes", job)


def test_the_kubeconfig_is_part_of_the_cluster(tmp_path: Path) -> None:
    spec = JobSpec(job="x", kind="kubernetes", cluster="arn:aws:eks/a/heroes", config="kc")
    resolved_options = job_kinds.resolve_spec(spec, str(tmp_path))
    assert (resolved_options.cluster, resolved_options.config) == (
        f"{tmp_path}/kc#arn:aws:eks/a/heroes",
        "",
    )
    assert job_kinds.resolve_spec(resolved_options, "/elsewhere") == resolved_options
    options = {"context": "train", "namespace": "heroes", "kubeconfig": "/kc"}
    job_kind = job_kinds.job_kind("kubernetes")
    assert job_kind.contract_options(options)["cluster"] == "/kc#train/heroes"
    with pytest.raises(WrongUse, match="CONTEXT/NAMESPACE"):
        job_kind.must_be_reachable(JobSpec(job="x", kind="kubernetes", cluster="train"))
