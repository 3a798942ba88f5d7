"""Orders about a job without a contract, on a job in memory."""

import json
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from builders import NOON
from core.story import launch_events
from herorun.core.adhoc_jobs.spec import JobSpec
from herorun.core.errors import HandedOver
from herorun.core.event import Done
from herorun.operations.jobs import monitor, orders, run as run_module
from herorun.operations.jobs.scheduler import ExternalJobs
from operations.in_memory import OWNER, START, ToldRun

CADENCE = timedelta(minutes=10)


@pytest.fixture
def job(tmp_path: Path) -> Any:
    run: Any = ToldRun([])
    run.record.append(*launch_events(2, START))
    run.facts = JobSpec(kind="local", job="loose-2", resubmit="sbatch train.sh")
    run.job_id, run.folder, run.state_file = "loose-2", tmp_path, tmp_path / "state.json"
    run.current = SimpleNamespace(number=3)
    return run


@pytest.mark.parametrize(("age", "is_theirs"), [(19, True), (21, False)])
def test_another_monitor_is_late_after_two_cadences(
    age: int, is_theirs: bool, job: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = SimpleNamespace(
        owner="bob@box", polled_at=NOON, cadence=CADENCE, description="process 7 of bob@box"
    )
    monkeypatch.setattr(monitor, "monitor_in", lambda path: other)
    monkeypatch.setattr(monitor, "now", lambda: NOON + timedelta(minutes=age))
    if not is_theirs:
        assert monitor.must_be_ours(job) is None
        return
    with pytest.raises(HandedOver, match="process 7 of bob@box") as error:
        monitor.must_be_ours(job)
    assert OWNER in str(error.value) and "12:20:00" in str(error.value)


def test_the_same_resubmission_is_ordered_once(job: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    job.record.append(Done(NOON, "resubmit/tiny-1", 1))
    calls = []

    def just_ordered(run: Any, word: object, about: tuple[str, ...], reason: str) -> bool:
        calls.append((about, reason))
        return reason == "hangs"

    monkeypatch.setattr(orders, "just_ordered", just_ordered)
    monkeypatch.setattr(orders, "_warn_unmonitored", lambda run: ("unwatched",))
    outcome = orders.resubmit_job(job, "hangs")
    assert (outcome.code, outcome.warnings) == (0, ("unwatched",))
    assert "loose-2" in outcome.message and "tiny-1" in outcome.message
    assert orders._done_already(job, "hangs again") == ""
    assert calls == [(("tiny-1",), "hangs"), (("tiny-1",), "hangs again")]


def test_the_folder_of_a_job_knows_how_often_it_was_submitted_again(job: Any) -> None:
    run_module.keep_facts(job)
    facts = json.loads((job.folder / run_module.FACTS).read_text())
    assert (facts["restart_count"], facts["kind"]) == (2, "local")
    assert facts["jobs"] == [instance.job for instance in job.record.memory().instances]


def test_the_results_are_those_of_the_scheduler_that_knows_some() -> None:
    jobs = object.__new__(ExternalJobs)
    jobs._jobs = SimpleNamespace(results=lambda job: f"GSM8K of {job}")
    jobs._job = lambda instance: "4711"
    assert jobs.results("loose-1") == "GSM8K of 4711"
    jobs._jobs = SimpleNamespace()
    assert jobs.results("loose-1") == ""
