"""Whatever kubectl prints: no error but the promised ones, and no end that nothing tells."""

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given, strategies as st

from herorun.core.errors import CouldNotLook, HerorunError
from herorun.core.evidence import JobState
from herorun.schedulers._kubernetes.client import Kubectl, documents_in
from herorun.schedulers._kubernetes.compare import differing_fields, quantity
from herorun.schedulers._kubernetes.events import warning_line
from herorun.schedulers._kubernetes.kinds import KINDS, is_same_work, record_of, with_ray_state
from herorun.schedulers._kubernetes.kueue import kueue_reason
from herorun.schedulers._kubernetes.options import Options
from herorun.schedulers._kubernetes.parse import items_of, job_record, pod_record
from herorun.schedulers._kubernetes.state import judge_kubernetes
from schedulers.test_kubernetes_state import a_job, a_pod
from test_fuzz import JSON, fuzz

TIME = st.one_of(JSON, st.just("2026-03-02T12:00:00Z"), st.just("9999-99-99T00:00:00Z"))
CONDITION = st.fixed_dictionaries(
    {},
    optional={
        "type": st.one_of(JSON, st.sampled_from(["Complete", "Failed", "Suspended", "Evicted"])),
        "status": st.one_of(JSON, st.sampled_from(["True", "False", "Unknown"])),
        "reason": JSON,
        "message": JSON,
        "lastTransitionTime": TIME,
    },
)
STATE = st.fixed_dictionaries(
    {}, optional=dict.fromkeys(("waiting", "running", "terminated"), JSON)
)
STATUS = st.fixed_dictionaries(
    {},
    optional={
        "phase": st.one_of(JSON, st.sampled_from(["Pending", "Running", "Failed", "Succeeded"])),
        "conditions": st.one_of(JSON, st.lists(st.one_of(CONDITION, JSON), max_size=3)),
        "containerStatuses": st.one_of(
            JSON, st.lists(st.fixed_dictionaries({"state": STATE, "name": JSON}), max_size=2)
        ),
        "startTime": TIME,
        "active": JSON,
        "jobStatus": st.one_of(JSON, st.sampled_from(["RUNNING", "SUCCEEDED", "STOPPED"])),
        "jobDeploymentStatus": st.one_of(JSON, st.sampled_from(["Complete", "Failed"])),
        "endTime": TIME,
    },
)
KUBE = Kubectl(
    Options.model_validate({"context": "c", "namespace": "n", "image": "i", "code": "shared"})
)


@pytest.mark.thorough
@fuzz
@given(job=STATUS, pod=STATUS, spec=JSON)
def test_any_status_of_a_job_and_its_pod_is_judged_or_refused(
    job: Any, pod: Any, spec: Any
) -> None:
    with contextlib.suppress(CouldNotLook):
        record = job_record({**a_job(), "status": job})
        pods = [pod_record({**a_pod("Running"), "status": pod})]
        answer = judge_kubernetes(record, pods)
        assert not (answer.state.is_final and pods[0].live)
        assert answer.state is not JobState.SUCCEEDED or "Complete" in record.conditions
    for kind in KINDS:
        document = {**a_job(), "spec": spec, "status": job}
        with contextlib.suppress(CouldNotLook):
            with_ray_state(judge_kubernetes(record_of(kind, document, 1), ()), document)


@fuzz
@given(answer=JSON, status=STATUS, text=st.text())
def test_any_other_answer_is_words_or_a_refusal(answer: Any, status: Any, text: str) -> None:
    for read in (items_of, job_record, pod_record, kueue_reason, warning_line):
        with contextlib.suppress(CouldNotLook):
            read(answer if isinstance(answer, dict) else {"items": answer, "status": answer})
    with contextlib.suppress(CouldNotLook):
        kueue_reason({"spec": answer, "status": status})
    is_same_work({"spec": answer}, {"spec": answer, "metadata": {"generateName": answer}})
    list(differing_fields(a_job(), answer))
    list(differing_fields({"spec": {"x": answer}}, {"spec": {"x": status}}))
    quantity(text)
    with contextlib.suppress(CouldNotLook):
        documents_in(json.dumps(answer) + text)
    trouble = KUBE.trouble(text, "/x")
    assert isinstance(trouble, HerorunError | OSError) and "\n" not in str(trouble)
