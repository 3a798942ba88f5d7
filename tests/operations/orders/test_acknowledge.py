"""What a person's answer to an alert, or to a question about the run, sets in motion."""

from dataclasses import replace
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from builders import MINUTE, NOON
from herorun import discover
from herorun.core.babysit.alert import Alert, AlertState
from herorun.core.check import Gate
from herorun.core.contract import Recovery
from herorun.core.errors import Blocked, WrongUse
from herorun.core.event import Word
from herorun.core.notify.escalation import Option
from herorun.core.recovery.diagnosis import Cause
from herorun.core.recovery.policy import ActionPause, Ledger
from herorun.operations.orders import acknowledge as module
from herorun.operations.orders.questions import continuation_command, open_questions, ways_on
from herorun.system.clock import now
from wording import mentions

CHECKS = {check.name: check for check in discover.checks(Gate.HEALTH)}
SPIKE = Alert(
    check="loss-spike",
    subject="train/loss",
    since=NOON - MINUTE,
    seen=NOON,
    state=AlertState.FIRING,
    message="m",
    steps=(50, 60),
)
DRIFT = Alert(
    check="loss-drift",
    subject="",
    since=NOON,
    seen=NOON,
    state=AlertState.ENDED,
    message="m",
)
STOPPED_ALERT = replace(SPIKE, check="stopped-by-hand", subject="tiny-1")
CRASH = "escalate/relaunch/tiny-1/crash"
VETO, FIXED_ONCE = "escalate/relaunch/tiny-1/veto", "escalate/relaunch/tiny-1/fixed-once"
FAILED_OFTEN = "escalate/relaunch/tiny-1/tries"
NO_JUDGE = SimpleNamespace(question="", answer=None, replayed=None)


def a_reply(yes: bool, at: Any = NOON) -> Any:
    return SimpleNamespace(yes=yes, at=at, summary="approved" if yes else "denied")


PAUSED_LEDGER = Ledger(pause=ActionPause(now() + timedelta(hours=1), "ada", NOON))


class World:
    """A run with open alerts and questions, and the orders that were recorded."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.orders: list[tuple[Word, list[str], str]] = []
        self.memory = SimpleNamespace(
            alerts={SPIKE.id: SPIKE},
            unacknowledged_alerts=(DRIFT,),
            acked=frozenset(),
            current=SimpleNamespace(name="tiny-1"),
            done={},
            answers={},
            endings={},
            failed={},
            judge=NO_JUDGE,
            ledger=Ledger(),
            stopped_instances={},
            last_decided=None,
        )
        self.run: Any = SimpleNamespace(
            slug="tiny",
            status_command="herorun status tiny",
            ends_with_job=False,
            record=SimpleNamespace(memory=lambda: self.memory),
            contract=SimpleNamespace(
                babysit=SimpleNamespace(recovery=Recovery.RELAUNCH, cadence=timedelta(minutes=15))
            ),
        )
        monkeypatch.setattr(module, "memory_for_orders", lambda run: self.memory)
        monkeypatch.setattr(module, "order", self._order)
        monkeypatch.setattr(module, "push_warning", lambda run: ("not pushed",))
        self.loop_runs = False
        monkeypatch.setattr(module, "babysitter_runs", lambda run: self.loop_runs)
        monkeypatch.setattr(module, "unwatched_warnings", lambda run: ("unwatched",))
        monkeypatch.setattr(module, "_continuation_command", lambda run, memory: "herorun relaunch")

    def _order(self, run: Any, word: Word, about: Any, reason: str) -> tuple[str, ...]:
        self.orders.append((word, list(about), reason))
        return ("ordered",)

    def ask(self, *keys: str) -> None:
        self.memory.done = dict.fromkeys(keys, NOON)


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    return World(monkeypatch)


# --- alerts ---------------------------------------------------------------------------------------


def test_without_a_name_all_that_is_open_or_ended_unresolved_is_acknowledged(world: World) -> None:
    outcome = module.acknowledge(world.run, reason="known")
    assert world.orders == [(Word.ACK, [SPIKE.key, DRIFT.key], "known")]
    silenced_message, closed_message = outcome.message.split("; acknowledged ")
    assert mentions(silenced_message, "loss-spike", "closes") and mentions(
        closed_message, "loss-drift", "closed"
    )
    assert outcome.warnings == ("ordered",)


@pytest.mark.parametrize("state", ["down", "degraded"])
def test_closing_an_alert_says_where_the_run_is_still_down(world: World, state: str) -> None:
    world.memory.last_decided = SimpleNamespace(run=state)
    world.ask(CRASH)
    outcome = module.acknowledge(world.run)
    status = f"`herorun status {world.run.slug}`"
    assert any(status in warning for warning in outcome.warnings) == (state == "down")


@pytest.mark.parametrize(
    ("changes", "names"),
    [
        ({"done": {CRASH: NOON}}, ("not start", "babysitter", "ends", "monitors")),
        (
            {"done": {CRASH: NOON}, "alerts": {STOPPED_ALERT.id: STOPPED_ALERT}},
            ("not start", "another", "person"),
        ),
        ({"loop_runs": True}, ("the babysitter", "relaunch", "herorun stop tiny")),
        ({}, ("one runs", "next tick", "herorun stop tiny")),
        ({"ledger": PAUSED_LEDGER}, ("one runs", "pause")),
        ({"answers": {"tiny-1": a_reply(True)}}, ("relaunch", "next tick")),
        ({"answers": {"tiny-1": a_reply(False)}}, ("not start", "babysitter", "ends")),
        ({"loop_runs": True, "done": {CRASH: NOON}}, ("not start", "babysitter", "ends")),
        (
            {"loop_runs": True, "stopped_instances": {"tiny-1": "ada"}},
            ("not start", "babysitter", "ends"),
        ),
    ],
)
def test_an_acknowledgement_says_whether_the_run_is_still_monitored_or_relaunched(
    world: World, changes: dict[str, Any], names: tuple[str, ...]
) -> None:
    world.loop_runs = changes.pop("loop_runs", False)
    down = {"last_decided": SimpleNamespace(run="down"), "alerts": {}}
    for name, value in {**down, **changes}.items():
        setattr(world.memory, name, value)
    assert mentions(module.acknowledge(world.run).warnings[-1], *names)


@pytest.mark.parametrize("is_open", [True, False])
def test_a_no_says_whether_the_run_is_still_monitored(world: World, is_open: bool) -> None:
    world.ask(CRASH)
    world.memory.alerts = {STOPPED_ALERT.id: STOPPED_ALERT} if is_open else {}
    message = module.answer(world.run, False).message
    assert ("ends" in message, "another" in message) == (not is_open, is_open)


@pytest.mark.parametrize("name", ["loss-spike", "loss-spike[train/loss]", SPIKE.key])
def test_an_alert_is_named_by_its_check_its_subject_or_its_key(world: World, name: str) -> None:
    outcome = module.acknowledge(world.run, name)
    assert world.orders == [(Word.ACK, [SPIKE.key], "")]
    assert "closed" not in outcome.message


def test_what_is_acknowledged_is_not_ordered_again(world: World) -> None:
    world.memory.acked = frozenset({SPIKE.key})
    module.acknowledge(world.run)
    assert world.orders == [(Word.ACK, [DRIFT.key], "")]
    world.memory.acked = frozenset({SPIKE.key, DRIFT.key})
    outcome = module.acknowledge(world.run)
    assert (len(world.orders), outcome.warnings) == (1, ("not pushed",))


def test_the_nearest_name_is_proposed_for_one_that_is_not_open(world: World) -> None:
    with pytest.raises(WrongUse, match=r"`loss-spike`\?"):
        module.acknowledge(world.run, "loss-spikes")
    with pytest.raises(WrongUse, match="loss-drift, loss-spike"):
        module.acknowledge(world.run, "x")
    assert world.orders == []


# --- questions ------------------------------------------------------------------------------------


def test_only_questions_about_the_current_instance_are_open(world: World) -> None:
    world.ask("escalate/relaunch/tiny-0/veto", VETO, "stop/tiny-1", FAILED_OFTEN)
    assert open_questions(world.memory) == (VETO, FAILED_OFTEN)
    world.memory.current = None
    assert open_questions(world.memory) == ()


@pytest.mark.parametrize(
    ("answer", "failed_at", "is_open"),
    [
        (a_reply(True), None, False),
        (a_reply(True), NOON + MINUTE, True),
        (a_reply(True), NOON, False),
        (a_reply(False), NOON + MINUTE, False),
    ],
)
def test_a_yes_that_led_to_another_failure_is_open_again(
    world: World, answer: Any, failed_at: Any, is_open: bool
) -> None:
    world.ask(VETO)
    world.memory.answers = {"tiny-1": answer}
    if failed_at:
        world.memory.failed = {"relaunch/tiny-1": SimpleNamespace(last=failed_at)}
    assert open_questions(world.memory) == ((VETO,) if is_open else ())


@pytest.mark.parametrize(
    ("keys", "alerts", "taints", "ways"),
    [
        ((), (), (), (Option.RELAUNCH,)),
        ((), (SPIKE,), (), (Option.ROLLBACK,)),
        ((), (), ("taint",), (Option.ROLLBACK,)),
        ((FIXED_ONCE,), (), (), (Option.LAUNCH, Option.DENY)),
        ((VETO,), (), (), (Option.LAUNCH, Option.DENY)),
        ((VETO,), (SPIKE,), (), (Option.ROLLBACK, Option.FORK, Option.LAUNCH, Option.DENY)),
        ((FIXED_ONCE,), (SPIKE,), (), (Option.LAUNCH, Option.DENY)),
        ((FAILED_OFTEN, FIXED_ONCE), (), (), (Option.LAUNCH, Option.DENY)),
    ],
)
def test_what_a_person_can_do_depends_on_the_question_and_the_numbers(
    world: World, keys: Any, alerts: Any, taints: Any, ways: Any
) -> None:
    world.ask(*keys)
    world.memory.alerts = {alert.id: alert for alert in alerts}
    world.memory.ledger = Ledger(taints=taints)
    assert ways_on(world.run, world.memory, CHECKS) == ways


@pytest.mark.parametrize(
    ("text", "cause", "way"),
    [
        ("code-bug-small", Cause.CODE_BUG, Option.LAUNCH),
        ("code-bug-complex", Cause.CODE_BUG, Option.LAUNCH),
        ("data", Cause.CODE_BUG, Option.RELAUNCH),
        ("node-failure", Cause.INFRA, Option.RELAUNCH),
        ("refused", Cause.REFUSED, Option.LAUNCH),
    ],
)
def test_after_what_comes_again_no_relaunch_of_the_same_commit_is_proposed(
    world: World, text: str, cause: Cause, way: Option
) -> None:
    world.memory.endings = {"tiny-1": SimpleNamespace(seen=text, cause=cause)}
    world.memory.alerts = {}
    assert ways_on(world.run, world.memory, CHECKS) == (way,)
    world.ask(FAILED_OFTEN)
    world.run.contract.babysit.recovery = Recovery.OBSERVE
    assert ways_on(world.run, world.memory, CHECKS) == (way, Option.DENY)


def test_the_next_command_is_the_first_way_on_that_the_gate_allows(world: World) -> None:
    questions: list[Any] = []

    def proposals(ways: Any, before: Any) -> Any:
        questions.append((ways, before))
        return (SimpleNamespace(command="herorun preflight tiny"),)

    world.memory.endings = {"tiny-1": SimpleNamespace(seen="code-bug-small", cause=Cause.CODE_BUG)}
    world.memory.alerts = {}
    proposer: Any = SimpleNamespace(run=world.run, memory=world.memory, proposals=proposals)
    assert continuation_command(proposer) == "herorun preflight tiny"
    assert questions == [((Option.LAUNCH,), None)]


def test_where_a_person_alone_acts_they_relaunch_by_hand(world: World) -> None:
    world.ask(FAILED_OFTEN)
    assert Option.RELAUNCH not in ways_on(world.run, world.memory, CHECKS)
    world.run.contract.babysit.recovery = Recovery.OBSERVE
    assert ways_on(world.run, world.memory, CHECKS) == (Option.RELAUNCH, Option.DENY)


@pytest.mark.parametrize("loop_runs", [True, False])
def test_the_time_of_a_relaunch_is_promised_only_where_a_babysitter_runs(
    world: World, loop_runs: bool
) -> None:
    world.ask(FAILED_OFTEN)
    world.loop_runs = loop_runs
    assert ("15m" in module.answer(world.run, True).message) is loop_runs


@pytest.mark.parametrize(
    ("yes", "word", "warnings"),
    [(True, Word.APPROVE, ("ordered", "unwatched")), (False, Word.DENY, ("ordered",))],
)
def test_an_answer_is_recorded_for_each_open_question(
    world: World, yes: bool, word: Word, warnings: tuple[str, ...]
) -> None:
    world.ask(FAILED_OFTEN)
    outcome = module.answer(world.run, yes, "because")
    assert world.orders == [(word, [FAILED_OFTEN], "because")]
    assert outcome.warnings == warnings


@pytest.mark.parametrize("recovery", [Recovery.OBSERVE, Recovery.RELAUNCH])
def test_a_yes_cannot_relaunch_what_only_a_person_starts(world: World, recovery: Any) -> None:
    world.ask(VETO)
    world.run.contract.babysit.recovery = recovery
    with pytest.raises(Blocked, match="`herorun relaunch`"):
        module.answer(world.run, True)
    assert world.orders == []
    module.answer(world.run, False)
    assert [word for word, _, _ in world.orders] == [Word.DENY]


def test_an_answer_without_a_question_is_wrong_or_already_given(world: World) -> None:
    with pytest.raises(WrongUse):
        module.answer(world.run, True)
    world.ask(VETO)
    world.memory.answers = {"tiny-1": a_reply(False)}
    assert module.answer(world.run, False).warnings == ("not pushed",)
    with pytest.raises(WrongUse, match="`herorun relaunch`"):
        module.answer(world.run, True)
    assert world.orders == []


VERSION = SimpleNamespace(
    question="escalate/judge/2", answer=None, replayed=SimpleNamespace(version="2")
)


@pytest.mark.parametrize(
    ("yes", "word", "warnings"),
    [(True, Word.APPROVE, ("ordered", "unwatched")), (False, Word.DENY, ("ordered",))],
)
def test_the_question_about_another_version_is_answered_first_and_alone(
    world: World, yes: bool, word: Word, warnings: tuple[str, ...]
) -> None:
    world.memory.judge = VERSION
    world.ask(FAILED_OFTEN)
    outcome = module.answer(world.run, yes)
    assert world.orders == [(word, ["escalate/judge/2"], "")]
    assert outcome.warnings == warnings
    assert "herorun status tiny" in outcome.message  # the other question is still open


def test_an_answer_about_a_version_can_be_changed_while_nothing_else_is_asked(
    world: World,
) -> None:
    world.memory.judge = SimpleNamespace(**{**vars(VERSION), "answer": a_reply(True)})
    assert module.answer(world.run, True).message == "already approved"
    assert world.orders == []
    module.answer(world.run, False)
    assert world.orders == [(Word.DENY, ["escalate/judge/2"], "")]
    world.ask(FAILED_OFTEN)
    module.answer(world.run, False)
    assert world.orders[1:] == [(Word.DENY, [FAILED_OFTEN], "")]
