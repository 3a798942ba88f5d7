"""Each act is journalled before and after, and never done twice: a journal in memory, and a
scheduler that is told to stop.
"""

import json
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from builders import NOON, a_contract
from core.story import launch_events
from herorun.core.babysit.actions import DeleteNode, Escalate, Relaunch, Stop, Tell
from herorun.core.errors import Blocked, CouldNotLook
from herorun.core.event import Decided, Done, Failed, Intended
from herorun.core.recovery.classify import Ending
from herorun.core.recovery.diagnosis import Cause
from herorun.operations.babysit import perform as acts, replace_node
from herorun.operations.babysit.perform import perform, relaunch_once, settle
from herorun.operations.babysit.replace_node import delete_node
from herorun.operations.record import post
from operations.in_memory import ToldRun, an_intent, fails

RELAUNCH = Relaunch("relaunch/tiny-1", "tiny-1", "crashed")
STOP = Stop("stop/tiny-1", "tiny-1", "it burns")
NODE = DeleteNode("node/tiny-1", "tiny-1", "No accelerator found", "10.0.0.7", "us-east5-a")
RELAUNCH_FUNCTION = "herorun.operations.launch.relaunch.relaunch"


@pytest.fixture
def actions(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What reached the outside."""
    actions: list[Any] = []

    def deliver(run: Any, intent: Intended) -> None:
        actions.append(("said", intent.key, intent.attempt))
        run.record.append(Done(NOON, intent.key, intent.attempt))

    def relaunch(run: Any, instance: str, why: str, by_itself: bool) -> str:
        actions.append(("relaunch", instance, why, by_itself))
        return "tiny-2"

    for module in (acts, post):
        monkeypatch.setattr(module, "now", lambda: NOON)
    monkeypatch.setattr(acts, "take_in_time", lambda run: actions.append("lease"))
    monkeypatch.setattr(acts, "deliver", deliver)
    monkeypatch.setattr(RELAUNCH_FUNCTION, relaunch)
    monkeypatch.setattr(
        replace_node, "delete_node", lambda run, intent, action: actions.append(action)
    )
    return actions


@pytest.fixture
def run(actions: list[Any]) -> Any:
    return ToldRun(actions)


def test_a_stop_is_intended_asked_of_the_scheduler_once_and_entered(
    run: Any, actions: list[Any]
) -> None:
    assert (perform(run, STOP).why, perform(run, STOP).why) == ("", "")
    assert actions == ["lease", ("stop", "tiny-1", "ada@laptop")]
    before, after = run.record.new
    assert before == Intended(at=NOON, key="stop/tiny-1", attempt=1, what="stop tiny-1: it burns")
    assert (after.key, after.attempt, after.lines["Evidence"]) == ("stop/tiny-1", 1, "it burns")


def test_a_stop_that_failed_is_tried_again_under_its_next_number(
    run: Any, actions: list[Any]
) -> None:
    works, run.scheduler.stop = run.scheduler.stop, fails(CouldNotLook("squeue is down"))
    assert perform(run, STOP) == acts.ActionResult(STOP, "squeue is down")
    run.scheduler.stop = works
    assert perform(run, STOP).why == ""
    kinds = [(type(each), each.key, each.attempt) for each in run.record.new]
    assert kinds == [
        (Intended, "stop/tiny-1", 1),
        (Failed, "stop/tiny-1", 1),
        (Intended, "stop/tiny-1", 2),
        (Done, "stop/tiny-1", 2),
    ]
    assert (run.record.new[1].why, run.record.new[1].interrupted) == ("squeue is down", False)


@pytest.mark.parametrize("action", [STOP, NODE])
def test_without_the_lease_nothing_that_cannot_be_undone_is_done(
    action: Any, run: Any, actions: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(acts, "take_in_time", fails(Blocked("bob has the lease")))
    assert perform(run, action).why == "bob has the lease"
    assert actions == []
    before, after = run.record.new
    assert after == Failed(NOON, action.key, 1, "bob has the lease") and before.key == after.key


def test_a_node_is_deleted_under_the_lease(run: Any, actions: list[Any]) -> None:
    assert perform(run, NODE) == acts.ActionResult(NODE)
    assert actions == ["lease", NODE]
    (before,) = run.record.new
    assert "10.0.0.7" in before.what and "us-east5-a" in before.what


def test_a_relaunch_is_done_under_the_name_that_it_started(run: Any, actions: list[Any]) -> None:
    assert perform(run, RELAUNCH) == acts.ActionResult(RELAUNCH)
    assert actions == [("relaunch", "tiny-1", "crashed", True)]
    assert run.record.new[-1] == Done(NOON, "relaunch/tiny-1", 1, result="tiny-2")


def test_what_the_gate_refuses_is_asked_of_a_person_but_not_of_who_ordered_it(
    run: Any, actions: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(RELAUNCH_FUNCTION, fails(Blocked("the gate is blocked")))
    assert perform(run, RELAUNCH).why == "the gate is blocked"
    question = "escalate/relaunch/tiny-1/gate"
    assert [(type(each), each.key) for each in run.record.new] == [
        (Intended, "relaunch/tiny-1"),
        (Failed, "relaunch/tiny-1"),
        (Intended, question),
        (Done, question),
    ]
    body = run.record.new[2].body
    assert "ANSWERS" in body and "crashed. the gate is blocked" in body
    before = len(run.record.events)
    with pytest.raises(Blocked):
        relaunch_once(run, an_intent("relaunch/tiny-1", 2), "tiny-1", "ordered", ask=False)
    assert run.record.events[before:] == [Failed(NOON, "relaunch/tiny-1", 2, "the gate is blocked")]


def test_a_relaunch_that_could_not_be_asked_about_is_no_question(
    run: Any, actions: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(RELAUNCH_FUNCTION, fails(OSError("the disk is full")))
    assert "the disk is full" in perform(run, RELAUNCH).why
    assert [type(each) for each in run.record.new] == [Intended, Failed]


@pytest.mark.parametrize("events", [1, 2])
def test_a_relaunch_that_was_begun_has_not_failed(
    events: int, run: Any, actions: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only its intent, or its job too, was written before the error."""
    begins = launch_events(2, NOON, "tiny-1")[:events]

    def relaunch(*arguments: Any, **options: Any) -> None:
        run.record.events += begins
        raise CouldNotLook("the answer was lost")

    monkeypatch.setattr(RELAUNCH_FUNCTION, relaunch)
    assert perform(run, RELAUNCH).why == "the answer was lost"
    assert [each for each in run.record.new if isinstance(each, Failed)] == []


def test_what_is_said_is_shown_too(run: Any, actions: list[Any]) -> None:
    perform(run, Tell("tell/tiny-1/x", "title", "why"))
    assert actions == [("said", "tell/tiny-1/x", 1), ("shown", "tell/tiny-1/x")]
    run.contract = a_contract(stop_when="the loss rises", dri="ada")
    perform(run, Escalate(key="escalate/tiny-1/x", title="title", why="why"))
    before = run.record.new[-2]
    assert list(before.lines) == ["Status", "Evidence", "Decision", "Next"]
    status, evidence, decision, _ = before.lines.values()
    assert (status, evidence) == ("title", "why") and decision.startswith("ask @dri: ")
    for part in ("**Escalation: title**", "\n\nwhy\n\n", "the loss rises", "ANSWERS", "ada"):
        assert part in before.body


# --- what was interrupted -------------------------------------------------------------------------


def test_an_interrupted_relaunch_is_done_if_its_instance_was_launched(
    run: Any, actions: list[Any]
) -> None:
    run.record.events += [an_intent("relaunch/tiny-1"), *launch_events(2, NOON, "tiny-1")]
    assert settle(run) == [] and actions == []
    assert run.record.new[-1] == Done(NOON, "relaunch/tiny-1", 1, result="tiny-2")


@pytest.mark.parametrize("key", ["relaunch/tiny-1", "stop/tiny-1", "rollback/tiny-1/40"])
def test_what_nothing_came_of_is_decided_on_again(key: str, run: Any, actions: list[Any]) -> None:
    run.record.append(an_intent(key))
    assert settle(run, is_certain=False) == [] and len(run.record.new) == 1
    assert settle(run) == [] and actions == []
    failed_event = run.record.new[-1]
    assert (type(failed_event), failed_event.key, failed_event.interrupted) == (Failed, key, True)


def test_another_instances_relaunch_is_not_this_one(run: Any, actions: list[Any]) -> None:
    run.record.events += [an_intent("relaunch/tiny-2"), *launch_events(2, NOON, "tiny-1")]
    settle(run)
    assert isinstance(run.record.new[-1], Failed)


def test_one_post_that_fails_keeps_none_of_the_others_back(
    run: Any, actions: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    first_intent, second_intent = (
        an_intent(f"tell/tiny-1/{name}", body="b") for name in ("lost", "said")
    )
    run.record.events += [first_intent, second_intent]
    works = acts.deliver

    def deliver(run: Any, each: Intended) -> None:
        if each.key == first_intent.key:
            raise CouldNotLook("no network")
        works(run, each)

    monkeypatch.setattr(acts, "deliver", deliver)
    assert settle(run) == ["tell/tiny-1/lost: no network"]
    assert actions == [("said", "tell/tiny-1/said", 1)]


def test_a_post_that_failed_waits_for_its_time(run: Any, actions: list[Any]) -> None:
    cadence = run.contract.babysit.cadence
    post = an_intent("tell/tiny-1/x", body="b")
    for at, text in ((NOON, 0), (NOON - cadence, 1)):
        run.record.events[run.record.began :] = [post, Failed(at, post.key, 1, "no network")]
        settle(run)
        assert len(actions) == text


# --- the machine of a bad accelerator -------------------------------------------------------------


LIST = ("compute", "tpus", "tpu-vm", "list")


@pytest.fixture
def cloud(monkeypatch: pytest.MonkeyPatch, run: Any) -> list[Any]:
    """Its machines, and each call that changes one; a push of the record is one too."""
    calls: list[Any] = []
    machines = [
        {
            "name": f"p/nodes/{name}",
            "createTime": made_at,
            "networkEndpoints": [{"ipAddress": "10.0.0.7"}],
        }
        for name, made_at in (("old", "2026-01-01T00:00:00Z"), ("new", "2026-01-01T13:00:00Z"))
    ]

    def call(argv: tuple[str, ...], timeout: float) -> Any:
        if argv[1:5] == LIST:
            return SimpleNamespace(code=0, text=json.dumps(machines))
        calls.append(argv[5])
        machines.pop(0)
        return SimpleNamespace(code=0, text="")

    run.record.push = lambda: calls.append("push")
    monkeypatch.setattr(replace_node, "now", lambda: NOON)
    monkeypatch.setattr(replace_node.process, "run", call)
    return calls


def test_the_machine_of_that_time_is_deleted_after_its_intent_is_public(
    run: Any, cloud: list[Any]
) -> None:
    """A machine with its address that was made after the end is another one."""
    assert delete_node(run, an_intent(NODE.key), NODE) is None
    assert cloud == ["push", "old"]
    (event,) = run.record.new
    assert (event.key, event.attempt, event.result) == (NODE.key, 1, "old")
    assert (event.lines["Before"], event.lines["Evidence"]) == ("old", "No accelerator found")
    assert event.lines["Command"].split()[-4:] == ["old", "--zone", "us-east5-a", "--quiet"]
    delete_node(run, an_intent(NODE.key, 2), NODE)
    assert cloud == ["push", "old"]
    again = run.record.new[-1]
    assert (again.attempt, again.result, again.lines["Command"]) == (2, "", "none")
    assert again.lines["After"] == again.lines["Before"] == event.lines["After"]


def test_the_end_of_the_job_decides_which_machine_it_had(run: Any, cloud: list[Any]) -> None:
    """Not the moment at which its deletion was intended."""
    ending = Ending(
        instance="tiny-1", cause=Cause.INFRA, fingerprint="f", why="no accelerator", ended=NOON
    )
    later = NOON + timedelta(hours=3)
    decision = Decided(at=later, run="down", monitor="fresh", progress="~1/2", failure=ending)
    run.record.append(decision)
    delete_node(run, an_intent(NODE.key, at=later), NODE)
    assert cloud == ["push", "old"]


def test_a_machine_that_could_not_be_deleted_is_a_failure(
    run: Any, cloud: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = SimpleNamespace(code=1, complaint="no permission")
    monkeypatch.setattr(replace_node.process, "run", lambda argv, timeout: answer)
    with pytest.raises(CouldNotLook, match="no permission"):
        delete_node(run, an_intent(NODE.key), NODE)
    (failed_event,) = run.record.new
    assert (failed_event.key, failed_event.attempt) == (
        NODE.key,
        1,
    ) and "no permission" in failed_event.why
