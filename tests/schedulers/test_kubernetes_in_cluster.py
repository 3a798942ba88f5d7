"""The babysitter inside the cluster: its template on a real API server, by the rights that it
gives.
"""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from herorun.core.evidence import JobState
from herorun.schedulers._kubernetes.compare import differing_fields
from herorun.schedulers._kubernetes.review import list_permissions
from schedulers.kubernetes_rig import VERSIONS, adapter, unexpected_fields
from schedulers.test_kubernetes_kueue import waits_in_kueue, workload_of
from schedulers.test_kubernetes_requests import options
from schedulers.test_kubernetes_traps import find_job, review_of_adapter, submit
from services import k8s_crds
from services.k8s import Space, kubectl
from services.k8s_node import wait_for
from wording import mentions

TOP = Path(__file__).parents[2]
TEMPLATE = TOP / "templates" / "kubernetes" / "babysitter.yaml"
DOCUMENTS: list[dict[str, Any]] = list(yaml.safe_load_all(TEMPLATE.read_text("utf-8")))
PATHS = {
    "ServiceAccount": "/api/v1/namespaces/{}/serviceaccounts",
    "Role": "/apis/rbac.authorization.k8s.io/v1/namespaces/{}/roles",
    "RoleBinding": "/apis/rbac.authorization.k8s.io/v1/namespaces/{}/rolebindings",
    "ConfigMap": "/api/v1/namespaces/{}/configmaps",
    "PersistentVolumeClaim": "/api/v1/namespaces/{}/persistentvolumeclaims",
    "Deployment": "/apis/apps/v1/namespaces/{}/deployments",
}


def of_kind(kind: str) -> dict[str, Any]:
    (document,) = [each for each in DOCUMENTS if each["kind"] == kind]
    return document


def test_the_page_names_the_template_whose_role_is_enough() -> None:
    page = (TOP / "docs" / "schedulers" / "kubernetes.md").read_text("utf-8")
    rights = page.partition("## Least rights\n")[2].partition("\n## ")[0]
    assert f"(../../templates/kubernetes/{TEMPLATE.name})" in rights
    assert of_kind("Role")["metadata"]["name"] in rights


def test_two_of_it_never_run_together_and_its_host_stays_the_same() -> None:
    """The lease is a machine's: a pod of another host name would wait for it to run out."""
    spec = of_kind("Deployment")["spec"]
    assert (spec["replicas"], spec["strategy"]) == (1, {"type": "Recreate"})
    assert spec["template"]["spec"]["hostname"]


@pytest.mark.thorough
def test_it_fits_the_schemas_of_newer_servers() -> None:
    assert unexpected_fields(TEMPLATE) == {version: [] for version in VERSIONS}


def own_login(space: Space, folder: Path) -> str:
    """The template's kubeconfig with a token of its ServiceAccount, as a kubelet would mount it."""
    path = f"{PATHS['ServiceAccount'].format(space.name)}/herorun/token"
    answer = space.control.ask("POST", path, {"spec": {"expirationSeconds": 3600}})
    (folder / "token").write_text(answer["status"]["token"])
    config = yaml.safe_load(of_kind("ConfigMap")["data"]["config"])
    here = {"server": space.control.url, "insecure-skip-tls-verify": True}
    config["clusters"][0]["cluster"] = here
    config["users"][0]["user"]["tokenFile"] = str(folder / "token")
    (folder / "config").write_text(json.dumps(config))
    return str(folder / "config")


@pytest.mark.back_end
def test_a_real_server_takes_it_and_its_rights_are_enough_and_no_more(
    space: Space, tmp_path: Path
) -> None:
    for document in DOCUMENTS:
        path = PATHS[document["kind"]].format(space.name)
        admitted_answer = space.control.ask("POST", path, document)
        assert differing_fields(document, admitted_answer) == (), document["kind"]
    login = own_login(space, tmp_path)
    scheduler = adapter(space, tmp_path / "state", kubeconfig=login, context="train-cluster")
    review = review_of_adapter(scheduler)
    assert (review.refused, review.forbidden, review.missing) == ((), (), ())
    submit(scheduler, tmp_path, "echo begun; exec sleep 600")
    wait_for(lambda: find_job(scheduler).state is JobState.RUNNING, 60)
    assert wait_for(lambda: scheduler.tail("tiny-1", 5), 60) == "begun\n"
    assert scheduler.warnings("tiny-1") == ()
    scheduler.stop("tiny-1", "ada@box")
    job = wait_for(lambda: (j := find_job(scheduler)).state.is_final and j, 60)
    assert (job.state, job.stopped_by) == (JobState.CANCELLED, "ada@box")
    for verb, resource in (
        ("delete", "jobs.batch"),
        ("update", "jobs.batch"),
        ("delete", "jobsets.jobset.x-k8s.io"),
        ("delete", "workloads.kueue.x-k8s.io"),
        ("create", "workloads.kueue.x-k8s.io"),
        ("delete", "pods"),
        ("list", "secrets"),
        ("create", "pods"),
        ("create", "pods/exec"),
    ):
        assert not can_i(space, verb, resource), (verb, resource)


def can_i(space: Space, verb: str, resource: str) -> bool:
    """What `kubectl auth can-i` answers about the template's ServiceAccount."""
    argv = [kubectl(), f"--kubeconfig={space.kubeconfig}", "--context=test"]
    argv += [f"--namespace={space.name}", f"--as=system:serviceaccount:{space.name}:herorun"]
    argv += ["auth", "can-i", verb, *resource.replace("pods/", "pods --subresource=").split()]
    process = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert process.stdout.strip() in ("yes", "no"), process
    return process.stdout.strip() == "yes"


@pytest.fixture
def applied_space(space_by_hand: Space) -> Space:
    """A namespace without a controller of JobSet or Kueue, which the test plays."""
    k8s_crds.load(space_by_hand.control)
    for document in DOCUMENTS:
        if document["kind"] in ("ServiceAccount", "Role", "RoleBinding"):
            path = PATHS[document["kind"]].format(space_by_hand.name)
            space_by_hand.control.ask("POST", path, document)
    return space_by_hand


@pytest.mark.back_end
def test_its_rights_are_enough_for_a_jobset_that_waits_in_kueue_and_is_stopped(
    applied_space: Space, tmp_path: Path
) -> None:
    space, login = applied_space, own_login(applied_space, tmp_path)
    changes = {"kubeconfig": login, "context": "train-cluster", "object": "jobset"}
    scheduler = adapter(space, tmp_path / "state", queue="heroes", **changes)
    review = review_of_adapter(scheduler)
    assert (review.refused, review.forbidden, review.missing) == ((), (), ())
    job = submit(scheduler, tmp_path)
    waits_in_kueue(space, job.id)
    assert mentions(find_job(scheduler).reason, "quota", "no GPU")
    scheduler.stop("tiny-1", "ada@box")
    assert workload_of(space)["spec"]["active"] is False
    for verb, group, resource, part in list_permissions(options(queue="heroes", object="jobset")):
        name = f"{resource}.{group}" if group else f"{resource}/{part}" if part else resource
        assert can_i(space, verb, name), (verb, name)
