"""What the journal amounted to comes back as it was, or not at all."""

from dataclasses import replace
from datetime import timedelta

import pytest

from builders import NOON
from herorun.core.babysit.alert import Alert, AlertState
from herorun.core.event import Decided, Done, Failed, Initialised, Intended
from herorun.core.journal import Memory, fold
from herorun.core.journal.snapshot import JournalSnapshot, build_snapshot, from_bytes, to_bytes
from herorun.core.taint import Health, apply_launch

SEGMENTS = [("20261120.jsonl", "a1"), ("20261121.jsonl", "b2")]
ALERTS = (
    Alert(
        check="not-finite",
        subject="loss, 'train'",
        since=NOON,
        seen=NOON,
        state=AlertState.FIRING,
        message="NaN",
        held=timedelta(minutes=9),
        instance="t-1",
    ),
    Alert(
        check="crashed", subject="", since=NOON, seen=NOON, state=AlertState.PENDING, message="gone"
    ),
)


def a_memory() -> Memory:
    start = fold(
        [
            Initialised(NOON, "tiny", {"DRI": "@dri"}, "issue.md"),
            Decided(at=NOON, run="degraded", monitor="fresh", progress="~5/9", alerts=ALERTS),
            Intended(at=NOON, key="tell/a", attempt=1, what="tell", body="words"),
            Intended(at=NOON, key="tell/b", attempt=1, what="tell"),
            Done(NOON, "tell/b", 1, result="said"),
            *(
                Intended(
                    at=NOON, key=f"escalate/{n}@x", attempt=1, what="ask", body="words", page="must"
                )
                for n in range(3)
            ),
            Done(NOON, "page/ALERTS/escalate/0@x", 1, result="sent"),
            Done(NOON, "page/ALERTS/escalate/1@x", 1, result="folded"),
            Failed(NOON, "page/ALERTS/escalate/2@x", 1, "interrupted", interrupted=True),
        ]
    )
    return replace(
        start, health=replace(start.health, closed=apply_launch(start.health, NOON, 3).closed)
    )


def a_snapshot(memory: Memory) -> JournalSnapshot:
    return build_snapshot(SEGMENTS, b"lines\n", ("sha256:ff", "ab"), 9, memory)


def test_it_comes_back_as_it_was() -> None:
    one = a_snapshot(a_memory())
    assert from_bytes(to_bytes(one, "1.0"), "1.0") == one
    pages = one.memory.pages
    assert all(
        (pages.waiting, pages.settled_keys, pages.sent_pages, pages.folded, pages.interrupted)
    )
    assert set(one.memory.alerts) == {alert.id for alert in ALERTS} and one.memory.health.open


def test_another_herorun_or_a_changed_byte_is_none_at_all() -> None:
    data = to_bytes(a_snapshot(a_memory()), "1.0")
    assert from_bytes(data, "1.1") is None
    assert from_bytes(data.replace(b"@dri", b"@you"), "1.0") is None
    assert from_bytes(data[:-9], "1.0") is None and from_bytes(b"", "1.0") is None


def test_what_would_come_back_otherwise_is_not_kept() -> None:
    odd = replace(a_memory(), health=Health(step="7"))  # a wrong type is the case
    assert to_bytes(a_snapshot(odd), "1.0") == b""


@pytest.mark.parametrize(
    ("segments", "fits"),
    [
        (SEGMENTS, True),
        ([SEGMENTS[0], ("20261121.jsonl", "grown")], True),
        ([*SEGMENTS, ("20261122.jsonl", "c3")], True),
        ([("20261120.jsonl", "other"), SEGMENTS[1]], False),
        ([SEGMENTS[0]], False),
        ([SEGMENTS[0], ("20261122.jsonl", "b2")], False),
    ],
)
def test_it_counts_for_its_own_segments_only(segments: list[tuple[str, str]], fits: bool) -> None:
    assert a_snapshot(a_memory()).is_of(segments) is fits


def test_it_counts_for_its_own_bytes_only() -> None:
    one = a_snapshot(a_memory())
    assert one.is_prefix_of(b"lines\n") and one.is_prefix_of(b"lines\nmore\n")
    assert not one.is_prefix_of(b"Lines\nmore\n") and not one.is_prefix_of(b"line")
