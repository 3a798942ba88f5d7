"""What Ray says of a job whose node was lost, or which its memory monitor killed: on recorded
answers of Ray 2.60.
"""

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from herorun.core.evidence import Job, JobState
from herorun.schedulers._ray.parse import RayJob, job_of, record_of
from herorun.schedulers._ray.worker_failures import asks_for_losses, loss_of, with_loss
from wording import mentions

RECORDING = json.loads(
    (Path(__file__).parents[1] / "recordings" / "ray" / "losses.json").read_text()
)
GANGS = {
    "a task on a lost node": JobState.NODE_FAILED,
    "an actor on a lost node": JobState.NODE_FAILED,
    "a task killed for memory": JobState.OUT_OF_MEMORY,
    "an actor killed for memory": JobState.OUT_OF_MEMORY,
}
ADDRESS = "192.0.2.2"


def record(what: str, **changes: object) -> RayJob:
    job_record = record_of(RECORDING[what]["job"] | changes)
    assert job_record is not None
    return job_record


def judge_answers(what: str, fields: dict[str, Any] | None = None, **changes: object) -> Job:
    fields, of = fields or RECORDING[what], record(what, **changes)
    loss = loss_of(of, fields["tasks"], fields["actors"])
    return with_loss(job_of(of, "tiny-1"), loss, ADDRESS)


def change_answers(what: str, kind: str, **fields: object) -> dict[str, Any]:
    answers = deepcopy(RECORDING[what])
    for row in answers[kind]["data"]["result"]["result"]:
        row.update(fields)
    return answers


@pytest.mark.parametrize(("what", "state"), GANGS.items())
def test_a_driver_that_did_not_survive_its_worker_says_what_took_that(
    what: str, state: JobState
) -> None:
    job = judge_answers(what)
    assert (job.state, job.exit_code, job.has_crashed) == (state, 1, True)
    assert job.failed_on == ((ADDRESS,) if state is JobState.NODE_FAILED else ())


@pytest.mark.parametrize(
    ("what", "state"),
    [
        ("the command on a lost node", JobState.NODE_FAILED),
        ("the command killed for memory", JobState.OUT_OF_MEMORY),
        ("a task and the supervisor killed for memory", JobState.OUT_OF_MEMORY),
        ("a task killed for memory", JobState.OUT_OF_MEMORY),
        ("an actor killed for memory", JobState.OUT_OF_MEMORY),
    ],
)
def test_some_messages_say_it_by_themselves(what: str, state: JobState) -> None:
    assert job_of(record(what), "tiny-1").state is state


def test_what_the_raylet_said_of_another_job_is_not_this_jobs_end() -> None:
    job = job_of(
        record("an actor on a lost node, after another job was killed for memory"), "tiny-1"
    )
    assert (job.state, job.exit_code) == (JobState.FAILED, 1)


def test_the_reason_names_the_cause_and_not_the_supervisors_ids() -> None:
    reason = job_of(record("the command on a lost node"), "tiny-1").reason
    assert mentions(reason, "node", "died") and "actor_id" not in reason
    assert mentions(judge_answers("a task on a lost node").reason, "task", "192.0.2.2")


@pytest.mark.parametrize("what", GANGS)
def test_a_loss_long_before_the_end_did_not_end_it(what: str) -> None:
    message = "Job entrypoint command failed with exit code 1. No logs available."
    later = record(what).ended.timestamp() * 1000 + 3_600_000
    assert judge_answers(what, message=message, end_time=later).state is JobState.FAILED
    assert judge_answers(what, message=message).state is GANGS[what]


def test_an_error_of_the_tasks_own_is_no_loss() -> None:
    changes = change_answers(
        "a task on a lost node", "tasks", error_type="TASK_EXECUTION_EXCEPTION"
    )
    assert judge_answers("a task on a lost node", changes).state is JobState.FAILED


def test_an_actor_that_was_killed_by_the_job_itself_is_no_loss() -> None:
    cause = {"actor_died_error_context": {"reason": "RAY_KILL"}}
    changes = change_answers("an actor on a lost node", "actors", death_cause=cause)
    assert judge_answers("an actor on a lost node", changes).state is JobState.FAILED


@pytest.mark.parametrize("answer", [None, {}, [], {"data": {"result": {"result": [1]}}}])
def test_another_shape_reports_no_loss(answer: object) -> None:
    fields = {**RECORDING["a task on a lost node"], "tasks": answer}
    assert judge_answers("a task on a lost node", fields).state is JobState.FAILED


def test_losses_are_asked_for_only_where_they_may_have_ended_the_job() -> None:
    assert asks_for_losses(record("a task on a lost node"))
    for changes in (
        {"status": "RUNNING", "end_time": None, "driver_exit_code": None},
        {"status": "SUCCEEDED", "driver_exit_code": 0},
        {"job_id": None},  # it never joined the cluster
    ):
        assert not asks_for_losses(record("a task on a lost node", **changes)), changes
