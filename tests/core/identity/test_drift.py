"""Each source of the identity by itself: what it says, and what its silence does not."""

from datetime import UTC, datetime, timedelta

import pytest

from builders import MINUTE, NOON, a_contract
from herorun.core.evidence import TrackerIdentity, TrackerState
from herorun.core.identity.drift import (
    heartbeat_of,
    name_drift,
    reported_drift,
    server_drift,
    writes_after,
)

TRACKER = {"kind": "wandb", "entity": "lab", "project": "hero", "path": None}
CONTRACT = a_contract(tracker={**TRACKER, "name": "Tiny"})
NAMELESS = a_contract(tracker={**TRACKER, "name": None, "id": None})


def subjects(value: list[tuple[str, str]]) -> list[str]:
    return [subject for subject, _ in value]


def an_identity(id: str = "tiny", name: str = "Tiny", state: TrackerState = TrackerState.RUNNING):
    return TrackerIdentity(state=state, id=id, display_name=name)


@pytest.mark.parametrize(
    ("identity", "expectation"),
    [
        (an_identity(), []),
        (an_identity(id="other"), ["id"]),
        (an_identity(name="Other"), ["name"]),
        (an_identity(id="other", name="Other"), ["id", "name"]),
        (an_identity(id=""), []),  # a tracker that does not tell an id says nothing against it
        (an_identity(name=""), []),
    ],
)
def test_what_the_tracker_answers_is_held_against_the_contract(identity, expectation):
    assert subjects(name_drift(CONTRACT, identity, must_be_there=True)) == expectation


def test_without_a_name_the_display_name_is_the_id_and_without_an_id_the_slug():
    assert name_drift(NAMELESS, an_identity(name="tiny"), must_be_there=True) == []
    assert subjects(name_drift(NAMELESS, an_identity(name="Tiny"), must_be_there=True)) == ["name"]


@pytest.mark.parametrize("state", [TrackerState.ABSENT, TrackerState.DELETED])
def test_a_run_that_is_missing_counts_once_the_job_has_reported_long_enough(state):
    identity = an_identity(state=state, id="other")
    assert subjects(name_drift(CONTRACT, identity, must_be_there=True)) == ["id"]
    assert name_drift(CONTRACT, identity, must_be_there=False) == []


def test_a_tracker_out_of_reach_is_no_drift():
    away = an_identity(state=TrackerState.UNREACHABLE, id="other")
    assert name_drift(CONTRACT, away, must_be_there=True) == []


@pytest.mark.parametrize(
    ("runs", "expectation"),
    [
        ((), []),
        (("lab/hero/tiny",), []),
        (("lab/hero/other",), ["id"]),
        (("eve/scratch/other",), ["entity", "project", "id"]),
        (("lab/hero/other", "lab/hero/tiny"), []),  # the newest counts
        (("other",), []),  # no whole name: nothing is known
    ],
)
def test_the_newest_run_that_the_log_names(runs, expectation):
    assert subjects(reported_drift(CONTRACT, runs)) == expectation


def test_what_the_contract_leaves_open_is_not_drift():
    open_ = a_contract(tracker={**TRACKER, "entity": None})
    assert reported_drift(open_, ["eve/hero/tiny"]) == []


@pytest.mark.parametrize(
    ("server", "expectation"),
    [
        ("https://api.wandb.ai", []),
        ("https://WANDB.ai", []),
        ("https://user@wandb.ai/x", []),
        ("https://wandb.example.org", ["url"]),
        ("", []),
    ],
)
def test_the_server_that_the_log_links_to(server, expectation):
    ours = TrackerIdentity(state=TrackerState.RUNNING, url="https://wandb.ai/lab/hero/runs/tiny")
    assert subjects(server_drift(CONTRACT, ours, server)) == expectation


@pytest.mark.parametrize(
    "stated_url",
    [
        {"command": {"argv": ["x"], "env": {"WANDB_BASE_URL": "https://wandb.example.org"}}},
        {"tracker": {**TRACKER, "base_url": "https://wandb.example.org"}},
    ],
)
def test_a_second_name_of_the_server_is_the_contracts_to_give(stated_url):
    ours = TrackerIdentity(state=TrackerState.RUNNING, url="https://wandb.ai/lab/hero/runs/tiny")
    contract = a_contract(**{"tracker": TRACKER, **stated_url})
    assert server_drift(contract, ours, "https://wandb.example.org") == []


@pytest.mark.parametrize(
    ("heartbeat", "expectation"),
    [
        ("2026-01-01T12:00:00", None),
        ("2026-01-01T13:00:00+01:00", datetime(2026, 1, 1, 12, tzinfo=UTC)),
        ("soon", None),
        ("", None),
    ],
)
def test_a_heartbeat_is_in_utc_and_any_text_but_a_time_with_a_zone_is_none(heartbeat, expectation):
    identity = TrackerIdentity(state=TrackerState.RUNNING, heartbeat=heartbeat)
    assert heartbeat_of(identity) == expectation


@pytest.mark.parametrize(
    ("last", "end_time", "expectation"),
    [
        (NOON, NOON - 2 * MINUTE, True),
        (NOON, NOON - MINUTE, False),  # within the grace
        (NOON + timedelta(seconds=1), NOON - 9 * MINUTE, False),  # the future
        (None, NOON - 9 * MINUTE, False),
        (NOON, None, False),
        (NOON - 9 * MINUTE, NOON, False),
    ],
)
def test_something_wrote_after_the_end(last, end_time, expectation):
    assert writes_after(last, end_time, NOON, grace=MINUTE) is expectation
