"""Parts of a patrol on a run in memory: its document, the command that continues, the wait."""

import signal
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import pytest

from builders import NOON
from core.patrol.test_table import WAYS, a_look
from herorun.core.errors import CouldNotLook
from herorun.core.patrol.advice import PatrolAdvice, PatrolState
from herorun.core.patrol.observation import Liveness
from herorun.core.patrol.wait_condition import WaitCondition
from herorun.operations.remote import patrol, wait
from herorun.operations.remote.patrol import PatrolTick
from operations.in_memory import ToldRun


def test_the_document_of_a_patrol_has_its_line_and_what_it_saw() -> None:
    look = a_look()
    tick = PatrolTick(look, PatrolAdvice(PatrolState.RUNNING, ()), "step 200", None)
    document = tick.document()
    assert (document.line, document.state, document.observation) == ("step 200", "running", look)


def hang(_: Any) -> Any:
    raise CouldNotLook("the disk hangs")


@pytest.mark.parametrize("has_succeeded", [False, True])
def test_a_run_that_is_down_continues_by_the_command_that_the_gate_accepts(
    has_succeeded: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    run: Any = ToldRun([])
    is_tainted = object()
    decisions: list[Any] = []

    def continuation_command(proposer: Any) -> str:
        assert (proposer.run, proposer.memory) == (run, is_tainted)
        return "herorun rollback tiny --to 41"

    monkeypatch.setattr(patrol, "ways_of", lambda run: WAYS)
    monkeypatch.setattr(patrol, "patrol_state_of", lambda look: PatrolState.DOWN)
    monkeypatch.setattr(patrol, "_was_launched_here", lambda run: True)
    monkeypatch.setattr(patrol, "_herorun", lambda run: "herorun -C /lab")
    monkeypatch.setattr(patrol, "with_taints_now", lambda run, memory: is_tainted)
    monkeypatch.setattr(patrol, "continuation_command", continuation_command)
    monkeypatch.setattr(patrol, "evaluate", hang)
    monkeypatch.setattr(patrol, "decide", lambda look, ways, before: decisions.append(ways))
    patrol.decide_advice(run, a_look(alive=Liveness.NO, succeeded=has_succeeded))
    (ways,) = decisions
    if has_succeeded:
        assert ways == WAYS
        return
    assert ways.resume == "herorun -C /lab rollback tiny --to 41"
    assert (ways.resume_verb, ways.dri_decides) == ("rollback", True)


def test_a_wait_observes_this_run_and_leaves_the_signal_as_it_was(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run: Any = ToldRun([])
    run.place, run.name_to_type = SimpleNamespace(repository="/lab"), "tiny"
    condition = WaitCondition(step=200)
    before = signal.getsignal(signal.SIGTERM)
    monkeypatch.setattr(wait, "now", lambda: NOON)
    monkeypatch.setattr(wait.process_registry, "register_watcher", lambda *_: nullcontext("own"))
    monkeypatch.setattr(wait, "retire_earlier_waits", lambda own: [])
    monkeypatch.setattr(wait, "_loop", lambda see, *rest: (see, *rest))
    wait_end = wait.wait_for(run, lambda *about: about, condition, 60.0, 9, show=pytest.fail)
    assert wait_end[:4] == ((run, condition), condition, 60.0, 9)
    assert "tiny" in wait_end[4]
    assert signal.getsignal(signal.SIGTERM) is before
