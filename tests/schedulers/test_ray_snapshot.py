"""One look at a Ray cluster for all the runs that are watched together, and what stands next to
them.
"""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from herorun.core.errors import CouldNotLook
from herorun.core.evidence import JobState
from herorun.core.ports import Absent, Found, Place, Unknown
from herorun.operations.health.shared_polls import SharedPolls
from herorun.schedulers import ray
from schedulers.test_ray_bad_answers import LONG_AGO, RECORDING, VERSION, Stand, nodes

HALF = timedelta(minutes=7)
WAITS = {"resourceDemand": [[{"GPU": 8.0}, 1]], "nodeTypes": [[{"CPU": 4.0}, 2]]}


@pytest.fixture
def stand() -> Iterator[Stand]:
    ray_stand = Stand()
    ray_stand.answers["/api/v0/nodes"] = nodes(LONG_AGO - timedelta(hours=1))
    yield ray_stand
    ray_stand.server.shutdown()
    ray_stand.server.server_close()


def run_on(stand: Stand, state: Path, **options: object) -> ray.Ray:
    fields = {"address": stand.url, "code": "shared", "settle": "1ms", "timeout": "2s", **options}
    return ray.connect(
        ray.Options.model_validate(fields), Place("tiny", str(state), "/out", "/repository")
    )


def job(name: str, word: str, ours: bool = True, **value: object) -> dict[str, Any]:
    mine = {"herorun_instance": name} if ours else {}
    return {**RECORDING[word], "submission_id": name, "metadata": mine, **value}


def test_a_round_of_many_runs_is_one_list_and_what_some_need_is_asked_once(
    stand: Stand, tmp_path: Path
) -> None:
    waiting = [job(f"waits{n}-1", "pending") for n in range(20)]
    ended_jobs = [job(f"ends{n}-1", "failed") for n in range(20)]
    stand.answers["/api/jobs/"] = [*waiting, *ended_jobs]
    stand.answers["/api/cluster_status"] = {"data": {"clusterStatus": {"loadMetricsReport": WAITS}}}
    names = [
        *(each["submission_id"] for each in waiting + ended_jobs),
        *(f"never{n}-1" for n in range(20)),
    ]
    runs = {name: run_on(stand, tmp_path / name) for name in names}
    polls = SharedPolls()
    for name, scheduler in runs.items():
        polls.note_intent(name, scheduler, (name, LONG_AGO))
    for _ in range(2):
        stand.requests.clear()
        snapshots = {name: polls.share(name, runs[name], (name, LONG_AGO), HALF) for name in names}
        searches = {name: each.find(name, LONG_AGO) for name, each in snapshots.items()}
        live = {
            name: [j.instance for j in snapshots[name].live_jobs(name.removesuffix("-1"))]
            for name in names
        }
        assert sorted(stand.requests) == [
            "GET /api/cluster_status",
            "GET /api/jobs/",
            "GET /api/v0/nodes",
        ]
        states = [
            (answer.job.state, "8 GPU" in answer.job.reason)
            for answer in list(searches.values())[:40]
        ]
        assert states == [(JobState.PENDING, True)] * 20 + [(JobState.FAILED, False)] * 20
        assert list(searches.values())[40:] == [Absent()] * 20
        assert [live[name] for name in names] == [
            [name] if name.startswith("waits") else [] for name in names
        ]


def test_a_list_that_fails_is_unsure_for_all_and_asked_once(stand: Stand, tmp_path: Path) -> None:
    reason = "the agent is down"
    stand.answers["/api/jobs/"] = (500, reason)
    polls, runs = SharedPolls(), {name: run_on(stand, tmp_path / name) for name in ("one", "two")}
    for name, scheduler in runs.items():
        snapshot = polls.share(name, scheduler, (f"{name}-1", LONG_AGO), HALF)
        answer = snapshot.find(f"{name}-1", LONG_AGO)
        assert isinstance(answer, Unknown) and reason in answer.why
        with pytest.raises(CouldNotLook, match=reason):
            snapshot.live_jobs(name)
    assert stand.requests == ["GET /api/jobs/"]


def test_what_only_one_run_needs_and_fails_is_its_own_trouble(stand: Stand, tmp_path: Path) -> None:
    """A missing job is absent only by the age of the nodes; a job that is listed needs none of
    that.
    """
    stand.answers["/api/jobs/"] = [job("one-1", "succeeded")]
    stand.answers["/api/v0/nodes"] = (500, "no")
    scheduler = run_on(stand, tmp_path)
    snapshot = scheduler.with_snapshot(scheduler.snapshot({"one-1": LONG_AGO, "two-1": LONG_AGO}))
    search, missing = snapshot.find("one-1", LONG_AGO), snapshot.find("two-1", LONG_AGO)
    assert isinstance(search, Found) and search.job.state is JobState.SUCCEEDED
    assert isinstance(missing, Unknown) and "HTTP 500" in missing.why


def test_a_look_says_nothing_of_a_job_that_was_submitted_after_it(
    stand: Stand, tmp_path: Path
) -> None:
    scheduler = run_on(stand, tmp_path)
    snapshot = scheduler.with_snapshot(scheduler.snapshot({}))
    answer = snapshot.find("tiny-1", datetime.now(UTC))
    assert isinstance(answer, Unknown) and "too early" in answer.why


@pytest.mark.parametrize(
    "options",
    [{"address": "http://other:8265"}, {"token_env": "TOKEN"}, {"header_env": {"X-Team": "TEAM"}}],
)
def test_another_address_or_token_is_another_cluster(
    stand: Stand, tmp_path: Path, options: dict[str, object]
) -> None:
    one = run_on(stand, tmp_path)
    assert one.cluster == run_on(stand, tmp_path / "other", prefix="b-").cluster
    assert one.cluster != run_on(stand, tmp_path, **options).cluster


def test_prefixes_part_the_runs_that_share_a_look(stand: Stand, tmp_path: Path) -> None:
    mine = {"herorun_instance": "tiny-1"}
    stand.answers["/api/jobs/"] = [
        job("a-tiny-1", "failed", metadata=mine),
        job("b-tiny-1", "succeeded", metadata=mine),
    ]
    one, other = (run_on(stand, tmp_path / prefix, prefix=prefix) for prefix in ("a-", "b-"))
    snapshot = one.snapshot({"tiny-1": LONG_AGO})
    answers = [
        scheduler.with_snapshot(snapshot).find("tiny-1", LONG_AGO) for scheduler in (one, other)
    ]
    states = [answer.job.state for answer in answers if isinstance(answer, Found)]
    assert states == [JobState.FAILED, JobState.SUCCEEDED]


def test_what_is_called_as_the_run_and_is_not_herorun_s_stands_next_to_it(
    stand: Stand, tmp_path: Path
) -> None:
    runs = {"status": "RUNNING", "end_time": None, "driver_exit_code": None}
    stand.answers["/api/version"] = VERSION
    stand.answers["/api/jobs/"] = [
        job("a-tiny-1", "succeeded", **runs, metadata={"herorun_instance": "tiny-1"}),
        job("a-tiny-probe", "succeeded", ours=False, **runs),
        job("a-tiny-eval", "succeeded", ours=False),  # it has ended
        job("a-tiny-2", "succeeded", ours=False, **runs),  # called as an instance: it may be one
        job("a-tiny-lm-1", "succeeded", **runs),  # of another run of herorun's
        job("tiny-probe", "succeeded", ours=False, **runs),  # without the prefix
        {
            **RECORDING["succeeded"],
            "type": "DRIVER",
            "submission_id": None,
            "job_id": "01000000",
            **runs,
        },
    ]
    scheduler = run_on(stand, tmp_path, prefix="a-")
    snapshot = scheduler.with_snapshot(scheduler.snapshot({"tiny-1": LONG_AGO}))
    stand.requests.clear()
    assert [(each.id, each.state) for each in snapshot.other_jobs("tiny")] == [
        ("a-tiny-probe", JobState.RUNNING)
    ]
    assert [each.instance for each in snapshot.live_jobs("tiny")] == ["tiny-1", "tiny-2"]
    assert "GET /api/jobs/" not in stand.requests


GANG = json.loads((Path(__file__).parents[1] / "recordings" / "ray" / "losses.json").read_text())[
    "a task on a lost node"
]


def test_what_took_the_workers_is_asked_of_the_one_job_that_is_looked_for(
    stand: Stand, tmp_path: Path
) -> None:
    """Not of every job that ever failed there; and where it is not answered, the job has failed
    anyway.
    """
    mine = {**GANG["job"], "submission_id": "tiny-1"}
    stand.answers["/api/jobs/"] = [mine, {**mine, "submission_id": "tiny-2"}]
    stand.answers |= {"/api/v0/tasks": GANG["tasks"], "/api/v0/actors": GANG["actors"]}
    scheduler = run_on(stand, tmp_path)
    assert scheduler.live_jobs("tiny") == scheduler.other_jobs("tiny") == ()
    assert "GET /api/v0/tasks" not in stand.requests
    answer = scheduler.find_all({"tiny-1": LONG_AGO})["tiny-1"]
    assert isinstance(answer, Found) and answer.job.state is JobState.NODE_FAILED
    assert stand.requests.count("GET /api/v0/tasks") == 1
    stand.answers["/api/v0/tasks"] = (500, "no")
    failed_search = run_on(stand, tmp_path).find_all({"tiny-1": LONG_AGO})["tiny-1"]
    assert isinstance(failed_search, Found) and (
        failed_search.job.state,
        failed_search.job.exit_code,
    ) == (
        JobState.FAILED,
        1,
    )


def test_the_page_of_a_job_is_the_dashboards(tmp_path: Path) -> None:
    fields = {"address": "http://head:8265", "prefix": "lab-"}
    place = Place("tiny", str(tmp_path), "/out", "/repo")
    adapter = ray.connect(ray.Options.model_validate(fields), place)
    assert adapter.log_page("tiny-1") == "http://head:8265/#/jobs/lab-tiny-1"
