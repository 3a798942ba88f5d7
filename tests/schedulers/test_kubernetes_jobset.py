"""JobSets: the contract of every scheduler on a real API server with JobSet's own definition, whose
controller the test plays; and what is sent, read back and concluded.
"""

import json
import os
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from herorun.core.errors import WrongUse
from herorun.core.evidence import JobState
from herorun.core.ports import Found, Place, Unknown
from herorun.schedulers import kubernetes
from herorun.schedulers._kubernetes.compare import differing_fields
from herorun.schedulers._kubernetes.jobset import jobset_of, jobset_record
from herorun.schedulers._kubernetes.parse import job_record, pod_record
from herorun.schedulers._kubernetes.review import list_permissions
from herorun.schedulers._kubernetes.state import judge_kubernetes
from ports.scheduler_suite import Rig, SchedulerSuite, SharesLooks, long_ago
from schedulers.kubernetes_rig import adapter
from schedulers.test_kubernetes_requests import options, request
from schedulers.test_kubernetes_state import a_job, a_pod, ended_pod
from schedulers.test_kubernetes_traps import a_submission, find_job, review_of_adapter, submit
from services import k8s_crds
from services.k8s import Space
from services.k8s_jobset import NAME, JobSetController
from services.k8s_node import wait_for
from wording import mentions


@pytest.fixture
def jobsets(space: Space) -> Iterator[JobSetController]:
    controller = JobSetController(space)
    controller.start()
    yield controller
    controller.stop()


@pytest.fixture
def rig(space: Space, jobsets: JobSetController, tmp_path: Path) -> Iterator[Rig]:
    code, state = tmp_path / "code", tmp_path / "state"
    code.mkdir()

    def connect(**changes: object) -> kubernetes.Kubernetes:
        space.set_secret("tokens", training=os.environ.get("TRAINING_TOKEN"))
        return adapter(space, state, object="jobset", **changes)

    yield Rig(
        connect=connect,
        blind=lambda: connect(kubeconfig=space.control.kubeconfig(server="https://127.0.0.1:9")),
        traces=lambda: (path.read_bytes() for path in state.rglob("*") if path.is_file()),
        code=code,
        patience=60.0,
        resolution=timedelta(seconds=1),
        settle_time=lambda: kubernetes.now() - timedelta(seconds=5),
    )
    space.node.kill_all()


@pytest.mark.back_end
class TestKubernetesJobSet(SchedulerSuite, SharesLooks):
    """What every scheduler must do."""


# --- what is sent ---------------------------------------------------------------------------------


def a_request(**changes: Any) -> dict[str, Any]:
    return jobset_of(request(**changes), options(**changes))


def inner(jobset: dict[str, Any]) -> dict[str, Any]:
    return jobset["spec"]["replicatedJobs"][0]["template"]["spec"]


def test_nothing_starts_it_again() -> None:
    body = a_request(replicas=4, time_limit="2d")
    assert body["metadata"]["name"] == "tiny-1"
    assert body["spec"]["failurePolicy"] == {"maxRestarts": 0}
    job = inner(body)
    policy = {
        name: job[name] for name in ("backoffLimit", "podReplacementPolicy", "completionMode")
    }
    assert policy == {
        "backoffLimit": 0,
        "podReplacementPolicy": "Failed",
        "completionMode": "Indexed",
    }
    assert (job["parallelism"], job["completions"], job["activeDeadlineSeconds"]) == (4, 4, 172800)
    assert job["template"]["spec"]["restartPolicy"] == "Never"
    assert "ttlSecondsAfterFinished" not in {**body["spec"], **job}
    again = a_request(restarts="backend", retries=2)
    assert (
        again["spec"]["failurePolicy"] == {"maxRestarts": 2} and inner(again)["backoffLimit"] == 0
    )


def test_kueue_holds_the_whole_set() -> None:
    body = a_request(queue="heroes")
    assert body["spec"]["suspend"] is True and "suspend" not in inner(body)
    assert body["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] == "heroes"
    template = body["spec"]["replicatedJobs"][0]["template"]
    assert template["metadata"]["labels"] == request()["metadata"]["labels"]


@pytest.mark.parametrize(
    ("path", "name", "value", "harm"),
    [
        (("spec",), "ttlSecondsAfterFinished", 5, "deleted"),
        (("spec", "failurePolicy"), "rules", [{"action": "RestartJob"}], "started"),
        (
            ("spec", "replicatedJobs", 0, "template", "spec"),
            "activeDeadlineSeconds",
            60,
            "ended",
        ),
    ],
)
def test_what_somebody_adds_to_its_end_is_named(
    path: tuple[Any, ...], name: str, value: object, harm: str
) -> None:
    admitted_document = json.loads(json.dumps(a_request()))
    part = admitted_document
    for step in path:
        part = part[step]
    part[name] = value
    (words,) = differing_fields(a_request(), admitted_document)
    assert mentions(words, name, harm)


def test_a_zero_that_is_left_out_is_no_change_and_another_number_is() -> None:
    admitted_request = a_request()
    admitted_request["spec"]["failurePolicy"] = {}
    assert differing_fields(a_request(), admitted_request) == ()
    (words,) = differing_fields(a_request(restarts="backend"), admitted_request)
    assert mentions(words, "spec.failurePolicy.maxRestarts", "dropped")


def test_the_verbs_that_it_needs() -> None:
    verbs = {
        f"{verb} {resource}" for verb, _, resource, _ in list_permissions(options(object="jobset"))
    }
    assert {"create jobsets", "patch jobsets", "list jobs", "list pods"} <= verbs
    assert "create jobs" not in verbs
    queue_verbs = {
        f"{verb} {each}" for verb, _, each, _ in list_permissions(options(queue="heroes"))
    }
    assert {"list workloads", "get workloads", "patch workloads", "create jobs"} <= queue_verbs


# --- what is concluded ----------------------------------------------------------------------------


def a_set(*conditions: tuple[str, str], **changes: Any) -> dict[str, Any]:
    document = a_job(*conditions, **changes)
    document["kind"] = "JobSet"
    document["spec"] = {**a_request(replicas=2)["spec"], "suspend": changes.get("suspend", False)}
    return document


def its_job(*conditions: tuple[str, str]) -> dict[str, Any]:
    document = a_job(*conditions)
    document["metadata"] |= {"name": "tiny-1-main-0", "uid": "u-2"}
    return document


def judge_jobset(jobset: dict[str, Any], job: dict[str, Any], *pods: dict[str, Any]) -> Any:
    record = jobset_record(jobset, [job_record(job)])
    return judge_kubernetes(record, [pod_record(pod) for pod in pods])


def test_a_deadline_of_its_job_is_the_reason_of_its_end() -> None:
    job = its_job(("Failed", "DeadlineExceeded"))
    answer = judge_jobset(a_set(("Failed", "FailedJobs")), job)
    assert (answer.state, answer.reason) == (JobState.TIMED_OUT, "DeadlineExceeded")


def test_its_job_is_no_end_before_its_own_condition() -> None:
    failed_job = its_job(("Failed", "BackoffLimitExceeded"))
    assert judge_jobset(a_set(), failed_job, ended_pod(3)).state is JobState.UNKNOWN
    answer = judge_jobset(a_set(("Failed", "FailedJobs")), failed_job, ended_pod(3))
    assert (answer.state, answer.exit_code) == (JobState.FAILED, 3)
    assert judge_jobset(a_set(("Failed", "FailedJobs")), failed_job, a_pod("Running")).state.live


def test_a_stop_is_over_once_the_controller_says_that_it_is_suspended() -> None:
    notes = {"herorun/stopped-by": "ada@box"}
    stopping_set = a_set(suspend=True, annotations=notes)
    assert judge_jobset(stopping_set, its_job()).state is JobState.PENDING
    suspended_set = a_set(("Suspended", "SuspendedJobs"), suspend=True, annotations=notes)
    assert judge_jobset(suspended_set, its_job(), a_pod("Running")).state.live
    answer = judge_jobset(suspended_set, its_job())
    assert (answer.state, answer.stopped_by) == (JobState.CANCELLED, "ada@box")


def test_two_pods_of_one_index_write_together() -> None:
    index = {"batch.kubernetes.io/job-completion-index": "0"}
    pods = [a_pod("Running", name, annotations=index) for name in ("tiny-1-a", "tiny-1-b")]
    assert mentions(judge_jobset(a_set(), its_job(), *pods).other_writers[0], "together")
    late = a_pod("Running", annotations=index, created=3600)
    assert mentions(judge_jobset(a_set(), its_job(), late).other_writers[0], "place")


# --- on a real server -----------------------------------------------------------------------------


@pytest.fixture
def by_hand(space_by_hand: Space) -> Space:
    """Without a controller: the test writes the status that it would."""
    k8s_crds.load(space_by_hand.control)
    return space_by_hand


def sets_of(space: Space) -> list[dict[str, Any]]:
    path = f"/apis/jobset.x-k8s.io/v1alpha2/namespaces/{space.name}/jobsets"
    return list(space.control.ask("GET", path)["items"])


@pytest.mark.back_end
def test_the_request_is_admitted_as_it_was_sent_once(by_hand: Space, tmp_path: Path) -> None:
    scheduler = adapter(by_hand, tmp_path, object="jobset", replicas=2)
    job = submit(scheduler, tmp_path, "sleep 600")
    (admitted_set,) = sets_of(by_hand)
    assert (admitted_set["metadata"]["name"], admitted_set["metadata"]["uid"]) == ("tiny-1", job.id)
    printed_request = scheduler.request(
        a_submission("sleep 600"), str(tmp_path), "/state/admission.json"
    )
    first, _, body = printed_request.partition("\n")
    assert first.startswith("POST /apis/jobset.x-k8s.io/v1alpha2/")
    assert differing_fields(json.loads(body), admitted_set) == ()
    assert submit(scheduler, tmp_path, "sleep 600").id == job.id
    assert find_job(scheduler).state is JobState.PENDING
    assert [each.instance for each in scheduler.live_jobs("tiny")] == ["tiny-1"]


@pytest.mark.back_end
def test_its_status_is_that_of_its_conditions_and_its_pods(by_hand: Space, tmp_path: Path) -> None:
    space, scheduler = by_hand, adapter(by_hand, tmp_path, object="jobset", replicas=2)
    submit(scheduler, tmp_path)
    labels = sets_of(space)[0]["spec"]["replicatedJobs"][0]["template"]["metadata"]["labels"]
    for number in ("0", "1"):
        meta = {
            "name": f"tiny-1-main-0-{number}-abcde",
            "labels": labels,
            "annotations": {"batch.kubernetes.io/job-completion-index": number},
        }
        containers = [{"name": "main", "image": "x"}]
        spec = {"nodeName": space.node.name, "containers": containers}
        path = f"/api/v1/namespaces/{space.name}/pods"
        space.control.ask("POST", path, {"metadata": meta, "spec": spec})
        space.set_running(meta["name"])
    job = find_job(scheduler)
    assert (job.state, job.tasks, job.running_tasks, job.other_writers) == (
        JobState.RUNNING,
        2,
        2,
        (),
    )
    over = {"type": "Failed", "status": "True", "reason": "FailedJobs", "message": "why"}
    over["lastTransitionTime"] = "2026-11-23T07:00:00Z"
    k8s_crds.set_status(space.control, NAME, space.name, "tiny-1", conditions=[over])
    assert find_job(scheduler).state.live
    for number in ("0", "1"):
        space.control.set_pod(space.name, f"tiny-1-main-0-{number}-abcde", phase="Failed")
    assert find_job(scheduler).state is JobState.FAILED


@pytest.mark.back_end
def test_what_the_server_would_drop_from_its_job_blocks_by_its_name(
    by_hand: Space, tmp_path: Path
) -> None:
    """JobSet's definition takes the field, and a Job of 1.20 does not have it."""
    scheduler = adapter(by_hand, tmp_path, object="jobset", ignore_changes=[])
    with pytest.raises(WrongUse, match=r"spec\.(podReplacementPolicy|completionMode)"):
        submit(scheduler, tmp_path)
    assert sets_of(by_hand) == []
    changed_fields = review_of_adapter(scheduler).changed
    assert any(words.startswith("spec.podReplacementPolicy") for words in changed_fields)


@pytest.mark.back_end
def test_the_cluster_is_asked_for_the_whole_set(by_hand: Space, tmp_path: Path) -> None:
    space = by_hand
    space.control.quota(space.name, {"requests.cpu": "4"})
    changes = {"resources": {"cpu": "3"}, "replicas": 2, "secrets": {"A": "tokens/a"}}
    review = review_of_adapter(adapter(space, tmp_path, object="jobset", **changes))
    assert (review.refused, review.changed, review.forbidden) == ((), (), ())
    assert review.missing == ("secret tokens",)
    assert mentions(review.exceeded[0], "6 requests.cpu", "small")
    login = space.control.kubeconfig("nobody")
    review = review_of_adapter(adapter(space, tmp_path, object="jobset", kubeconfig=login))
    assert "create jobsets" in review.forbidden and "list jobs" in review.forbidden


@pytest.mark.back_end
def test_another_set_of_the_name_is_left_alone(by_hand: Space, tmp_path: Path) -> None:
    template = {"spec": {"template": {"spec": {"containers": [{"name": "x", "image": "y"}]}}}}
    spec = {"replicatedJobs": [{"name": "workers", "template": template}]}
    body = {"metadata": {"name": "tiny-1"}, "spec": spec}
    k8s_crds.create(by_hand.control, NAME, by_hand.name, body)
    with pytest.raises(WrongUse, match="tiny-1"):
        submit(adapter(by_hand, tmp_path, object="jobset"), tmp_path)


@pytest.mark.back_end
def test_a_contract_that_was_changed_to_jobs_does_not_call_its_set_absent(
    space: Space, jobsets: JobSetController, tmp_path: Path
) -> None:
    submit(adapter(space, tmp_path, object="jobset"), tmp_path, "sleep 600")
    wait_for(space.jobs, 40)
    answer = adapter(space, tmp_path / "other").find("tiny-1", long_ago())
    assert isinstance(answer, Unknown) and "tiny-1-main-0" in answer.why
    plain = adapter(space, tmp_path / "third")
    plain.submit(replace(a_submission(), instance="tiny-2"), str(tmp_path), "/a.json")
    answer = adapter(space, tmp_path, object="jobset").find("tiny-2", long_ago())
    assert isinstance(answer, Found)


def test_a_cluster_without_jobset_is_reported_with_what_to_do(tmp_path: Path) -> None:
    program = tmp_path / "kubectl"
    words = "Error from server (NotFound): the server could not find the requested resource"
    program.write_text(f"#!/bin/sh\necho '{words}' >&2; exit 1\n")
    program.chmod(0o755)
    contract_options = {"context": "prod", "namespace": "heroes", "image": "x", "code": "shared"}
    fields = {**contract_options, "object": "jobset", "program": str(program)}
    own_options = kubernetes.Options.model_validate(fields)
    scheduler = kubernetes.connect(own_options, Place("tiny", str(tmp_path), "/out", "/repository"))
    answer = scheduler.find("tiny-1", long_ago())
    assert isinstance(answer, Unknown) and mentions(answer.why, "install JobSet", "object")
    with pytest.raises(WrongUse, match="JobSet"):
        submit(scheduler, tmp_path)
