"""The loop of a wait: bounded, by looks that are made up."""

import os
import signal
from collections.abc import Callable
from contextlib import nullcontext
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from builders import NOON, a_job, some_metrics
from core.patrol.test_table import WAYS, a_look
from herorun.core.errors import CouldNotLook, EndedBySignal, WrongUse
from herorun.core.evidence import Job, Metrics
from herorun.core.health.run_health import RunHealth
from herorun.core.patrol.observation import HostObservation, Liveness, LogEnd
from herorun.core.patrol.table import decide
from herorun.core.patrol.wait_condition import WaitCondition
from herorun.operations.remote import wait
from herorun.operations.remote.wait import WaitEnd, WaitObservation, must_end
from wording import mentions

BLIND = {"alive": Liveness.UNKNOWN, "unreachable": "the link is cut."}


@pytest.fixture
def sleeps(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    seconds: list[float] = []
    clock = SimpleNamespace(sleep=seconds.append, monotonic=lambda: 0.0)
    monkeypatch.setattr(wait, "time", clock)
    monkeypatch.setattr(wait, "now", lambda: NOON)
    return seconds


def looks(*each: HostObservation | Exception) -> Callable[[], WaitObservation]:
    queue = list(each)

    def see() -> WaitObservation:
        look = queue.pop(0)
        if isinstance(look, Exception):
            raise look
        return look, decide(look, WAYS), {"step": None}

    return see


def wait_for(*each: HostObservation | Exception, most: int = 0, step: int = 200) -> WaitEnd:
    return wait._loop(looks(*each), WaitCondition(step=step), 60.0, most or len(each), "tiny")


def test_it_ends_at_the_look_that_saw_it(sleeps: list[float]) -> None:
    wait_end = wait_for(
        a_look(), CouldNotLook("cut"), a_look(log=LogEnd(line="step 200", step=200)), most=9
    )
    assert (wait_end.code, wait_end.polls, sleeps) == (0, 3, [60.0, 60.0])
    assert "step 200" in wait_end.line and wait_end.assessment is not None


def test_what_can_no_longer_come_ends_it_with_1(sleeps: list[float]) -> None:
    wait_end = wait_for(a_look(alive=Liveness.NO), most=9)
    assert (wait_end.code, wait_end.polls, sleeps) == (1, 1, [])


@pytest.mark.parametrize(
    ("last", "code"), [(a_look(), 1), (a_look(**BLIND), 3), (CouldNotLook("cut"), 3)]
)
def test_at_its_bound_a_last_look_that_saw_nothing_is_unknown(
    last: HostObservation | Exception, code: int, sleeps: list[float]
) -> None:
    wait_end = wait_for(a_look(), last)
    assert (wait_end.code, wait_end.polls, sleeps) == (code, 2, [60.0])
    assert (wait_end.assessment is None) == isinstance(last, Exception)


def test_wrong_use_ends_it_at_once(sleeps: list[float]) -> None:
    with pytest.raises(WrongUse):
        wait_for(WrongUse("no session"), a_look())


def test_it_is_still_from_its_last_movement_on(sleeps: list[float]) -> None:
    """A look that saw nothing is no movement, and a moving one starts the hour again."""

    def at(minutes: int, step: int = 120, **changes: Any) -> HostObservation:
        log = LogEnd(line=f"step {step}", step=step, size=step, age=9.0)
        moment = NOON + timedelta(minutes=minutes)
        return a_look(at=moment, log=log, output_age=None, **changes)

    hangs = wait_for(at(0), at(30, **BLIND), at(60), most=9)
    assert (hangs.code, hangs.polls) == (1, 3)
    assert wait_for(at(0), at(30, 121), at(60, 121)).message != hangs.message


def test_a_signal_ends_the_wait_and_is_reported_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wait.process_registry, "register_watcher", lambda *_: nullcontext())
    monkeypatch.setattr(wait.process_registry, "registered_watchers", dict)
    monkeypatch.setattr(wait, "retire_earlier_waits", lambda own: [])
    run: Any = SimpleNamespace(
        slug="tiny", place=SimpleNamespace(repository="/w"), name_to_type="tiny"
    )

    def observer(*_: Any) -> Any:
        return lambda: os.kill(os.getpid(), signal.SIGTERM)

    notes: list[str] = []
    with pytest.raises(EndedBySignal) as error:
        wait.wait_for(run, observer, WaitCondition(step=9), 60.0, 2, notes.append)
    assert (error.value.exit_code, notes) == (130, [])
    assert mentions(str(error.value), "tiny", "SIGTERM")


@pytest.mark.parametrize(("every", "most"), [(0.9, 5), (60.0, 0), (86_400.0, 31)])
def test_each_wait_has_a_bound(every: float, most: int) -> None:
    with pytest.raises(WrongUse):
        must_end(every, most)
    must_end(1.0, 1)
    must_end(86_400.0, 30)


def test_the_run_is_evaluated_only_for_what_needs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    evidence: dict[type, Any] = {Job: a_job(), Metrics: some_metrics(70)}
    tick = SimpleNamespace(run=RunHealth.HEALTHY)
    monkeypatch.setattr(wait, "evaluate", lambda run: (tick, evidence))
    memory = SimpleNamespace(current=object())
    run: Any = SimpleNamespace(record=SimpleNamespace(memory=lambda: memory))
    facts = {"run": "healthy", "job": "running", "step": 70}
    assert wait._observe_run(run, WaitCondition(step=0)) == facts
    assert wait._observe_run(run, WaitCondition(state="down")) == facts
    assert wait._observe_run(run, WaitCondition("/d/DONE")) == {}
    evidence.clear()
    unknown_fields = {"run": "healthy", "job": None, "step": None}
    assert wait._observe_run(run, WaitCondition(step=0)) == unknown_fields
    memory.current = None
    assert wait._observe_run(run, WaitCondition(step=0)) == {}


def test_the_line_that_is_printed_is_no_older_than_the_state_that_ended_the_wait(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reads: list[str] = []
    for name in ("_observe_run", "probe_host", "decide_advice"):
        monkeypatch.setattr(wait, name, lambda *args, name=name: reads.append(name))
    run: Any = SimpleNamespace(place=SimpleNamespace(reach="box"))
    wait.observer_of_run(run, WaitCondition(state="finished"))()
    assert reads == ["_observe_run", "probe_host", "decide_advice"]
