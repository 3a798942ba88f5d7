"""What Kubernetes is sent, and whether it was taken as it was sent."""

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from herorun.core.errors import WrongUse
from herorun.core.ports import Submission
from herorun.schedulers._kubernetes.bundle import CodeArchive, with_bundle
from herorun.schedulers._kubernetes.compare import differing_fields, quantity
from herorun.schedulers._kubernetes.jobset import job_in, jobset_of
from herorun.schedulers._kubernetes.options import Options, requested_hardware
from herorun.schedulers._kubernetes.priority import PriorityClass, preemptors
from herorun.schedulers._kubernetes.request import (
    RunFacts,
    job_of,
    must_be_sound,
)
from schedulers.kubernetes_rig import VERSIONS, unexpected_fields
from wording import mentions

IMAGE = f"registry.test/train@sha256:{'0' * 64}"
RUN_FACTS = RunFacts("abc", "sha256:1", "/app", "/herorun/admission.json", '{"plan": "sha256:1"}')


def options(**changes: Any) -> Options:
    fields = {"context": "prod", "namespace": "heroes", "image": IMAGE, "folder": "/app", **changes}
    return Options.model_validate(fields)


def submission(*argv: str, **changes: Any) -> Submission:
    fields = {"cwd": ".", "env": {"A": "1"}, "secrets": (), **changes}
    return Submission("tiny-1", argv or ("python", "train.py"), **fields)


def request(template: dict[str, Any] | None = None, **changes: Any) -> dict[str, Any]:
    return job_of(submission(), options(**changes), RUN_FACTS, template or {})


def spec_of(job: dict[str, Any]) -> dict[str, Any]:
    return job["spec"]["template"]["spec"]


def test_nothing_starts_it_again() -> None:
    job = request()
    policy = {name: job["spec"][name] for name in ("backoffLimit", "podReplacementPolicy")}
    assert policy == {"backoffLimit": 0, "podReplacementPolicy": "Failed"}
    assert spec_of(job)["restartPolicy"] == "Never"
    assert "ttlSecondsAfterFinished" not in job["spec"]
    assert request(restarts="backend", retries=2)["spec"]["backoffLimit"] == 2


def test_it_says_whose_it_is() -> None:
    job = request()
    assert job["metadata"]["name"] == "tiny-1"
    labels = {"herorun/run": "tiny", "herorun/instance": "tiny-1", "herorun/root": "abc"}
    assert job["metadata"]["labels"] == labels
    assert job["spec"]["template"]["metadata"]["labels"] == labels
    assert job["metadata"]["annotations"] == {"herorun/plan": "sha256:1"}


def test_no_value_of_a_secret_is_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKEN", "correct-horse")
    order = submission(secrets=("TOKEN",))
    job = job_of(order, options(secrets={"TOKEN": "tokens/wandb"}), RUN_FACTS, {})
    (entry,) = [each for each in spec_of(job)["containers"][0]["env"] if each["name"] == "TOKEN"]
    assert entry["valueFrom"] == {"secretKeyRef": {"name": "tokens", "key": "wandb"}}
    assert "correct-horse" not in json.dumps(job)
    with pytest.raises(WrongUse, match="TOKEN"):
        must_be_sound(order, options())


@pytest.mark.parametrize(
    "order",
    [
        submission("a\0b"),
        submission("caf\udce9"),
        submission(env={"A": "\0"}),
        submission(env={"A=B": "1"}),
        submission(env={"1 A": "1"}),
    ],
)
def test_what_kubernetes_could_not_hold_is_refused(order: Submission) -> None:
    with pytest.raises(WrongUse):
        must_be_sound(order, options())


def test_a_template_is_merged_by_names() -> None:
    template = {
        "metadata": {"labels": {"team": "x"}},
        "spec": {
            "tolerations": [{"key": "gpu"}],
            "volumes": [{"name": "data", "emptyDir": {}}],
            "containers": [
                {"name": "main", "env": [{"name": "A", "value": "0"}, {"name": "B", "value": "2"}]},
                {"name": "sidecar", "image": "s"},
            ],
        },
    }
    job = request(template)
    spec = spec_of(job)
    assert job["spec"]["template"]["metadata"]["labels"]["team"] == "x"
    assert [each["name"] for each in spec["containers"]] == ["main", "sidecar"]
    assert [each["name"] for each in spec["volumes"]] == ["herorun", "data"]
    env = {each["name"]: each.get("value") for each in spec["containers"][0]["env"]}
    assert (env["A"], env["B"], spec["containers"][0]["image"]) == ("1", "2", IMAGE)
    assert spec["tolerations"] == [{"key": "gpu"}]


@pytest.mark.parametrize(
    "template",
    [
        {"spec": {"restartPolicy": "OnFailure"}},
        {"spec": {"containers": [{"name": "main", "command": ["sh"]}]}},
        {"kind": "Pod", "spec": {}},
        {"spec": [1]},
    ],
)
def test_a_template_decides_nothing_that_herorun_decides(template: dict[str, Any]) -> None:
    with pytest.raises(WrongUse, match="pod_template"):
        request(template)


def test_what_was_dropped_or_changed_is_named_and_what_was_added_is_not() -> None:
    body = request(resources={"memory": "1024Mi", "cpu": "0.5"})
    admitted_request = json.loads(json.dumps(body))
    admitted_request["spec"]["manualSelector"] = False
    spec_of(admitted_request)["containers"].append({"name": "istio", "image": "x"})
    limits = {"memory": "1Gi", "cpu": "500m"}
    spec_of(admitted_request)["containers"][-2]["resources"] = {
        "requests": limits,
        "limits": limits,
    }
    assert differing_fields(body, admitted_request) == ()
    del admitted_request["spec"]["podReplacementPolicy"]
    spec_of(admitted_request)["containers"][0]["image"] = "mirror/x"
    differences = differing_fields(body, admitted_request)
    assert differences[0] == "spec.podReplacementPolicy was dropped"
    assert mentions(differences[1], "spec.template.spec.containers[main].image", "changed")
    tolerated_request = ("spec.podReplacementPolicy", "spec.template.spec.containers[main].image")
    assert differing_fields(body, admitted_request, tolerated_request) == ()


def test_what_a_server_adds_to_the_parts_of_a_list_is_no_change() -> None:
    """Seen: with the `apiVersion` of a `fieldRef`, each launch from an image was refused."""
    body = request({"spec": {"tolerations": [{"key": "gpu"}]}})
    admitted_request = json.loads(json.dumps(body))
    (volume,) = spec_of(admitted_request)["volumes"]
    volume["downwardAPI"]["items"][0]["fieldRef"]["apiVersion"] = "v1"
    spec_of(admitted_request)["tolerations"].append({"key": "spot"})
    assert differing_fields(body, admitted_request) == ()
    volume["downwardAPI"]["items"][0]["path"] = "elsewhere"
    spec_of(admitted_request)["tolerations"] = []
    paths = [words.partition(" ")[0] for words in differing_fields(body, admitted_request)]
    assert paths == [
        "spec.template.spec.tolerations[0]",
        "spec.template.spec.volumes[herorun].downwardAPI.items[0].path",
    ]


def test_a_ttl_that_somebody_adds_is_named() -> None:
    """After it, only a 404 is left, and nobody can say how the job ended."""
    admitted_request = request()
    admitted_request["spec"]["ttlSecondsAfterFinished"] = 5
    (difference,) = differing_fields(request(), admitted_request)
    assert mentions(difference, "spec.ttlSecondsAfterFinished", "added", "5", "deleted")


def test_quantities_that_are_none_are_not_alike() -> None:
    assert quantity("lots") is None and quantity("") is None


@pytest.mark.parametrize(
    "changes",
    [
        {"namespace": "No_Such"},
        {"kubeconfig": "config"},
        {"folder": None},
        {"code": "shared"},
        {"secrets": {"A": "no-key"}},
        {"pod_template": "/etc/passwd"},
        {"pod_template": "../x.yaml"},
        {"resources": {"memory": "lots"}},
        {"replicas": 0},
    ],
)
def test_options_that_cannot_be_meant(changes: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        options(**changes)


def test_the_hardware_that_is_asked_for() -> None:
    job_options = options(
        resources={"nvidia.com/gpu": "8"},
        replicas=4,
        node_selector={"nvidia.com/gpu.product": "H100"},
        time_limit="2d",
    )
    assert requested_hardware(job_options).hardware == {"accelerator": "H100", "count": 32}
    assert requested_hardware(job_options).time_limit == 2 * 86400


BATCH = PriorityClass("batch", 10, True, True)
POLITE = PriorityClass("polite", 5000, False, False)
SYSTEM = PriorityClass("system-node-critical", 2000001000, False, True)


def test_who_may_preempt_it() -> None:
    classes = [BATCH, POLITE, PriorityClass("prod", 1000, False, True), SYSTEM]
    (words,) = preemptors(classes, "batch")
    assert mentions(words, "prod (1000)", "may preempt", "10", "batch")
    assert list(preemptors(classes, "")) == [words]  # the class of who names none
    assert list(preemptors(classes, "prod")) == list(preemptors(classes, "polite")) == []
    (words,) = preemptors(classes, "no-such")
    assert mentions(words, "no PriorityClass no-such")
    (words,) = preemptors([POLITE, SYSTEM, PriorityClass("prod", 1, False, True)], "")
    assert mentions(words, "prod (1)", "priority", "0")


@pytest.mark.thorough
def test_the_request_fits_the_schemas_of_newer_servers(tmp_path: Path) -> None:
    """The server of the tests drops without a word what it does not know."""
    fields = {"replicas": 4, "queue": "heroes", "time_limit": "2d"}
    fields["resources"] = {"nvidia.com/gpu": "8"}
    job, inner = tmp_path / "job.json", tmp_path / "inner.json"
    job.write_text(json.dumps(request(**fields)))
    inner.write_text(json.dumps(job_in(jobset_of(request(**fields), options(**fields)))))
    bundled_request, bundle_options = (
        request(**fields),
        options(**fields, code="bundle", folder=None),
    )
    template = bundled_request["spec"]["template"]
    bundled_request["spec"]["template"] = with_bundle(
        template, CodeArchive("/out/a.tar", "abc"), bundle_options
    )
    (tmp_path / "bundled.json").write_text(json.dumps(bundled_request))
    new = {
        version: ["podReplacementPolicy"] if int(version.partition(".")[2]) < 28 else []
        for version in VERSIONS
    }
    assert unexpected_fields(job) == unexpected_fields(inner) == new
    assert unexpected_fields(tmp_path / "bundled.json") == new
