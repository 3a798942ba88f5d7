"""What waits in a queue of Kueue: its reason, and that a stop of it is for good."""

import json
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from herorun.core.evidence import JobState
from herorun.core.ports import Found, Place
from herorun.schedulers import kubernetes
from herorun.schedulers._kubernetes.request import root_of
from schedulers.kubernetes_rig import adapter
from schedulers.test_kubernetes_requests import options
from schedulers.test_kubernetes_state import a_job
from schedulers.test_kubernetes_traps import find_job, submit
from services import k8s_crds
from services.k8s import Space
from wording import mentions

WORKLOADS = "workloads.kueue.x-k8s.io"
AT = "2026-11-23T07:00:00Z"


@pytest.fixture
def crds(space_by_hand: Space) -> Space:
    k8s_crds.load(space_by_hand.control)
    return space_by_hand


def condition(name: str, status: str, reason: str = "Any", message: str = "why") -> dict[str, str]:
    """With all that the projects' definitions demand."""
    fields = {"type": name, "status": status, "reason": reason, "message": message}
    return {**fields, "lastTransitionTime": AT}


def waits_in_kueue(space: Space, uid: str) -> None:
    """As Kueue does for an object in one of its queues that finds no quota."""
    meta = {"name": "tiny-1", "labels": {"kueue.x-k8s.io/job-uid": uid}}
    body = {"metadata": meta, "spec": {"active": True}}
    k8s_crds.create(space.control, WORKLOADS, space.name, body)
    waits = condition("QuotaReserved", "False", "Pending", "no GPU")
    k8s_crds.set_status(space.control, WORKLOADS, space.name, "tiny-1", conditions=[waits])


def workload_of(space: Space) -> dict[str, Any]:
    path = f"/apis/kueue.x-k8s.io/v1beta2/namespaces/{space.name}/workloads/tiny-1"
    return dict(space.control.ask("GET", path))


@pytest.mark.back_end
def test_kueue_says_what_a_submitted_job_waits_for(crds: Space, tmp_path: Path) -> None:
    nowhere = {"kubernetes.io/hostname": "none"}  # 1.20 does not know `suspend`
    scheduler = adapter(crds, tmp_path, queue="heroes", node_selector=nowhere)
    job = submit(scheduler, tmp_path)

    def reason() -> str:
        answer = scheduler.find("tiny-1", datetime.now(UTC))
        assert isinstance(answer, Found) and answer.job.state is JobState.PENDING, answer
        return answer.job.reason

    assert mentions(reason(), "Kueue", "no Workload")
    waits_in_kueue(crds, job.id)
    assert mentions(reason(), "quota", "no GPU")


@pytest.mark.back_end
def test_a_stop_of_a_jobset_that_waits_deactivates_its_workload(
    crds: Space, tmp_path: Path
) -> None:
    """Kueue would otherwise resume it once there is quota."""
    scheduler = adapter(crds, tmp_path, queue="heroes", object="jobset")
    job = submit(scheduler, tmp_path)
    waits_in_kueue(crds, job.id)
    assert mentions(find_job(scheduler).reason, "quota", "no GPU")
    scheduler.stop("tiny-1", "ada@box")
    assert workload_of(crds)["spec"]["active"] is False
    path = f"/apis/jobset.x-k8s.io/v1alpha2/namespaces/{crds.name}/jobsets/tiny-1"
    notes = crds.control.ask("GET", path)["metadata"]["annotations"]
    assert notes["herorun/stopped-by"] == "ada@box"
    assert find_job(scheduler).state is JobState.PENDING  # until its controller says so
    suspension = condition("Suspended", "True", "SuspendedJobs")
    k8s_crds.set_status(
        crds.control, "jobsets.jobset.x-k8s.io", crds.name, "tiny-1", conditions=[suspension]
    )
    answer = find_job(scheduler)
    assert (answer.state, answer.stopped_by) == (JobState.CANCELLED, "ada@box")


# --- a Job, which a server of 1.20 cannot suspend -------------------------------------------------

STAND_IN = """\
#!{python}
import json, sys
calls = open({calls!r}, "a")
answers = json.load(open({answers!r}))
words = sys.argv[1:]
if "patch" in words:
    kind, name = words[words.index("patch") + 1 :][:2]
    change = next(word for word in words if word.startswith("--patch="))
    calls.write(json.dumps([kind, name, json.loads(change[8:])]) + "\\n")
else:
    path = words[words.index("--raw") + 1].partition("?")[0]
    print(json.dumps(answers[path]))
"""


def of_a_waiting_job(folder: Path, workloads: list[dict[str, Any]], is_suspended: bool) -> Path:
    """A kubectl that answers of one Job in Kueue's queue, and keeps what it is told to change."""
    job = a_job(("Suspended", "JobSuspended"), suspend=is_suspended)
    job["metadata"]["labels"]["herorun/root"] = root_of("/out")
    group, version = "/apis/kueue.x-k8s.io", "kueue.x-k8s.io/v1beta2"
    answers = {
        "/apis/batch/v1/namespaces/heroes/jobs": {"items": [job]},
        "/api/v1/namespaces/heroes/pods": {"items": []},
        group: {"preferredVersion": {"groupVersion": version}},
        f"/apis/{version}/namespaces/heroes/workloads": {"items": workloads},
    }
    (folder / "answers").write_text(json.dumps(answers))
    program = folder / "kubectl"
    texts = {name: str(folder / name) for name in ("calls", "answers")}
    program.write_text(STAND_IN.format(python=sys.executable, **texts))
    program.chmod(0o755)
    return program


WORKLOAD = {"metadata": {"name": "job-tiny-1", "uid": "w-1"}, "spec": {"active": True}}


@pytest.mark.parametrize(
    ("workloads", "is_suspended"), [([WORKLOAD], True), ([], True), ([], False)]
)
def test_a_stop_of_a_job_that_waits_gives_it_a_deadline_and_deactivates_its_workload(
    workloads: list[dict[str, Any]], is_suspended: bool, tmp_path: Path
) -> None:
    """The deadline ends it, should Kueue start it in the same moment."""
    program = of_a_waiting_job(tmp_path, workloads, is_suspended)
    jobset = options(program=str(program), queue="heroes")
    scheduler = kubernetes.connect(jobset, Place("tiny", str(tmp_path), "/out", "/repository"))
    scheduler.stop("tiny-1", "ada@box")
    changes = [json.loads(line) for line in (tmp_path / "calls").read_text().splitlines()]
    job, *others = changes
    assert job[:2] == ["job.batch", "tiny-1"]
    assert job[2]["metadata"]["uid"] == "u-1" and job[2]["spec"] == {"activeDeadlineSeconds": 1}
    assert job[2]["metadata"]["annotations"]["herorun/stopped-by"] == "ada@box"
    off = {"metadata": {"uid": "w-1"}, "spec": {"active": False}}
    expectation = [["workloads.kueue.x-k8s.io", "job-tiny-1", off]] if workloads else []
    assert others == expectation
