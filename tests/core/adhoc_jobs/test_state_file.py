"""The state file: its name, its fields, and what can be resumed from."""

import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from herorun.core.adhoc_jobs.spec import JobSpec
from herorun.core.adhoc_jobs.state_file import facts_in, name_of, newest_first, project_state

AT = datetime(2026, 3, 2, 18, 56, tzinfo=UTC)
FACTS = JobSpec(
    job="/ada/x-1",
    kind="iris",
    cluster="lab",
    config="c.yaml",
    experiment="train.py",
    host="login",
    user="ada",
    resubmit="iris job run --no-wait",
)


def test_a_taken_name_gets_a_number() -> None:
    first = name_of(AT, [])
    second = name_of(AT, [first])
    assert (first, second) == (
        "20260302-1856_monitoring_state.json",
        "20260302-1856_monitoring_state-2.json",
    )
    assert name_of(AT, [first, second]) == "20260302-1856_monitoring_state-3.json"


def test_the_newest_is_found_by_its_name_and_number() -> None:
    names = [
        name_of(AT, []),
        "20260302-1856_monitoring_state-10.json",
        "20260302-1856_monitoring_state-2.json",
    ]
    assert newest_first([*names, "20260301-0000_monitoring_state.json", "other.json"]) == [
        "20260302-1856_monitoring_state-10.json",
        "20260302-1856_monitoring_state-2.json",
        "20260302-1856_monitoring_state.json",
        "20260301-0000_monitoring_state.json",
    ]


def test_the_seeds_fields_are_there_and_others_stay() -> None:
    state_document = project_state(FACTS, "/ada/x-2", 1, AT, {"note": "mine"}, {"progress": "~1/2"})
    assert {
        n: state_document[n]
        for n in ("ts", "job_id", "config", "resubmit_command", "restart_count")
    } == {
        "ts": 1772477760000,
        "job_id": "/ada/x-2",
        "config": "c.yaml",
        "resubmit_command": "iris job run --no-wait",
        "restart_count": 1,
    }
    assert state_document["note"] == "mine"


def test_what_was_written_is_resumed_with_the_job_and_the_count_that_it_has_now() -> None:
    more = {"last_signal": "oom: x", "last_failure": {"fingerprint": "f", "step": 7}}
    data = json.dumps(project_state(FACTS, "/ada/x-2", 4, AT, {}, more)).encode()
    assert facts_in(data)[0] == replace(
        FACTS,
        job="/ada/x-2",
        first_job="/ada/x-1",
        restarts=4,
        last_signal="oom: x",
        last_failure=("f", 7),
    )


def test_what_a_takeover_runs_is_stored_as_it_is_and_the_rest_is_scrubbed() -> None:
    secret = "0a1b2c3d4e5f6a7b8c9d0e1f"
    facts = JobSpec(job="/ada/hf_token=0a1b2c3d4e5f6a7b8c9d", kind="iris", config="c.yaml")
    stored_state = project_state(facts, facts.job, 0, AT, {"note": f"WANDB_API_KEY={secret}"}, {})
    assert stored_state["job_id"] == facts.job
    assert secret not in json.dumps(stored_state)


@pytest.mark.parametrize(
    "data", [b"", b'{"job_id": "x', b"[]", b'{"ts": 1}', b'{"job_id": 5}', b"[" * 10_000]
)
def test_what_is_half_written_says_so(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"it |its |Expecting|Unterminated"):
        facts_in(data)
