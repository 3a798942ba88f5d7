"""What the stores say of the roots: against real buckets, on loopback."""

import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from builders import a_contract
from herorun.core.contract import Contract
from herorun.core.ports import Place
from herorun.sources.bucket_rules import read_root_facts
from herorun.store_router import RoutedStore
from services.servers import Service
from wording import mentions

STORE = RoutedStore(Place("tiny", "state", "/data/tiny", "."))
OFF = {"softDeletePolicy": {"retentionDurationSeconds": "0"}}
WEEK = {"lifecycle": {"rule": [{"action": {"type": "Delete"}, "condition": {"age": 7}}]}}


def a_bucket(server: Service, **facts: Any) -> str:
    name = f"b{uuid.uuid4().hex}"
    server.tell("bucket", name=name, **{"location": "US-CENTRAL1", **OFF, **facts})
    return name


def a_run(root: str, start: str | None = None, region: str | None = "us-central1") -> Contract:
    fields = {"output": {"root": root, "temporary_root": None}, "hardware": {"region": region}}
    return a_contract(**fields, **({"start": {"from": start}} if start else {}))


def test_local_roots_tell_neither_regions_nor_rules() -> None:
    facts = read_root_facts(a_run("/data/tiny", "/data/parent/step-9"), STORE)
    assert facts.regions == {"/data/tiny": None, "/data/parent/step-9": None}
    assert facts.rules == {"/data/tiny": (), "/data/parent/step-9": ()}
    assert (facts.expires, facts.unknown_regions, facts.unknown_rules) == ({}, {}, {})


def test_a_buckets_region_and_rules_are_read(gcs: Service) -> None:
    root = f"gs://{a_bucket(gcs, **WEEK)}/tiny"
    facts = read_root_facts(a_run(f"{root}/"), STORE)
    assert facts.regions == {root: "us-central1"}
    ((rule,),) = facts.rules.values()
    assert [*facts.rules] == [root] and mentions(rule, "bucket", "deletes", "7d", "written")


@pytest.mark.parametrize(
    ("folder", "rules", "days"),
    [("p", WEEK, 7), ("ttl=14d", {}, 14), ("ttl=3d", WEEK, 3), ("ttl=14d", WEEK, 7)],
)
def test_a_start_checkpoint_expires_by_the_first_rule_that_deletes_it(
    gcs: Service, folder: str, rules: dict[str, Any], days: int
) -> None:
    start = f"gs://{a_bucket(gcs, **rules)}/{folder}/step-9"
    STORE.create(f"{start}/metadata.json", b"{}")
    facts = read_root_facts(a_run("/data/tiny", start), STORE)
    assert abs(facts.expires[start] - datetime.now(UTC) - timedelta(days=days)) < timedelta(
        minutes=1
    )


def test_one_that_nothing_deletes_does_not_expire(gcs: Service) -> None:
    start = f"gs://{a_bucket(gcs)}/p/step-9"
    STORE.create(f"{start}/metadata.json", b"{}")
    assert read_root_facts(a_run("/data/tiny", start), STORE).expires == {}


def test_a_bucket_that_nobody_may_ask_about_is_noted_and_the_other_is_read(gcs: Service) -> None:
    shut_bucket, start = a_bucket(gcs), f"gs://{a_bucket(gcs, **WEEK)}/p/step-9"
    gcs.fault(url=shut_bucket, status=403)
    facts = read_root_facts(a_run(f"gs://{shut_bucket}/tiny", start), STORE)
    assert facts.regions == {start: "us-central1"}
    assert list(facts.rules) == [start]
    for why in (facts.unknown_regions, facts.unknown_rules):
        assert list(why) == [f"gs://{shut_bucket}/tiny"]
        assert "403" in why[f"gs://{shut_bucket}/tiny"]


def test_a_folders_own_lifetime_counts_where_nobody_may_ask_the_bucket(gcs: Service) -> None:
    bucket = a_bucket(gcs)
    start = f"gs://{bucket}/ttl=14d/step-9"
    STORE.create(f"{start}/metadata.json", b"{}")
    gcs.fault(url=f"/b/{bucket}", status=403, times=1)
    facts = read_root_facts(a_run("/data/tiny", start, region=None), STORE)
    assert start in facts.expires
    assert "403" in facts.unknown_rules[start]


def test_without_a_stated_region_no_store_is_asked_for_one(gcs: Service) -> None:
    root = f"gs://{a_bucket(gcs)}/tiny"
    gcs.requests()
    assert read_root_facts(a_run(root, region=None), STORE).regions == {root: None}
    assert len(gcs.requests()) == 1
