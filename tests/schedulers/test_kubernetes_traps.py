"""What a real cluster does that an adapter is easily wrong about, and bad input: one sentence each,
and nothing is submitted twice.

What was seen on a real cluster, and the test of each, here and in the files next to this one; those
of `kubelet` are on real containers:

| trap | test |
| --- | --- |
| the name is taken once (409) | `SchedulerSuite.test_submitting_twice_is_one_job`, `test_another_job_of_the_name_is_left_alone` |
| out of memory is `OOMKilled`, 137 | `state: test_a_failed_pod_tells_what_ended_it`, `kubelet: test_containers_end_as_the_page_says` |
| exit 78 is a refusal | `SchedulerSuite.test_another_exit_code_is_kept` |
| without its image or Secret a Job stays active forever | `pods: test_what_cannot_start_stays_active_and_says_why` |
| no node can take it | `test_what_no_node_can_take_says_why` |
| `DeadlineExceeded` while the pod still runs | `pods: test_a_deadline_is_no_end_while_the_pod_runs` |
| a deleted pod is replaced while it runs | `test_a_deleted_pod_gets_a_second_next_to_it`, `kubelet: test_a_deleted_pod_writes_together_with_its_successor_and_a_stop_ends_both` |
| a lost node's pod stays Running and writes | `test_a_lost_node_is_no_end_and_its_log_cannot_be_read`, `kubelet: test_a_container_writes_on_while_its_node_does_not_answer` |
| a forced deletion leaves two processes | `pods: test_a_forced_deletion_may_leave_two_writers` |
| after a TTL only a 404 is left | `pods: test_after_a_ttl_nobody_can_say_how_it_ended`, `requests: test_a_ttl_that_somebody_adds_is_named` |
| a restarted container has an earlier log | `pods: test_the_log_of_the_attempt_before_comes_first`, `kubelet: test_a_restarted_container_keeps_the_log_of_its_earlier_attempt` |
| a removed container's log is a 200 with a message | `log_parts: test_what_a_kubelet_says_in_place_of_a_removed_log_is_no_log` |
| `kubectl patch` reads first | `in_cluster: test_its_rights_are_enough_for_a_jobset_that_waits_in_kueue_and_is_stopped` |
| a server completes the parts of a list | `requests: test_what_a_server_adds_to_the_parts_of_a_list_is_no_change` |
| a log without a kubelet is a 500 | `test_a_lost_node_is_no_end_and_its_log_cannot_be_read` |
| an old server drops what it does not know | `test_a_field_that_the_server_drops_blocks_by_its_name` |
| a 422 names no server | `errors: test_each_recorded_failure_is_read_as_what_it_is` |
| the ambient context leads elsewhere | `test_neither_the_ambient_kubeconfig_nor_a_current_context_is_ever_used` |
| a wrong namespace lists as an empty one | `on_kubernetes: test_doctor_names_what_is_wrong_with_a_cluster` |
| Kueue: admitted, reserved and evicted at once | `external: test_what_kueue_says_in_words` |
"""  # noqa: E501  # a table

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import yaml

from builders import a_plan
from herorun.core.errors import CouldNotLook, HerorunError, WrongUse
from herorun.core.evidence import Job, JobState, RequestReview, Sourced
from herorun.core.ports import Found, Submission, Unknown
from herorun.schedulers.kubernetes import Kubernetes
from ports.scheduler_suite import long_ago
from schedulers.kubernetes_rig import adapter, by_id
from services.k8s import Space, kubectl
from services.k8s_node import wait_for
from services.k8s_proxy import Proxy
from wording import mentions

pytestmark = pytest.mark.back_end

BATCH = "/apis/batch/v1/namespaces"


def a_submission(script: str = "exit 0", **changes: object) -> Submission:
    env = {"HERORUN_INSTANCE": "tiny-1"}
    return Submission("tiny-1", ("sh", "-c", script), ".", env, ())


def submit(scheduler: Kubernetes, folder: Path, script: str = "exit 0") -> Job:
    return scheduler.submit(a_submission(script), str(folder), "/state/admission.json")


def find_job(scheduler: Kubernetes) -> Job:
    answer = scheduler.find("tiny-1", long_ago())
    assert isinstance(answer, Found), answer
    return answer.job


def jobs_of(space: Space) -> list[str]:
    jobs = space.control.ask("GET", f"{BATCH}/{space.name}/jobs")["items"]
    return [each["metadata"]["name"] for each in jobs]


def one_pod(space: Space) -> str:
    (pod,) = wait_for(lambda: space.control.pods(space.name), 40)
    return str(pod["metadata"]["name"])


def test_a_deleted_pod_gets_a_second_next_to_it(space: Space, tmp_path: Path) -> None:
    """In spite of `backoffLimit: 0`, where the server does not know `podReplacementPolicy`."""
    scheduler = adapter(space, tmp_path, grace="20s")
    submit(scheduler, tmp_path, "trap '' TERM; while true; do sleep 0.1; done")
    wait_for(lambda: find_job(scheduler).state is JobState.RUNNING, 40)
    pod = one_pod(space)
    space.control.ask("DELETE", f"/api/v1/namespaces/{space.name}/pods/{pod}")
    writers = wait_for(lambda: find_job(scheduler).other_writers, 40)
    assert len(writers) == 1 and mentions(writers[0], pod, "together")
    scheduler.stop("tiny-1", "ada@box")
    assert find_job(scheduler).state.live  # until no pod lives, whatever the Job says


def test_a_lost_node_is_no_end_and_its_log_cannot_be_read(
    space_by_hand: Space, tmp_path: Path
) -> None:
    space, name = space_by_hand, f"lost-{space_by_hand.name}"
    space.node.add_dead_node(name)
    scheduler = adapter(space, tmp_path, node_selector={"kubernetes.io/hostname": name})
    submit(scheduler, tmp_path)
    pod = one_pod(space)
    wait_for(lambda: space.control.pods(space.name)[0]["spec"].get("nodeName"), 40)
    assert find_job(scheduler).state in (JobState.PENDING, JobState.BUILDING)
    space.node.set_ready(name, "Unknown")
    space.set_running(pod, ready="False")
    job = find_job(scheduler)
    assert job.state is JobState.UNKNOWN and name in job.reason
    with pytest.raises(CouldNotLook, match=space.name):
        scheduler.tail("tiny-1", 5)
    with pytest.raises(CouldNotLook, match="tiny-1"):
        scheduler.stop("tiny-1", "ada@box")


def test_what_no_node_can_take_says_why(space: Space, tmp_path: Path) -> None:
    scheduler = adapter(space, tmp_path, resources={"nvidia.com/gpu": "16"})
    submit(scheduler, tmp_path)
    reason = wait_for(
        lambda: "Unschedulable" in find_job(scheduler).reason and find_job(scheduler), 40
    )
    assert (reason.state, reason.other_writers) == (JobState.PENDING, ())
    assert "Insufficient nvidia.com/gpu" in reason.reason
    warning = wait_for(lambda: scheduler.warnings("tiny-1"), 40)[0]
    assert mentions(warning, "pod tiny-1-", "FailedScheduling", "Insufficient nvidia.com/gpu")
    assert scheduler.warnings("tiny-2") == ()
    assert warning[:60] in str(by_id(space).warnings("job.batch/tiny-1"))
    with pytest.raises(FileNotFoundError):
        scheduler.tail("tiny-1", 5)


def test_what_was_deleted_is_never_absent_and_its_name_never_used_again(
    space: Space, tmp_path: Path
) -> None:
    scheduler = adapter(space, tmp_path)
    submit(scheduler, tmp_path)
    path = f"{BATCH}/{space.name}/jobs/tiny-1?propagationPolicy=Background"
    space.control.ask("DELETE", path)
    wait_for(lambda: not jobs_of(space))
    answer = scheduler.find("tiny-1", long_ago())
    assert isinstance(answer, Unknown) and answer.forgotten
    answer = scheduler.find("tiny-1", datetime.now(UTC))
    assert isinstance(answer, Unknown) and not answer.forgotten  # too early to tell
    with pytest.raises(CouldNotLook):
        submit(scheduler, tmp_path)
    assert jobs_of(space) == []


def test_a_field_that_the_server_drops_blocks_by_its_name(space: Space, tmp_path: Path) -> None:
    """Seen on 1.20: `suspend` and `podReplacementPolicy` went without a word."""
    scheduler = adapter(space, tmp_path, ignore_changes=[], queue="heroes")
    with pytest.raises(WrongUse, match=r"spec\.(podReplacementPolicy|suspend) was dropped"):
        submit(scheduler, tmp_path)
    assert jobs_of(space) == []


def test_another_job_of_the_name_is_left_alone(space: Space, tmp_path: Path) -> None:
    pod = {"restartPolicy": "Never", "containers": [{"name": "x", "image": "y"}]}
    theirs = {"metadata": {"name": "tiny-1"}, "spec": {"template": {"spec": pod}}}
    space.control.ask("POST", f"{BATCH}/{space.name}/jobs", theirs)
    with pytest.raises(WrongUse, match="Job tiny-1, of"):
        submit(adapter(space, tmp_path), tmp_path)


def test_an_answer_that_was_lost_is_looked_for(space: Space, tmp_path: Path) -> None:
    """The request went through, and the connection broke: one job, not two, and not none."""
    program = tmp_path / "kubectl"
    message = "The connection to the server was refused - did you specify the right host or port?"
    program.write_text(
        f'#!/bin/sh\n{kubectl()} "$@"; code=$?\n'
        f'case "$*" in *dryRun*) ;; *create*) echo "{message}" >&2; exit 1;; esac\nexit $code\n'
    )
    program.chmod(0o755)
    job = submit(adapter(space, tmp_path, program=str(program)), tmp_path, "sleep 30")
    assert jobs_of(space) == ["tiny-1"]
    assert submit(adapter(space, tmp_path), tmp_path, "sleep 30").id == job.id


def test_bad_input_is_one_sentence_and_submits_nothing(
    space: Space, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    dead = space.control.kubeconfig(server="https://127.0.0.1:9")
    expired_kubeconfig = space.control.kubeconfig(token="expired")
    for changes, error, words in (
        ({"kubeconfig": dead}, CouldNotLook, space.name),
        ({"kubeconfig": expired_kubeconfig}, CouldNotLook, "login"),
        ({"kubeconfig": space.control.kubeconfig("nobody")}, WrongUse, "forbidden"),
        ({"context": "prod"}, WrongUse, "prod"),
        ({"kubeconfig": "/no/such/file"}, HerorunError, "context|file"),
        ({"namespace": "no-such"}, WrongUse, 'namespaces "no-such" not found'),
        ({"program": "/no/such/kubectl"}, CouldNotLook, "/no/such/kubectl"),
    ):
        scheduler = adapter(space, tmp_path / "fresh", **changes)
        with pytest.raises(error, match=words) as raised_error:
            submit(scheduler, tmp_path)
        assert "\n" not in str(raised_error.value)
        answer = scheduler.find("tiny-1", datetime.now(UTC) - timedelta(minutes=5))
        assert isinstance(answer, Unknown) or "no-such" in changes.values()
    assert jobs_of(space) == [] and capfd.readouterr().err == ""


def test_neither_the_ambient_kubeconfig_nor_a_current_context_is_ever_used(
    space: Space,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    """All of them lead to another server here, and one has rules of its own for kubectl."""
    other = Proxy(space.control)
    request.addfinalizer(other.stop)
    document = json.loads(Path(space.control.kubeconfig(server=other.url)).read_text())
    document["contexts"][0]["name"] = document["current-context"] = "other"
    (tmp_path / ".kube").mkdir()
    (tmp_path / ".kube" / "config").write_text(json.dumps(document))
    (tmp_path / ".kube" / "kuberc").write_text("{")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / ".kube" / "config"))
    own = json.loads(Path(space.kubeconfig).read_text())
    for part in ("clusters", "users", "contexts"):
        own[part] += [{**each, "name": "other"} for each in document[part]]
    own["contexts"][-1]["context"] = {"cluster": "other", "user": "other", "namespace": "default"}
    config = tmp_path / "own"
    config.write_text(json.dumps({**own, "current-context": "other"}))
    scheduler = adapter(space, tmp_path / "state", kubeconfig=str(config))
    review = review_of_adapter(scheduler)
    assert (review.refused, review.forbidden) == ((), ())
    submit(scheduler, tmp_path, "echo begun; sleep 60")
    wait_for(lambda: find_job(scheduler).state is JobState.RUNNING, 40)
    wait_for(lambda: scheduler.tail("tiny-1", 5) == "begun\n", 40)
    scheduler.stop("tiny-1", "ada@box")
    assert scheduler.examine() and scheduler.warnings("tiny-2") == ()
    assert other.requests == [] and jobs_of(space) == ["tiny-1"]


def test_a_webhook_that_refuses_is_quoted(
    space: Space, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    reason = "gpus are for Tuesdays"
    name = space.deny(reason)
    hooks = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
    request.addfinalizer(lambda: space.control.ask("DELETE", f"{hooks}/{name}"))

    def fail_if_asked() -> str:
        try:
            submit(adapter(space, tmp_path), tmp_path)
        except WrongUse as error:
            return str(error)
        raise AssertionError("it was submitted")

    assert f"{reason}." in fail_if_asked()
    assert jobs_of(space) == []


def test_the_cluster_is_asked_before_anything_is_submitted(space: Space, tmp_path: Path) -> None:
    space.control.quota(space.name, {"requests.cpu": "4", "pods": "3"})
    fields = {"resources": {"cpu": "3"}, "replicas": 2, "secrets": {"A": "tokens/a"}}
    review = review_of_adapter(adapter(space, tmp_path, **fields))
    assert (review.refused, review.changed, review.forbidden) == ((), (), ())
    assert review.missing == ("secret tokens",)
    (exceeded_limit,) = review.exceeded
    assert mentions(exceeded_limit, "6 requests.cpu", "quota small", "0 of 4")
    assert review.unplaceable == ()
    odd = {"priority_class": "no-such", "resources": {"nvidia.com/gpu": "16"}, "ignore_changes": []}
    review = review_of_adapter(adapter(space, tmp_path, **{**odd, "queue": "heroes"}))
    assert "spec.podReplacementPolicy was dropped" in review.changed
    assert any("no-such" in words for words in review.refused)
    assert len(review.unplaceable) == 1 and "16 nvidia.com/gpu" in review.unplaceable[0]
    elsewhere = adapter(space, tmp_path, node_selector={"zone": "x"})
    (unplaceable,) = review_of_adapter(elsewhere).unplaceable
    assert mentions(unplaceable, "no node", "zone=x")
    assert jobs_of(space) == []


def test_a_request_with_a_bundle_is_taken_as_it_is_shown(space: Space, tmp_path: Path) -> None:
    """The digest that the pod compares is in it; the server changes nothing of its init
    container.
    """
    admission = tmp_path / "admission.json"
    admission.write_text('{"plan": "sha256:1"}')
    code = tmp_path / "code"
    code.mkdir()
    (code / "train.py").write_text("")
    scheduler = adapter(space, tmp_path / "state", code="bundle", resources={"cpu": "500m"})
    review = review_of_adapter(scheduler)
    assert (review.refused, review.changed) == ((), ())
    bundle = scheduler.bundle(str(code))
    assert bundle is not None
    submission = a_submission()
    digest = Path(bundle[0]).stem
    assert digest in scheduler.request(submission, str(code), str(admission))
    scheduler.submit(submission, str(code), str(admission))
    (job,) = space.jobs()
    (fetching,) = job["spec"]["template"]["spec"]["initContainers"]
    assert digest in fetching["command"]
    remote = adapter(space, tmp_path / "state", "s3://heroes/tiny", code="bundle")
    with pytest.raises(WrongUse, match="fetch"):
        review_of_adapter(remote)


def test_what_this_login_may_not_is_named(space: Space, tmp_path: Path) -> None:
    space.allow("watcher", "jobs", ["get", "list"])
    login = space.control.kubeconfig("watcher")
    review = review_of_adapter(adapter(space, tmp_path, kubeconfig=login))
    assert review.forbidden == ("create jobs", "patch jobs", "list pods", "get pods/log")
    assert "jobs.batch" in review.refused[0]
    assert set(review.unseen) == {"exceeded", "unplaceable", "preemptors"}


def test_the_role_of_the_template_is_enough_and_no_more(space: Space, tmp_path: Path) -> None:
    template = Path(__file__).parents[2] / "templates" / "kubernetes" / "babysitter.yaml"
    (role,) = [each for each in yaml.safe_load_all(template.read_text()) if each["kind"] == "Role"]
    space.allow_rules("watcher", role["rules"])
    scheduler = adapter(space, tmp_path, kubeconfig=space.control.kubeconfig("watcher"))
    review = review_of_adapter(scheduler)
    assert (review.refused, review.forbidden, review.missing) == ((), (), ())
    # nodes and priority classes are the cluster's
    assert set(review.unseen) == {"unplaceable", "preemptors"}
    submit(scheduler, tmp_path, "sleep 30")
    wait_for(lambda: find_job(scheduler).state is JobState.RUNNING, 40)
    assert scheduler.tail("tiny-1", 5) == ""
    scheduler.stop("tiny-1", "ada@box")
    job = wait_for(lambda: find_job(scheduler).state.is_final and find_job(scheduler), 40)
    assert (job.state, job.stopped_by) == (JobState.CANCELLED, "ada@box")


def review_of_adapter(scheduler: Kubernetes) -> RequestReview:
    plan = replace(a_plan(), secrets=Sourced((*scheduler._options.secrets,), ""))
    plan = replace(plan, secrets=Sourced(("A",) if "A" in plan.secrets.value else (), ""))
    return scheduler.review(plan, "tiny")


ACTS: list[Callable[[Kubernetes], object]] = [
    lambda scheduler: scheduler.live_jobs("tiny"),
    lambda scheduler: scheduler.tail("tiny-1", 5),
    lambda scheduler: scheduler.stop("tiny-1", "ada@box"),
]


def test_whose_work_may_preempt_it_is_named(
    space: Space, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    path = "/apis/scheduling.k8s.io/v1/priorityclasses"
    for word, value, policy in (("low", 10, "Never"), ("high", 1000, "PreemptLowerPriority")):
        name = f"{word}-{space.name}"
        body = {"metadata": {"name": name}, "value": value, "preemptionPolicy": policy}
        space.control.ask("POST", path, body)
        request.addfinalizer(lambda name=name: space.control.ask("DELETE", f"{path}/{name}"))
    low, high = (
        adapter(space, tmp_path, priority_class=f"{w}-{space.name}") for w in ("low", "high")
    )
    assert any(f"high-{space.name} (1000)" in words for words in review_of_adapter(low).preemptors)
    assert not any(space.name in words for words in review_of_adapter(high).preemptors)
    absent = review_of_adapter(adapter(space, tmp_path, priority_class="no-such"))
    assert mentions(absent.preemptors[0], "no PriorityClass no-such")


@pytest.mark.parametrize("act", ACTS)
def test_an_expired_login_is_no_empty_answer(
    act: Callable[[Kubernetes], object], space: Space, tmp_path: Path
) -> None:
    scheduler = adapter(space, tmp_path, kubeconfig=space.control.kubeconfig(token="expired"))
    with pytest.raises(CouldNotLook):
        act(scheduler)
