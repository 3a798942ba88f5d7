"""What a tick writes to the journal, and what it leaves out because the record says it already."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from builders import MINUTE, NOON, a_job, a_receipt
from core.babysit.test_policy import alert
from core.recovery.test_recovery import an_ending
from core.story import first_memory
from herorun.core.babysit.actions import DeleteNode, Escalate, Relaunch, Stop, Tell
from herorun.core.babysit.tick import MonitorHealth, RunHealth, Tick
from herorun.core.evidence import ActionBlock, Job, LateReceipts, Placement, Receipt
from herorun.core.journal.decision import (
    build_decision,
    checked_in,
    interventions,
    reason_of,
    restrict_actions,
    to_intend,
)
from herorun.core.notify.escalation import EscalationReason, Option

TELL = Tell("tell/tiny-1/started", "tiny-1 is training", "step 2")
RELAUNCH = Relaunch("relaunch/tiny-1", "tiny-1", "node lost")
STOP = Stop("stop/tiny-1", "tiny-1", "it is wedged")
MEMORY = first_memory()


def a_tick(**changes: Any) -> Tick:
    fields = {"at": NOON, "run": RunHealth.HEALTHY, "monitor": MonitorHealth.FRESH}
    return Tick(**{**fields, "findings": [], "alerts": {}, "actions": [], **changes})


def test_what_is_done_to_the_job_is_an_intervention_and_a_message_is_none() -> None:
    assert interventions([TELL, RELAUNCH, STOP]) == (RELAUNCH.key, STOP.key)


def test_a_babysitter_that_may_not_act_still_posts() -> None:
    actions = [TELL, RELAUNCH, STOP]
    assert restrict_actions(actions, ActionBlock()) == actions
    assert restrict_actions(actions, ActionBlock(judge="another version")) == [TELL]


def test_a_lost_lease_is_asked_about_once_per_holder() -> None:
    def ask_escalation(holder: str) -> Escalate:
        (action,) = restrict_actions([RELAUNCH], ActionBlock(lease=holder, lost=True))
        assert isinstance(action, Escalate)
        return action

    mine = ask_escalation("eve@there holds it")
    assert (
        mine.key.startswith("escalate/lease/")
        and mine.key == ask_escalation("eve@there holds it").key
    )
    assert mine.key != ask_escalation("ada@here holds it").key
    assert mine.why == "eve@there holds it"
    assert (mine.reason, mine.ways) == (EscalationReason.UNVERIFIED, (Option.TAKE,))


def test_the_alerts_that_fire_and_those_that_ended_are_recorded() -> None:
    firing, over = alert("crashed"), alert("loss-spike")
    event = build_decision(
        a_tick(alerts={firing.key: firing}, ended=(over,), actions=[TELL]), {}, MEMORY, [TELL]
    )
    assert event.alerts == (firing, over)
    assert (event.at, event.actions) == (NOON, (TELL.key,))
    assert (event.run, event.monitor) == ("healthy", "fresh")


def test_when_the_job_left_the_queue_is_recorded_once() -> None:
    job = a_job(started=NOON - MINUTE)

    def record_end(memory: Any, job: Any = job) -> Any:
        return build_decision(a_tick(), {Job: job}, memory, []).job_started

    assert record_end(MEMORY) == NOON - MINUTE
    assert record_end(replace(MEMORY, job_started={"tiny-1": NOON - MINUTE})) is None
    assert record_end(replace(MEMORY, job_started={"tiny-1": NOON})) == NOON - MINUTE
    assert record_end(MEMORY, replace(job, instance="tiny-0")) is None


@pytest.mark.parametrize(
    ("action", "reason"),
    [
        (TELL, ("tiny-1 is training", "step 2")),
        (RELAUNCH, ("relaunch after tiny-1: node lost", "")),
        (STOP, ("stop tiny-1: it is wedged", "")),
    ],
)
def test_the_reason_of_an_action(action: Any, reason: tuple[str, str]) -> None:
    assert reason_of(action) == reason


def test_what_is_done_or_under_way_is_not_intended_again() -> None:
    memory = replace(MEMORY, done={TELL.key: ""}, intended={STOP.key: object()})
    assert to_intend([TELL, STOP, RELAUNCH], memory) == [RELAUNCH]


def test_a_check_in_carries_what_the_job_said() -> None:
    items = (("commit", "pass", ""),)
    receipt = a_receipt(items=items, loaded="/data/step-4", at=NOON - MINUTE, attempt=2)
    (event,) = checked_in(a_tick(), {Receipt: receipt}, MEMORY)
    assert (event.at, event.written) == (NOON, NOON - MINUTE)
    assert (event.instance, event.attempt, event.outcome) == ("tiny-1", 2, "pass")
    assert (event.items, event.loaded) == (items, "/data/step-4")


def test_a_later_attempt_checks_in_again_and_the_same_one_does_not() -> None:
    known_start = replace(MEMORY, checked_in=frozenset({"tiny-1"}), starts=((NOON, 1),))
    assert checked_in(a_tick(), {Receipt: a_receipt(attempt=1)}, known_start) == []
    assert len(checked_in(a_tick(), {Receipt: a_receipt(attempt=2)}, known_start)) == 1


def test_of_late_receipts_only_those_that_passed_are_recorded() -> None:
    late = LateReceipts((a_receipt("tiny-0"), a_receipt("tiny-00", "fail")))
    assert [e.instance for e in checked_in(a_tick(), {LateReceipts: late}, MEMORY)] == ["tiny-0"]


def test_a_failure_is_recorded_once_though_its_time_moves() -> None:
    ending = an_ending(number=1)
    tick = a_tick(run=RunHealth.DOWN, ending=ending)
    assert build_decision(tick, {}, MEMORY, []).failure == ending
    recorded_memory = replace(MEMORY, endings={"tiny-1": replace(ending, ended=NOON - MINUTE)})
    assert build_decision(tick, {}, recorded_memory, []).failure is None
    other = replace(MEMORY, endings={"tiny-1": replace(ending, fingerprint="other")})
    assert build_decision(tick, {}, other, []).failure == ending


def test_nodes_are_recorded_of_the_current_instance_and_when_there_are_new_ones() -> None:
    def recorded_placement(job: Job, memory: Any = MEMORY) -> Placement | None:
        return build_decision(a_tick(), {Job: job}, memory, []).placement

    first = Placement(("node-1",), ())
    assert recorded_placement(a_job(placement=first)) == first
    assert recorded_placement(a_job(instance="tiny-9", placement=first)) is None
    assert recorded_placement(a_job(placement=None)) is None
    second_memory = replace(MEMORY, placements={"tiny-1": first})
    assert recorded_placement(a_job(placement=first), second_memory) is None
    joined_nodes = recorded_placement(a_job(placement=Placement(("node-2",), ())), second_memory)
    assert joined_nodes is not None and set(joined_nodes.nodes) == {"node-1", "node-2"}


def test_a_quiet_run_gets_one_line_in_a_while() -> None:
    tick = a_tick(quiet_every=timedelta(hours=1))
    quiet = replace(MEMORY, last_summary=NOON - timedelta(hours=1))
    assert "2026-01-01 11:00 UTC" in build_decision(tick, {}, quiet, []).summary
    assert build_decision(tick, {}, replace(quiet, last_summary=NOON - MINUTE), []).summary == ""
    assert build_decision(replace(tick, actions=[TELL]), {}, quiet, []).summary == ""
    assert (
        build_decision(tick, {}, replace(quiet, last_summary=None, instances=()), []).summary == ""
    )


def test_a_deleted_machine_is_named_with_its_zone() -> None:
    action = DeleteNode("delete-node/tiny-1", "tiny-1", "why", "10.0.0.9", "us-east5-a")
    title, why = reason_of(action)
    assert "10.0.0.9" in title and "us-east5-a" in title and "tiny-1" in title and why == ""
    assert interventions([action]) == (action.key,)
