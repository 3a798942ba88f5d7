"""Real pods: a kubelet, containerd and runc run them as containers, and the machine is afterwards
as it was before.
"""

import hashlib
import json
import os
import signal
import socket
import subprocess
import sys
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import tomli_w

from commands.answers import ask
from herorun.core.errors import CouldNotLook
from herorun.core.evidence import Job, JobState
from herorun.core.health.queue_reasons import Waiting, why_waiting
from herorun.core.ports import Found, Place
from herorun.schedulers._kubernetes.bundle import CODE_FOLDER
from herorun.schedulers.kubernetes import Kubernetes
from herorun.store_router import RoutedStore
from operations.seal.sealed_story import has_ended, seal_json
from ports.scheduler_suite import long_ago
from schedulers.kubernetes_rig import adapter, by_id, contract_table
from schedulers.test_kubernetes_in_cluster import DOCUMENTS, PATHS, TOP, of_kind
from schedulers.test_kubernetes_traps import a_submission
from services.k8s import Space, kubectl
from services.k8s_kubelet import NODE, Kubelet
from services.k8s_node import wait_for
from services.servers import Service
from stores.test_gs import a_bucket
from stories import TAG, WAIT, Story, contract_of, eventually
from wording import mentions

pytestmark = pytest.mark.back_end

WRITES = "trap '' TERM; while true; do echo row >> rows; sleep 0.1; done"


def sees(folder: Path, *env: dict[str, Any]) -> str:
    """The user's own part of a pod: a folder of this machine under its own path."""
    container = {
        "name": "main",
        "volumeMounts": [{"name": "disk", "mountPath": str(folder)}],
        "env": list(env),
    }
    volumes = [{"name": "disk", "hostPath": {"path": str(folder)}}]
    return json.dumps({"spec": {"volumes": volumes, "containers": [container]}})


@pytest.fixture
def code(tmp_path: Path) -> Path:
    """Without links, as a container sees it."""
    folder = tmp_path.resolve() / "code"
    folder.mkdir()
    (folder / "pod.yaml").write_text(sees(folder))
    return folder


def connect(space: Space, folder: Path, root: str = "/out", **changes: object) -> Kubernetes:
    contract_options = {"image": space.node.image, "pod_template": "pod.yaml", **changes}
    return adapter(space, folder.parent / "state", root, **contract_options)


def submit(scheduler: Kubernetes, code: Path, name: str, script: str) -> None:
    submission = replace(a_submission(script), instance=name)
    scheduler.submit(submission, str(code), "/state/admission.json")


def job_of(scheduler: Kubernetes, name: str) -> Job:
    answer = scheduler.find(name, long_ago())
    assert isinstance(answer, Found), answer
    return answer.job


def end_of(scheduler: Kubernetes, name: str) -> Job:
    return wait_for(lambda: (job := job_of(scheduler, name)).state.is_final and job, 120)


def record(space: Space) -> None:
    """What the server tells of these Jobs, for the tests without one: with HERORUN_RECORD set to
    tests/recordings/kubernetes/kubelet.json.
    """
    if path := os.environ.get("HERORUN_RECORD"):
        answers = {"jobs": space.jobs(), "pods": space.control.pods(space.name)}
        for document in (*answers["jobs"], *answers["pods"]):
            del document["metadata"]["managedFields"]
        Path(path).write_text(json.dumps(answers, indent=1, sort_keys=True) + "\n")


def test_containers_end_as_the_page_says(real_space: Space, code: Path) -> None:
    scheduler = connect(real_space, code)
    small = connect(real_space, code, resources={"memory": "64Mi"})
    submit(small, code, "tiny-1", "exec tail /dev/zero")
    submit(scheduler, code, "tiny-2", "echo refused; exit 78")
    submit(scheduler, code, "tiny-3", "echo $HERORUN_INSTANCE > made; sleep 1; echo over")
    absent = connect(real_space, code, image=f"registry.test/absent@sha256:{'0' * 64}")
    submit(absent, code, "tiny-4", "exit 0")
    reference = {"secretKeyRef": {"name": "none", "key": "none"}}
    (code / "pod.yaml").write_text(sees(code, {"name": "TOKEN", "valueFrom": reference}))
    submit(scheduler, code, "tiny-5", "exit 0")

    job = end_of(scheduler, "tiny-1")
    assert (job.state, job.exit_code) == (JobState.OUT_OF_MEMORY, 137)
    job = end_of(scheduler, "tiny-2")
    assert (job.state, job.exit_code, job.has_crashed) == (JobState.FAILED, 78, False)
    assert scheduler.tail("tiny-2", 5) == "refused\n"
    job = end_of(scheduler, "tiny-3")
    assert (job.state, job.exit_code) == (JobState.SUCCEEDED, 0)
    assert (code / "made").read_text() == "tiny-3\n"
    assert job.placement is not None
    assert (job.placement.nodes, job.placement.images) == ((NODE,), (real_space.node.image,))
    assert job.started and job.ended and job.started < job.ended
    for name, reason in (("tiny-4", "ErrImagePull"), ("tiny-5", "CreateContainerConfigError")):
        job = wait_for(
            lambda name=name, reason=reason: (
                reason in (job := job_of(scheduler, name)).reason and job
            ),
            120,
        )
        assert (job.state, why_waiting(job.reason)) == (JobState.PENDING, Waiting.NEVER)
    record(real_space)
    words = ("tiny-5-", 'secret "none" not found')
    wait_for(lambda: any(mentions(line, *words) for line in scheduler.warnings("tiny-5")), 60)


def test_a_pod_runs_only_the_bundle_that_was_admitted(real_space: Space, code: Path) -> None:
    """Fetched by a command of the image, as from an object store."""
    shared_path = code.parent / "shared"
    shared_path.mkdir()
    (code / "pod.yaml").write_text(sees(shared_path))
    (code / "train.sh").write_text("cat data; pwd\n")
    (code / "data").write_text("admitted\n")
    copy = ["sh", "-c", f'cp {shared_path}/$(basename "$0") "$1"', "{from}", "{to}"]
    contract_options = {"code": "bundle", "fetch": copy}
    scheduler = connect(real_space, code, **contract_options)
    bundle = scheduler.bundle(str(code))
    assert bundle is not None
    path = shared_path / Path(bundle[0]).name
    admission = code.parent / "admission.json"
    admission.write_text('{"plan": "sha256:1"}')

    def begin(adapter: Kubernetes, name: str) -> None:
        submission = replace(a_submission(". ./train.sh"), instance=name)
        adapter.submit(submission, str(code), str(admission))

    path.write_bytes(bundle[1])
    begin(scheduler, "tiny-1")
    job = end_of(scheduler, "tiny-1")
    assert (job.state, job.exit_code) == (JobState.SUCCEEDED, 0)
    assert scheduler.tail("tiny-1", 5) == f"admitted\n{CODE_FOLDER}\n"
    path.write_bytes(bundle[1].replace(b"admitted", b"replaced"))
    begin(scheduler, "tiny-2")
    job = end_of(scheduler, "tiny-2")
    assert (job.state, job.exit_code, job.has_crashed) == (JobState.FAILED, 78, False)
    assert mentions(job.reason, "herorun-code", "sha256:" + path.stem)
    path.unlink()
    begin(scheduler, "tiny-3")
    job = end_of(scheduler, "tiny-3")
    assert (job.state, job.exit_code) == (JobState.FAILED, 1)
    assert mentions(job.reason, "herorun-code", path.name)
    absent = connect(
        real_space, code, **contract_options, image=f"registry.test/absent@sha256:{'0' * 64}"
    )
    begin(absent, "tiny-4")
    job = wait_for(
        lambda: "ErrImagePull" in (job := job_of(scheduler, "tiny-4")).reason and job, 120
    )
    assert (job.state, why_waiting(job.reason)) == (JobState.PENDING, Waiting.NEVER)


def test_a_pod_fetches_its_code_from_an_object_store(
    real_space: Space, code: Path, gcs: Service
) -> None:
    """By a program of its image, with the login of the pod: here of nobody."""
    root = f"gs://{a_bucket(gcs)}/tiny"
    (code / "pod.yaml").write_text(json.dumps({"spec": {"hostNetwork": True}}))
    (code / "train.sh").write_text("echo from the bucket\n")
    wget = ["sh", "-c", f'wget -q -O "$1" {gcs.url}/${{0#gs://}}', "{from}", "{to}"]
    scheduler = connect(real_space, code, root, code="bundle", fetch=wget)
    bundle = scheduler.bundle(str(code))
    assert bundle is not None and bundle[0].startswith(f"{root}/_herorun/code/")
    RoutedStore(Place("tiny", str(code.parent), root, str(code))).create(*bundle)
    admission = code.parent / "admission.json"
    admission.write_text("{}")
    scheduler.submit(a_submission(". ./train.sh"), str(code), str(admission))
    job = end_of(scheduler, "tiny-1")
    assert job.state is JobState.SUCCEEDED, job
    assert scheduler.tail("tiny-1", 5) == "from the bucket\n"


def test_a_restarted_container_keeps_the_log_of_its_earlier_attempt(
    real_space: Space, code: Path
) -> None:
    """Until its node, which keeps one container that has ended, has one more."""
    again = "echo second; while test ! -e go; do sleep 0.1; done; exit 0"
    script = f"test -e again && {{ {again}; }}; touch again; echo first; exit 1"
    job = real_space.job("twice", ["sh", "-c", script], str(code))
    job["spec"]["backoffLimit"] = 3
    pod = json.loads((code / "pod.yaml").read_text())["spec"]
    spec = job["spec"]["template"]["spec"]
    spec |= {"restartPolicy": "OnFailure", "volumes": pod["volumes"]}
    spec["containers"][0] |= {
        "image": real_space.node.image,
        "volumeMounts": pod["containers"][0]["volumeMounts"],
    }
    real_space.control.ask("POST", f"/apis/batch/v1/namespaces/{real_space.name}/jobs", job)
    jobs = by_id(real_space)

    def text() -> str:
        try:
            return jobs.tail("twice", 5)
        except FileNotFoundError:
            return ""

    def has_succeeded() -> bool:
        answer = jobs.find_job("twice")
        return isinstance(answer, Found) and answer.job.state is JobState.SUCCEEDED

    wait_for(lambda: text() == "first\nsecond\n", 120)
    logs, pods = jobs._logs("twice")
    part = logs.read_on(pods, 0, 1 << 20, "")
    assert (part.data, part.offset, part.size) == (b"first\nsecond\n", 13, 13)
    assert logs.read_on(pods, part.offset, 1 << 20, part.mark).data == b""
    (code / "go").touch()
    wait_for(has_succeeded, 120)
    assert text().endswith("second\n")


def test_a_deleted_pod_writes_together_with_its_successor_and_a_stop_ends_both(
    real_space: Space, code: Path
) -> None:
    scheduler = connect(real_space, code, grace="15s")
    submit(scheduler, code, "tiny-1", f"echo begun; {WRITES}")
    wait_for(lambda: job_of(scheduler, "tiny-1").state is JobState.RUNNING, 120)
    (pod,) = real_space.control.pods(real_space.name)
    path = f"/api/v1/namespaces/{real_space.name}/pods/{pod['metadata']['name']}"
    real_space.control.ask("DELETE", path)
    wait_for(lambda: len(real_space.node.processes("echo row")) == 2, 60)
    writers = wait_for(lambda: job_of(scheduler, "tiny-1").other_writers, 60)
    assert mentions(writers[0], pod["metadata"]["name"], "together")
    scheduler.stop("tiny-1", "ada@box")
    job = end_of(scheduler, "tiny-1")
    assert (job.state, job.stopped_by) == (JobState.CANCELLED, "ada@box")
    assert real_space.node.processes("echo row") == []
    assert mentions(scheduler.tail("tiny-1", 5), "begun\n", "gone")


def test_a_container_writes_on_while_its_node_does_not_answer(
    real_space: Space, code: Path
) -> None:
    scheduler = connect(real_space, code)
    submit(scheduler, code, "tiny-1", WRITES)
    wait_for(lambda: job_of(scheduler, "tiny-1").state is JobState.RUNNING, 120)
    node: Kubelet = real_space.node
    node.kill_kubelet()
    (pod,) = node.control.pods(real_space.name)
    # as the node's controller does after its grace period
    condition = {"type": "Ready", "status": "Unknown", "reason": "NodeStatusUnknown"}
    body = {"status": {"conditions": [condition]}}
    node.control.patch(f"/api/v1/nodes/{NODE}/status", body)
    unready = [{"type": "Ready", "status": "False"}]
    node.control.set_pod(real_space.name, pod["metadata"]["name"], conditions=unready)
    job = wait_for(
        lambda: (job := job_of(scheduler, "tiny-1")).state is JobState.UNKNOWN and job, 60
    )
    assert mentions(job.reason, NODE, "answer")
    size = (code / "rows").stat().st_size
    wait_for(lambda: (code / "rows").stat().st_size > size)
    with pytest.raises(CouldNotLook):
        scheduler.tail("tiny-1", 5)
    with pytest.raises(CouldNotLook):
        scheduler.stop("tiny-1", "ada@box")
    # a forced deletion makes a replacement, and the old process writes on
    path = f"/api/v1/namespaces/{real_space.name}/pods/{pod['metadata']['name']}"
    node.control.ask("DELETE", path, {"gracePeriodSeconds": 0})
    size = (code / "rows").stat().st_size
    wait_for(lambda: (code / "rows").stat().st_size > size)
    assert not job_of(scheduler, "tiny-1").state.is_final


PID = 'echo $$ > "$data/pid-$HERORUN_INSTANCE"'


@pytest.fixture
def on_pods(home: Path, real_space: Space) -> Story:
    story = Story(home).begin()
    (story.work / "pod.yaml").write_text(sees(home))
    options = {"image": real_space.node.image, "pod_template": "pod.yaml"}
    contract = {**contract_of(story.data), "scheduler": contract_table(real_space, **options)}
    (story.work / "runs" / "tiny.toml").write_text(tomli_w.dumps(contract))
    story.publish()
    return story


def standing(story: Story, capsys: pytest.CaptureFixture[str]) -> tuple[str, str]:
    """What a tick says; the kubelet reports a container some time after it runs."""
    story.herorun("babysit", "tiny", "--once", "--json")
    tick = json.loads(capsys.readouterr().out)
    return tick["monitor"], tick["run"]


def test_a_run_in_containers_is_killed_relaunched_and_sealed_with_its_image_and_node(
    on_pods: Story, real_space: Space, capsys: pytest.CaptureFixture[str]
) -> None:
    story, node = on_pods, real_space.node
    for name in ("tiny-1", "tiny-2"):
        story.order(name, f"echo begun; {PID}; {WAIT}")
    assert story.init() == 0
    assert story.launch() == 0, capsys.readouterr()
    eventually(lambda: (story.data / "pid-tiny-1").exists(), within=120)
    assert (story.data / "pid-tiny-1").read_text() == "1\n"  # of the container's own
    capsys.readouterr()
    eventually(lambda: standing(story, capsys) == ("fresh", "healthy"), within=120)
    (process,) = node.processes("train.sh")
    os.kill(process, signal.SIGKILL)
    eventually(lambda: has_ended(story), within=120)
    story.tick()
    eventually(lambda: (story.data / "pid-tiny-2").exists(), within=120)
    assert story.starts == ["tiny-1 scratch", f"tiny-2 {story.root / 'step-2'}"]
    assert "begun\n" in ask(story, capsys, "logs", "--instance", "1").out
    (story.data / "go").touch()

    def over() -> bool:
        run = story.run
        answer = run.scheduler.find("tiny-2", run.record.memory().launchings["tiny-2"].at)
        return isinstance(answer, Found) and answer.job.state is JobState.SUCCEEDED

    eventually(over, within=120)
    assert [story.tick(), story.tick()] == [0, 0], capsys.readouterr()
    answer, _ = seal_json(story, capsys, 0)
    assert (answer["verdict"], answer["tag"]) == ("clear", TAG)
    instances = story.statement_facts["instances"]
    assert [each["name"] for each in instances] == ["tiny-1", "tiny-2"]
    assert [each["nodes"] for each in instances] == [[NODE]] * 2
    assert [each["images"] for each in instances] == [[node.image]] * 2


def test_the_code_of_a_run_lies_once_in_its_output_root(
    on_pods: Story, real_space: Space, capsys: pytest.CaptureFixture[str]
) -> None:
    """For a launch and a relaunch: the same code has the same bundle."""
    story, node = on_pods, real_space.node
    path = story.work / "runs" / "tiny.toml"
    contract = tomllib.loads(path.read_text())
    path.write_text(
        tomli_w.dumps({**contract, "scheduler": {**contract["scheduler"], "code": "bundle"}})
    )
    story.publish()
    for name in ("tiny-1", "tiny-2"):
        story.order(name, f"{PID}; pwd; {WAIT}")
    assert story.init() == 0
    assert story.launch() == 0, capsys.readouterr()
    eventually(lambda: (story.data / "pid-tiny-1").exists(), within=120)
    folder = story.root / "_herorun" / "code"
    (bundle,) = folder.iterdir()
    assert bundle.stem == hashlib.sha256(bundle.read_bytes()).hexdigest()
    # its node tells of the container a moment later
    eventually(lambda: CODE_FOLDER in ask(story, capsys, "logs", "tiny").out, within=120)
    (process,) = node.processes("train.sh")
    os.kill(process, signal.SIGKILL)
    eventually(lambda: has_ended(story), within=120)
    story.tick()
    eventually(lambda: (story.data / "pid-tiny-2").exists(), within=120)
    assert list(folder.iterdir()) == [bundle]
    bundle.write_bytes(b"something else")
    (process,) = node.processes("train.sh")
    os.kill(process, signal.SIGKILL)
    eventually(lambda: has_ended(story, "tiny-2"), within=120)
    assert story.tick() != 0
    assert len(real_space.jobs()) == 2


# --- the babysitter in the cluster ----------------------------------------------------------------

MOUNT_PATH = "/var/run/secrets/kubernetes.io/serviceaccount"


def of_this_machine(*paths: str) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Volumes and mounts of folders under their own paths: in place of an image with herorun."""
    paths_by_name = [(f"here-{number}", path) for number, path in enumerate(paths)]
    volumes = [{"name": name, "hostPath": {"path": path}} for name, path in paths_by_name]
    return volumes, [{"name": name, "mountPath": path} for name, path in paths_by_name]


def deployment(story: Story, image: str) -> dict[str, Any]:
    """The template's, with what it says to replace, and the token that a cluster mounts itself."""
    document: dict[str, Any] = json.loads(json.dumps(of_kind("Deployment")))
    spec = document["spec"]["template"]["spec"]
    spec |= {"hostNetwork": True, "nodeSelector": {"kubernetes.io/hostname": NODE}}
    programs = {str(Path(program).resolve().parent) for program in (kubectl(), "/bin/sh")}
    folders = {"/usr", "/lib", "/lib64", "/bin", "/etc", sys.prefix, sys.base_prefix, str(TOP)}
    volumes, mounts = of_this_machine(str(story.home), *sorted(programs | folders))
    token = [
        {"serviceAccountToken": {"path": "token", "expirationSeconds": 3600}},
        {"configMap": {"name": "kube-root-ca.crt"}},
    ]
    spec["volumes"] += [*volumes, {"name": "token", "projected": {"sources": token}}]
    mounts += [{"name": "token", "mountPath": MOUNT_PATH}]
    path = f"{Path(sys.executable).parent}:{Path(kubectl()).resolve().parent}:/usr/bin:/bin"
    for container in (*spec["initContainers"], *spec["containers"]):
        container["image"] = image
        container["volumeMounts"] = [*container["volumeMounts"], *mounts]
        container["env"] = [*container["env"], {"name": "PATH", "value": path}]
    (script,) = spec["initContainers"][0]["command"][2:]
    script = script.replace("https://git.example/team/training.git", str(story.origin))
    spec["initContainers"][0]["command"][2] = script
    return document


def apply_template(story: Story, space: Space) -> None:
    for document in DOCUMENTS:
        if document["kind"] == "ConfigMap":
            config = document["data"]["config"].replace(
                "https://kubernetes.default.svc", space.control.url
            )
            document = {**document, "data": {"config": config}}
        if document["kind"] == "Deployment":
            document = deployment(story, space.node.image)
        path = PATHS[document["kind"]].format(space.name)
        space.control.ask("POST", path, document)


@pytest.fixture
def in_cluster(home: Path, real_space: Space, monkeypatch: pytest.MonkeyPatch) -> Story:
    """A run whose contract means the same here and in the babysitter's pod."""
    space, control = real_space, real_space.control
    (home / ".kube").mkdir()
    config = Path(space.kubeconfig).read_text().replace('"test"', '"train-cluster"')
    (home / ".kube" / "config").write_text(config)
    for name, value in {"HOME": str(home), "GIT_CONFIG_COUNT": "1"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "safe.directory")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "*")
    story = Story(home).begin()
    (story.work / "pod.yaml").write_text(sees(home))
    table = contract_table(space, image=space.node.image, pod_template="pod.yaml")
    table |= {"context": "train-cluster", "code": "image", "folder": str(story.work)}
    table = {key: value for key, value in table.items() if key not in ("kubeconfig", "program")}
    contract = {**contract_of(story.data), "scheduler": table, "babysit": {"cadence": "2s"}}
    (story.work / "runs" / "tiny.toml").write_text(tomli_w.dumps(contract))
    story.publish()
    authority = (control.folder / "certs" / "apiserver.crt").read_text()
    objects = f"/api/v1/namespaces/{space.name}"
    body = {"metadata": {"name": "kube-root-ca.crt"}, "data": {"ca.crt": authority}}
    control.ask("POST", f"{objects}/configmaps", body)
    body = {"metadata": {"name": "herorun-git"}, "stringData": {"credentials": ""}}
    control.ask("POST", f"{objects}/secrets", body)
    disk = home / "disk"
    disk.mkdir()
    spec = {
        "capacity": {"storage": "5Gi"},
        "accessModes": ["ReadWriteOnce"],
        "hostPath": {"path": str(disk)},
        "claimRef": {"namespace": space.name, "name": "herorun"},
    }
    control.ask(
        "POST", "/api/v1/persistentvolumes", {"metadata": {"name": space.name}, "spec": spec}
    )
    return story


def test_the_babysitter_of_the_template_relaunches_a_run_from_its_own_pod(
    in_cluster: Story, real_space: Space, capsys: pytest.CaptureFixture[str]
) -> None:
    story, space = in_cluster, real_space
    for name in ("tiny-1", "tiny-2"):
        story.order(name, f"{PID}; {WAIT}")
    assert story.init() == 0
    if story.launch():
        pytest.fail(capsys.readouterr().out)
    eventually(lambda: (story.data / "pid-tiny-1").exists(), within=120)
    # a pod in the machine's own network has its name
    assert story.herorun("handoff", "tiny", "--to", f"herorun@{socket.gethostname()}") == 0
    for path in (story.home, *story.home.rglob("*")):
        os.chown(path, 1000, 1000, follow_symlinks=False)  # the template's user
    apply_template(story, space)

    def says(pod: str, container: str) -> str:
        argv = [kubectl(), f"--kubeconfig={space.kubeconfig}", "--context=test", "logs"]
        argv += [f"--namespace={space.name}", pod, "-c", container]
        result = subprocess.run(argv, capture_output=True, text=True, check=False)
        return result.stdout + result.stderr

    def babysitter() -> str:
        names = [each["metadata"]["name"] for each in space.control.pods(space.name)]
        return next((name for name in names if name.startswith("herorun-babysitter-")), "")

    wait_for(babysitter, 60)
    try:
        wait_for(lambda: "all evidence" in says(babysitter(), "babysitter"), 120)
        (process,) = space.node.processes("train.sh")
        os.kill(process, signal.SIGKILL)
        eventually(lambda: (story.data / "pid-tiny-2").exists(), within=120)
    except AssertionError:
        pods = json.dumps([each["status"] for each in space.control.pods(space.name)])
        text = says(babysitter(), "clone") + says(babysitter(), "babysitter")
        pytest.fail(f"{text}\n{pods}")
    assert story.starts == ["tiny-1 scratch", f"tiny-2 {story.root / 'step-2'}"]
    assert [each["metadata"]["name"] for each in space.jobs()] == ["tiny-1", "tiny-2"]
