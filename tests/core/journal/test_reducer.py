"""What single events change in the memory, and what they must leave as it is."""

from dataclasses import replace
from typing import Any

import pytest

from builders import EVERY, MINUTE, NOON, ROOT
from core.story import first_memory, launch_events
from herorun.core.event import CheckedIn, Decided, Leased, Observed, Ordered, Sealed, Word
from herorun.core.evidence import End, JobState, Placement
from herorun.core.journal import fold
from herorun.core.recovery.policy import RelaunchAnswer

DECISION = Decided(at=NOON, run="healthy", monitor="fresh", progress="~1/2")
LEASE_EVENT = Leased(NOON, "ada@here", "tiny", 7, 3, "/home/ada/work")


def half(name: str) -> Sealed:
    return Sealed(
        at=NOON,
        tag=f"herorun/tiny/{name}",
        commit="c0ffee",
        statement_digest="sha256:02",
        ending="milestone",
        name=name,
    )


def admitted_launch(number: int) -> list[Any]:
    """A launch that ran as it was intended."""
    launching, launch = launch_events(number, NOON)
    plan = {"output_root": {"value": ROOT}, "commit": {"value": "c0ffee"}}
    return [replace(launching, plan={**launching.plan, **plan}), launch]


def fences(*events: Leased) -> list[int]:
    lease = fold(events).lease
    return [lease.fence, lease.beat] if lease else []


def test_what_follows_from_a_memory_is_computed_once() -> None:
    memory = fold(admitted_launch(1), first_memory())
    for name in ("history", "ledger", "strays"):
        assert getattr(memory, name) is getattr(memory, name)
    later = replace(memory, rows=5, relaunched={})
    assert (memory.history.rows, later.history.rows) == (0, 5)


def test_of_two_clones_the_first_keeps_the_instance() -> None:
    first, _ = launch_events(2, NOON)
    later = replace(first, at=NOON + MINUTE, why="another clone", plan_digest="sha256:0")
    memory = fold([first, later], first_memory())
    assert memory.launchings["tiny-2"] == first and memory.unsettled == first


@pytest.mark.parametrize(
    ("change", "after"),
    [
        ({"beat": 4}, [7, 4]),
        ({"owner": "eve@there", "fence": 8, "beat": 0}, [8, 0]),
        ({"owner": "eve@there", "fence": 9}, [7, 3]),  # nobody gave it fence 8
        ({"owner": "eve@there", "beat": 9}, [7, 3]),  # the remote took the other first
        ({"fence": 6, "beat": 9}, [7, 3]),
    ],
)
def test_a_lease_continues_by_a_beat_of_its_holder_or_the_next_fence(
    change: dict[str, object], after: list[int]
) -> None:
    assert fences(LEASE_EVENT, replace(LEASE_EVENT, **change)) == after


def test_the_nodes_of_the_current_instance_are_remembered() -> None:
    placement = Placement(("node-1",), ())
    look = replace(DECISION, placement=placement)
    assert fold([look], first_memory()).placements == {"tiny-1": placement}
    assert fold([look, DECISION], first_memory()).placements == {"tiny-1": placement}
    assert fold([look]).placements == {}  # nothing was launched


def test_a_new_instance_begins_with_the_rows_of_the_record_and_no_attempts() -> None:
    events = [
        Observed(at=NOON, version="1.0", rules="r", evidence={}, rows=7),
        CheckedIn(at=NOON, instance="tiny-1", attempt=2, outcome="pass", items=(), written=NOON),
    ]
    before = fold(events, first_memory())
    assert (before.rows, len(before.starts), len(before.restarts)) == (7, 1, 1)
    memory = fold(launch_events(2, NOON, relaunch_of="tiny-1"), before)
    assert memory.current is not None and memory.current.rows == 7
    assert (memory.starts, memory.restarts) == ((), ())


@pytest.mark.parametrize("step", [None, 3])
def test_rows_are_all_known_only_if_they_were_read_at_the_end(step: int | None) -> None:
    end = End(instance="tiny-1", state=JobState.FAILED, at=NOON, step=step)
    decision = replace(DECISION, ended=end, rows=4)
    memory = fold([decision, *launch_events(2, NOON, relaunch_of="tiny-1")], first_memory())
    assert memory.current is not None
    assert (memory.current.rows, memory.current.counted) == (4, step is not None)


def test_an_instance_ran_until_it_failed_or_until_the_next_one_started() -> None:
    memory = fold(launch_events(2, NOON, relaunch_of="tiny-1"), first_memory())
    first, second = memory.ledger.spans
    assert (first.instance, first.until) == ("tiny-1", NOON)
    assert (second.instance, second.since, second.until) == ("tiny-2", NOON, None)


def test_a_tick_that_saw_nothing_fresh_is_no_look_at_the_run() -> None:
    later = replace(DECISION, at=NOON + EVERY)
    assert fold([DECISION, later], first_memory()).last_seen == NOON + EVERY
    assert fold([DECISION, replace(later, monitor="stale")], first_memory()).last_seen == NOON


def test_without_a_seal_that_nobody_believes_the_others_stay() -> None:
    memory = fold([*admitted_launch(1), half("first"), half("second")])
    proven_only = memory.proven_only(frozenset(), (half("first"),))
    assert proven_only.milestones == (half("second"),)
    assert proven_only.instances == memory.instances


def test_a_run_whose_seal_nobody_believes_is_not_sealed() -> None:
    final = replace(half(""), tag="herorun/tiny", ending="final")
    memory = fold([*admitted_launch(1), final])
    assert memory.sealed == memory.proven_only(frozenset(), (half("first"),)).sealed == final
    assert memory.proven_only(frozenset(), (final,)).sealed is None


@pytest.mark.parametrize(("word", "yes"), [(Word.APPROVE, True), (Word.DENY, False)])
def test_an_approval_is_a_yes_and_a_denial_a_no(word: Word, yes: bool) -> None:
    question = "escalate/relaunch/tiny-1/budget"
    order = Ordered(NOON, "dri", word, (question,), reason="enough")
    answers = fold([order], first_memory()).answers
    assert dict(answers) == {"tiny-1": RelaunchAnswer(yes, NOON, "dri", "enough")}


def test_without_a_launch_that_nobody_believes_its_instance_is_none() -> None:
    memory = fold([*admitted_launch(1), *admitted_launch(2), admitted_launch(3)[0]])
    proven_only = memory.proven_only(frozenset({"tiny-2", "tiny-3"}), ())
    assert [*proven_only.launchings] == ["tiny-1"] and proven_only.unsettled is None
    assert [instance.name for instance in proven_only.instances] == ["tiny-1"]
    assert memory.proven_only(frozenset({"tiny-2"}), ()).unsettled == memory.unsettled
    assert proven_only.next_number == memory.next_number  # no number is given twice


def test_an_order_that_reads_the_run_is_no_tick() -> None:
    before = fold([DECISION], first_memory())
    order = replace(DECISION, at=NOON + MINUTE, run="down", rows=7, by_order=True)
    after = fold([order], before)
    assert after.rows == 7 and DECISION.saw_run and not order.saw_run
    assert [after.ticks, after.last_seen, after.last_decided] == [before.ticks, NOON, DECISION]
