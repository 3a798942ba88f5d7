"""Orders of a person as the journal has them, and what the scheduler is told: each once."""

from contextlib import nullcontext
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from builders import NOON, a_job
from core.story import launch_events
from herorun.core.errors import Blocked, CouldNotLook
from herorun.core.event import Decided, Done, Failed, Intended, Ordered, Word
from herorun.core.evidence import JobState
from herorun.core.ports import Absent, Found, Unknown
from herorun.core.recovery.classify import Ending
from herorun.core.recovery.diagnosis import Cause
from herorun.operations.babysit import perform
from herorun.operations.orders import forgotten_job, order, relaunch, rollback, stop
from herorun.operations.orders.forgotten_job import must_have_ended
from herorun.operations.orders.order import intended_once, ordered_before
from herorun.operations.orders.relaunch import _may_be_relaunched, _relaunch
from herorun.operations.orders.rollback import _done_already, _start_once
from herorun.operations.orders.stop import find_job, stop_and_wait
from herorun.operations.record import post
from herorun.system import progress
from operations.in_memory import OWNER, START, ToldRun, an_intent, fails
from screens.notices import Notice
from wording import mentions

LIVE, ENDED_SEARCH = Found(a_job()), Found(a_job(JobState.CANCELLED))
STOP = "stop/tiny-1"


@pytest.fixture
def actions() -> list[Any]:
    return []


@pytest.fixture
def run(actions: list[Any], monkeypatch: pytest.MonkeyPatch) -> Any:
    """Its scheduler gives the `answers` one after the other, the last one again and again."""
    run = ToldRun(actions)
    run.person = "ada"
    run.answers = [LIVE]
    run.scheduler.find = lambda name, since: (
        run.answers.pop(0) if run.answers[1:] else run.answers[0]
    )

    def record_order(run: Any, word: Word, about: Any, reason: str) -> tuple[str, ...]:
        run.record.append(Ordered(NOON, "ada", word, tuple(about), reason))
        return ("ordered",)

    for module in (order, rollback, perform):
        monkeypatch.setattr(module, "now", lambda: NOON)
    monkeypatch.setattr(post, "now", lambda: NOON)
    for module in (stop, relaunch):
        monkeypatch.setattr(module, "order", record_order)
        monkeypatch.setattr(module, "push_warning", lambda run: ("pushed",))
    monkeypatch.setattr(relaunch, "record_before_replacing", lambda run: None)
    clock = SimpleNamespace(monotonic=lambda: 0.0, sleep=actions.append)
    monkeypatch.setattr(stop, "time", clock)
    return run


def kinds(run: Any) -> list[tuple[type, str]]:
    return [(type(each), getattr(each, "key", "")) for each in run.record.new]


def test_a_stop_is_ordered_told_once_and_confirmed(run: Any, actions: list[Any]) -> None:
    run.answers = [LIVE, LIVE, ENDED_SEARCH]
    outcome = stop_and_wait(run, "tiny-1", "it burns", 60.0)
    assert actions == [("stop", "tiny-1", OWNER), 0.2]
    order_event, before, after = run.record.new
    assert (order_event.word, order_event.about, order_event.reason) == (
        Word.STOP,
        ("tiny-1",),
        "it burns",
    )
    assert before == Intended(
        at=NOON, key=STOP, attempt=1, what="stop tiny-1: ordered by ada: it burns"
    )
    assert (after.key, after.lines["Evidence"]) == (STOP, "ordered by ada: it burns")
    assert (outcome.code, outcome.warnings) == (0, ("ordered",))


def test_a_stop_shows_for_which_end_it_waits(
    run: Any, actions: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "_show", lambda what, amount, _: actions.append((what, amount)))
    run.answers = [LIVE, LIVE, ENDED_SEARCH]
    stop_and_wait(run, "tiny-1", "it burns", 60.0)
    _, (what, begin), pause, (same, end) = actions
    assert (begin, pause, end) == (0, 0.2, 1)
    assert "tiny-1" in what and what == same


def test_a_stop_waits_out_a_moment_in_which_the_end_is_in_doubt(
    run: Any, actions: list[Any]
) -> None:
    run.answers = [LIVE, Found(a_job(JobState.UNKNOWN)), ENDED_SEARCH]
    assert stop_and_wait(run, "tiny-1", "it burns", 60.0).code == 0
    assert actions == [("stop", "tiny-1", OWNER), 0.2]


def test_a_job_that_ends_well_at_a_stop_was_not_stopped_for_sure(run: Any) -> None:
    run.answers = [LIVE, Found(a_job(JobState.SUCCEEDED))]
    message = stop_and_wait(run, "tiny-1", "it burns", 60.0).message
    assert mentions(message, "asked", "succeeded") and "was stopped" not in message


@pytest.mark.parametrize("doubt", [Found(a_job(JobState.UNKNOWN)), Unknown("no answer")])
def test_a_stop_whose_end_stays_in_doubt_says_that_it_was_asked(
    run: Any, actions: list[Any], doubt: Any, notice: Notice
) -> None:
    run.answers = [LIVE, doubt]
    with pytest.raises(CouldNotLook) as error:
        stop_and_wait(run, "tiny-1", "it burns", 0.0)
    assert str(error.value) == notice
    assert actions[0] == ("stop", "tiny-1", OWNER)


def test_a_job_that_does_not_stop_is_no_success(run: Any, actions: list[Any]) -> None:
    with pytest.raises(CouldNotLook, match="tiny-1"):
        stop_and_wait(run, "tiny-1", "", 0.0)
    assert actions == [("stop", "tiny-1", OWNER)]
    assert run.record.new[1].what == "stop tiny-1: ordered by ada"
    with pytest.raises(CouldNotLook):
        stop_and_wait(run, "tiny-1", "", 0.0)
    assert [type(each) for each in run.record.new].count(Ordered) == 1
    assert [each[1:] for each in actions] == [("tiny-1", OWNER)] * 2


def test_a_stop_that_was_interrupted_after_the_scheduler_was_told_is_closed(
    run: Any, actions: list[Any]
) -> None:
    run.answers = [ENDED_SEARCH]
    what = "stop tiny-1: ordered by ada: it: burns"
    run.record.append(Intended(at=NOON, key=STOP, attempt=1, what=what))
    outcome = stop_and_wait(run, "tiny-1", "it: burns", 60.0)
    assert actions == [] and outcome.warnings == ("pushed",)
    assert kinds(run) == [(Intended, STOP), (Done, STOP)]
    assert run.record.new[1].lines["Evidence"] == "ordered by ada: it: burns"


@pytest.mark.parametrize(
    ("answer", "is_ordered"),
    [(ENDED_SEARCH, True), (Absent(), True), (Found(a_job(JobState.SUCCEEDED)), False)],
)
def test_a_job_that_is_gone_stays_down_unless_it_ended_well(
    answer: Any, is_ordered: bool, run: Any, actions: list[Any]
) -> None:
    run.answers = [answer]
    for _ in range(2):  # the second time it stands in the record
        stop_and_wait(run, "tiny-1", "enough", 60.0)
    expectation = [Ordered(NOON, "ada", Word.STOP, ("tiny-1",), "enough")] if is_ordered else []
    assert (run.record.new, actions) == (expectation, [])


@pytest.mark.parametrize(
    "answer",
    [Unknown("squeue is down"), Found(a_job(JobState.UNKNOWN)), Found(a_job(JobState.GONE))],
)
def test_nothing_is_done_to_a_job_that_nobody_saw(
    answer: Any, run: Any, actions: list[Any]
) -> None:
    run.answers = [answer]
    with pytest.raises(CouldNotLook) as error:
        stop_and_wait(run, "tiny-1", "", 60.0)
    assert (run.record.new, actions) == ([], [])
    is_gone = answer == Found(a_job(JobState.GONE))  # then no later query says more
    assert ("Repeat" in str(error.value)) is not is_gone


def test_a_job_is_asked_for_since_its_launch(run: Any) -> None:
    calls: list[Any] = []
    run.scheduler.find = lambda name, since: calls.append((name, since)) or Absent()
    run.record.append(*launch_events(2, NOON, "tiny-1"))
    assert (find_job(run, "tiny-1"), find_job(run, "tiny-2")) == (None, None)
    assert calls == [("tiny-1", START), ("tiny-2", NOON)]


@pytest.mark.parametrize("answer", ["where", "cluster", "seen", "nothing"])
def test_what_this_scheduler_does_not_know_may_run_where_it_was_launched(
    answer: str, run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    launching = SimpleNamespace(where="box1")
    memory = SimpleNamespace(launchings={"tiny-1": launching}, ends={})
    run.record = SimpleNamespace(memory=lambda: memory)
    monkeypatch.setattr(forgotten_job, "where", lambda run: "laptop")
    if answer == "where":
        launching.where = "laptop"
    elif answer == "cluster":
        run.scheduler.cluster_wide = True
    elif answer == "seen":
        memory.ends["tiny-1"] = object()
    with pytest.raises(CouldNotLook, match="box1") if answer == "nothing" else nullcontext():
        must_have_ended(run, "tiny-1")


def test_an_intent_continues_where_it_was_interrupted(run: Any) -> None:
    before = intended_once(run, STOP, "first")
    assert intended_once(run, STOP, "second") == before and len(run.record.new) == 1
    run.record.append(Failed(NOON, STOP, 1, "cut"))
    assert (intended_once(run, STOP, "third").attempt, before.attempt) == (2, 1)


def test_only_the_same_word_about_the_same_instance_was_ordered_before(run: Any) -> None:
    run.record.append(Ordered(NOON, "ada", Word.STOP, ("tiny-1",), ""))
    assert ordered_before(run, Word.STOP, "tiny-1")
    assert not ordered_before(run, Word.RELAUNCH, "tiny-1")
    assert not ordered_before(run, Word.STOP, "tiny-2")


# --- relaunch -------------------------------------------------------------------------------------


@pytest.fixture
def relaunches(actions: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    def start_next(run: Any, instance: str, why: str, by_itself: bool) -> str:
        actions.append((instance, why, by_itself))
        return "tiny-2"

    monkeypatch.setattr("herorun.operations.launch.relaunch.relaunch", start_next)
    way = SimpleNamespace(command="THE WAY", effect="")
    monkeypatch.setattr(relaunch, "_propose_commands", lambda run, option, reason: (way,))


def test_a_job_that_lives_is_relaunched_only_behind_its_stop(
    run: Any, actions: list[Any], relaunches: None
) -> None:
    with pytest.raises(Blocked, match="THE WAY"):
        _relaunch(run, "tiny-1", False, "", 60.0)
    assert (run.record.new, actions) == ([], [])
    run.answers = [LIVE, LIVE, ENDED_SEARCH]
    _relaunch(run, "tiny-1", True, "again", 60.0)
    assert actions == [("stop", "tiny-1", OWNER), ("tiny-1", "ordered by ada: again", False)]
    assert run.record.new[-1] == Done(NOON, "relaunch/tiny-1", 1, result="tiny-2")
    words = [each.word for each in run.record.new if isinstance(each, Ordered)]
    assert words == [Word.STOP, Word.RELAUNCH]


def test_a_relaunch_is_ordered_once_however_often_it_fails(
    run: Any, actions: list[Any], relaunches: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    run.answers = [ENDED_SEARCH]
    refuses = fails(Blocked("the gate"))
    monkeypatch.setattr("herorun.operations.launch.relaunch.relaunch", refuses)
    for _ in range(2):
        with pytest.raises(Blocked, match="the gate"):
            _relaunch(run, "tiny-1", False, "", 60.0)
    key = "relaunch/tiny-1"
    assert kinds(run) == [(Ordered, ""), *[(Intended, key), (Failed, key)] * 2]


def test_numeric_trouble_is_never_relaunched(run: Any, relaunches: None) -> None:
    for cause in (Cause.INFRA, Cause.NUMERIC):
        ending = Ending(instance="tiny-1", cause=cause, fingerprint="f", why="w", ended=NOON)
        decision = Decided(at=NOON, run="down", monitor="fresh", progress="", failure=ending)
        run.record.append(decision)
        expectation = (
            pytest.raises(Blocked, match="THE WAY") if cause is Cause.NUMERIC else nullcontext()
        )
        with expectation:
            _may_be_relaunched(run, "tiny-1", "")
    _may_be_relaunched(run, "tiny-2", "")


# --- rollback -------------------------------------------------------------------------------------


def test_a_rollback_that_could_not_start_is_a_failure_of_its_intent(
    run: Any, actions: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "rollback/tiny-1/40"
    target = SimpleNamespace(step=40)
    back: Any = SimpleNamespace(
        instance="tiny-1",
        plan="PLAN",
        target=target,
        facts={"a": "b"},
        given_up=lambda r: ("UP", r),
    )

    def start(run: Any, plan: Any, again: Any) -> str:
        actions.append((plan, again))
        return "tiny-2"

    monkeypatch.setattr(rollback, "start_again", fails(CouldNotLook("the gate is unknown")))
    with pytest.raises(CouldNotLook):
        _start_once(run, an_intent(key), back, "spike")
    assert run.record.new == [Failed(NOON, key, 1, "the gate is unknown")]
    monkeypatch.setattr(rollback, "start_again", start)
    assert _start_once(run, an_intent(key, 2), back, "spike") == "tiny-2"
    assert run.record.new[-1] == Done(NOON, key, 2, result="tiny-2")
    ((plan, again),) = actions
    assert (plan, again.instance, again.facts) == ("PLAN", "tiny-1", {"a": "b"})
    assert (again.given_up, again.by_itself) == (("UP", "spike"), False)
    assert again.why == "rollback after tiny-1 to step 40, ordered by ada: spike"
    assert again.babysitter.startswith(f"{OWNER}, every ")


@pytest.mark.parametrize(
    ("step", "reason", "is_pending", "later", "is_done"),
    [
        (40, "spike", False, 0, True),
        (30, "spike", False, 0, False),
        (40, "other", False, 0, False),
        (40, "other", True, 0, True),
        (40, "spike", False, 24, False),
    ],
)
def test_the_same_order_again_starts_nothing(
    step: int,
    reason: str,
    is_pending: bool,
    later: int,
    is_done: bool,
    run: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    launching = SimpleNamespace(given_up=SimpleNamespace(step=40), relaunch_of="tiny-1")
    run.record.append(
        Ordered(NOON, "ada", Word.ROLLBACK, ("tiny-1", "rollback/tiny-1/40"), "spike")
    )
    orders = run.record.memory()
    memory = SimpleNamespace(launchings={"tiny-2": launching}, just_ordered=orders.just_ordered)
    run.record = SimpleNamespace(memory=lambda: memory)
    monkeypatch.setattr(order, "now", lambda: NOON + timedelta(hours=later))
    assert bool(_done_already(run, "tiny-2", step, reason, is_pending)) is is_done
    launching.given_up = None
    assert _done_already(run, "tiny-2", step, reason, is_pending) == ""
