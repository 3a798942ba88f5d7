"""A scheduler that knows adopted jobs by their ids, and all others by their instances' names."""

from datetime import datetime
from typing import Any

import pytest

from builders import NOON, a_job, an_instance
from herorun.adopted_scheduler import AdoptedScheduler, jobs_by_id, without
from herorun.core.contract import SchedulerTable
from herorun.core.errors import CouldNotLook, WrongUse
from herorun.core.event import Adopted, Launching
from herorun.core.evidence import Job, JobState
from herorun.core.journal import Memory
from herorun.core.ports import Absent, Found, Place, Search, Unknown

ADOPTS = Launching(
    at=NOON,
    instance="tiny-1",
    number=1,
    plan={},
    plan_digest="",
    why="",
    contract_file="runs/tiny.toml",
    adopts=Adopted("4711"),
)
MEMORY = Memory(instances=(an_instance(1, job="4711"),), launchings={"tiny-1": ADOPTS})


class ByName:
    """Knows tiny-2, and the adopted job by a name that a person gave it."""

    cluster_wide = True
    jobs: tuple[Job, ...] = (a_job(id="4711", instance="tiny-7"),)

    def find(self, instance: str, intended_at: datetime) -> Search:
        return Found(a_job(instance=instance)) if instance == "tiny-2" else Absent()

    def live_jobs(self, slug: str) -> tuple[Job, ...]:
        return self.jobs

    def tail(self, instance: str, lines: int) -> str:
        return f"log:{instance}"

    def read_log(self, instance: str, offset: int, limit: int, mark: str = "") -> str:
        return "bytes"

    def with_snapshot(self, snapshot: Any) -> "ByName":
        return self

    def stop(self, instance: str, by: str) -> None:
        raise AssertionError("the job is known by its id")


class ByIds:
    def __init__(self, answer: Search) -> None:
        self.answer, self.stops = answer, []

    def find_job(self, job: str) -> Search:
        assert job == "4711"
        return self.answer

    def tail(self, job: str, lines: int) -> str:
        return f"log:job {job}"

    def stop(self, job: str) -> None:
        self.stops.append(job)


NOWHERE = Absent()


def scheduler(answer: Search = NOWHERE, memory: Memory = MEMORY) -> Any:
    jobs = ByIds(answer)
    return AdoptedScheduler(ByName(), lambda: memory, lambda: jobs)


RUNS = Found(a_job(id="4711", instance="4711"))


def test_an_adopted_instance_is_found_by_its_job() -> None:
    with_adopted = scheduler(RUNS)
    assert with_adopted.find("tiny-1", NOON).job.instance == "tiny-1"
    assert with_adopted.find("tiny-2", NOON).job.instance == "tiny-2"
    assert with_adopted.tail("tiny-1", 9) == "log:job 4711"
    assert with_adopted.tail("tiny-2", 9) == "log:tiny-2"


def test_a_live_job_counts_once_under_its_instance() -> None:
    assert [job.instance for job in scheduler(RUNS).live_jobs("tiny")] == ["tiny-1"]


def test_an_ended_one_does_not_count() -> None:
    ended_search = Found(a_job(JobState.FAILED, id="4711"))
    assert scheduler(ended_search).live_jobs("tiny") == ()


def test_where_it_cannot_be_seen_nobody_says_that_nothing_is_live() -> None:
    with pytest.raises(CouldNotLook, match="no answer"):
        scheduler(Unknown("no answer")).live_jobs("tiny")


def test_a_job_that_is_about_to_be_adopted_does_not_live_next_to_itself() -> None:
    with_adopted = scheduler(memory=Memory())
    assert [job.id for job in with_adopted.live_jobs("tiny")] == ["4711"]
    assert without(with_adopted, "4711").live_jobs("tiny") == ()


def test_its_log_is_read_from_its_end_and_that_of_a_later_instance_by_its_scheduler() -> None:
    assert not hasattr(scheduler(RUNS), "read_log")
    later = Memory(
        instances=(*MEMORY.instances, an_instance(2)),
        launchings={
            **MEMORY.launchings,
            "tiny-2": Launching(
                at=NOON,
                instance="tiny-2",
                number=2,
                plan={},
                plan_digest="",
                why="",
                contract_file="",
            ),
        },
    )
    assert scheduler(RUNS, later).read_log("tiny-2", 0, 9) == "bytes"


def test_a_shared_look_knows_it_too() -> None:
    assert scheduler(RUNS).with_snapshot("a snapshot").find("tiny-1", NOON).job.id == "4711"


def test_a_stop_reaches_the_job() -> None:
    with_adopted = scheduler(RUNS)
    with_adopted.stop("tiny-1", "ada")
    assert with_adopted._jobs.stops == ["4711"]


def test_what_a_scheduler_cannot_do_it_still_cannot() -> None:
    assert not hasattr(scheduler(), "offers")


def test_an_iris_that_is_known_by_its_address_alone_cannot_be_asked_about_a_job() -> None:
    table = SchedulerTable.model_validate(
        {"kind": "iris", "controller_url": "http://x", "user": "ada"}
    )
    with pytest.raises(WrongUse, match=r"config.*cluster"):
        jobs_by_id(table, Place("tiny", "/s", "/o", "/r"))


@pytest.mark.parametrize(
    "fields",
    [
        {"kind": "slurm", "host": "login", "slurm_conf": "/etc/s.conf", "partition": "gpu"},
        {"kind": "ray", "address": "http://127.0.0.1:8265", "num_gpus": 1},
        {"kind": "iris", "cluster": "marin", "user": "ada", "tpu": "v5litepod-16"},
        {"kind": "nel", "settle": "1s"},
        {"kind": "local", "settle": "1ms"},
        {"kind": "kubernetes", "context": "hpc", "namespace": "heroes", "image": "train@sha256:1"},
        {"kind": "ssh", "host": "box1", "folder": "/data/herorun"},
    ],
)
def test_jobs_are_asked_for_by_the_contracts_road(fields: dict[str, Any]) -> None:
    assert hasattr(
        jobs_by_id(SchedulerTable.model_validate(fields), Place("tiny", "/s", "/o", "/r")),
        "find_job",
    )
