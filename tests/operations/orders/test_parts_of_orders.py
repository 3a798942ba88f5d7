"""Parts of orders on a run in memory: the way on, the repetition, the exit code, the document."""

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from builders import a_contract, a_job
from herorun.core.babysit.tick import MonitorHealth
from herorun.core.errors import WrongUse
from herorun.core.evidence import JobState
from herorun.core.health.run_health import RunHealth
from herorun.core.journal import fold
from herorun.core.notify.escalation import Option
from herorun.operations.health.evaluate import must_be_launched
from herorun.operations.orders import fork, relaunch, trust
from herorun.operations.orders.order import OrderOutcome
from herorun.operations.orders.questions import ways_on
from herorun.operations.orders.trust import TrustQuestion
from operations.in_memory import ToldRun


def test_a_run_that_was_never_launched_continues_by_a_relaunch() -> None:
    run: Any = SimpleNamespace(contract=a_contract())
    assert ways_on(run, fold([]), {}) == (Option.RELAUNCH,)


def test_the_document_of_a_trust_names_the_file_that_holds_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(trust, "trust_file", lambda: "/home/ada/trusted.json")
    question = TrustQuestion(
        slug="tiny",
        repository=Path("/lab"),
        items=("python",),
        launches=("tiny-1",),
        ids=("id",),
        forged=(),
        seals=(),
    )
    document = question.document("trusted")
    assert (document.file, document.unproven) == ("/home/ada/trusted.json", ("tiny-1",))
    assert (document.items, document.result) == (("python",), "trusted")


@pytest.mark.parametrize("code", [0, 1])
def test_a_fork_that_is_launched_at_once_ends_with_the_code_of_the_launch(
    code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "small.toml").touch()
    old: Any = SimpleNamespace(slug="tiny", repository=SimpleNamespace(top=tmp_path))
    new = object()
    begin_outcome = OrderOutcome(old, "begun", warnings=("not pushed",))
    launched_calls = SimpleNamespace(exit_code=code, warnings=("no babysitter",))
    monkeypatch.setattr(fork, "open_run", lambda slug, start: new)
    monkeypatch.setattr(fork, "_check_fork", lambda old, new, step, reason: new)
    monkeypatch.setattr(fork, "_begin_fork", lambda old, new, show: begin_outcome)
    monkeypatch.setattr(fork, "launch", lambda run, **_: launched_calls if run is new else None)
    monkeypatch.setattr(fork, "_describe_launched", lambda outcome: "launched")
    outcome = fork.fork(old, tmp_path, "small", and_launch=True)
    assert (outcome.code, outcome.warnings) == (code, ("not pushed", "no babysitter"))


@pytest.mark.parametrize(
    ("again", "state", "monitor", "code"),
    [
        (True, JobState.RUNNING, MonitorHealth.FRESH, 0),
        (True, JobState.SUCCEEDED, MonitorHealth.FRESH, 0),
        (True, JobState.SUCCEEDED, MonitorHealth.PARTIAL, 1),
        (True, JobState.FAILED, MonitorHealth.FRESH, 1),
        (False, JobState.FAILED, MonitorHealth.FRESH, 0),
    ],
)
def test_the_same_relaunch_by_hand_is_done_once_and_no_success_after_its_end(
    again: bool,
    state: JobState,
    monitor: MonitorHealth,
    code: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    memory = SimpleNamespace(
        unsettled=None,
        intended={},
        launchings={"tiny-2": SimpleNamespace(relaunch_of="tiny-1")},
        done={"relaunch/tiny-1": "tiny-2"},
    )
    run: Any = ToldRun([])
    run.prepare, run.lock = (lambda: None), lambda name: tmp_path / name
    run.record = SimpleNamespace(memory=lambda: memory)
    started_instances: list[str] = []

    def start(run: Any, name: str, *_: Any) -> str:
        started_instances.append(name)
        return "relaunched"

    monkeypatch.setattr(relaunch, "memory_for_orders", lambda run: memory)
    monkeypatch.setattr(relaunch, "settle_instance", lambda run: "tiny-2")
    monkeypatch.setattr(relaunch, "find_job", lambda run, name: a_job(state, instance=name))
    way = SimpleNamespace(command="herorun THE-NEXT", effect="")
    monkeypatch.setattr(relaunch, "_propose_commands", lambda *_: (way,))
    monkeypatch.setattr(
        relaunch, "just_ordered", lambda run, word, about, reason: again and about == ("tiny-1",)
    )
    monkeypatch.setattr(relaunch, "_relaunch", start)
    result = SimpleNamespace(run=RunHealth.FINISHED, monitor=monitor)
    monkeypatch.setattr(relaunch, "evaluate", lambda run: (result, {}))
    monkeypatch.setattr(
        relaunch,
        "with_monitor",
        lambda run, message, babysit, code: OrderOutcome(run, message, code),
    )
    outcome = relaunch.relaunch_by_hand(run)
    assert started_instances == ([] if again else ["tiny-2"])
    assert ("tiny-1" in outcome.message) is again
    assert outcome.code == code
    assert ("herorun THE-NEXT" in outcome.message) is bool(code)


def test_an_order_about_a_run_that_was_never_launched_proposes_no_launch() -> None:
    run: Any = SimpleNamespace(slug="tiny")
    for order, commands in (("", "launch tiny"), ("stop", "list"), ("hand over", "list")):
        with pytest.raises(WrongUse) as error:
            must_be_launched(run, fold([]), order)
        assert re.findall("`herorun (.*?)`", str(error.value)) == [commands]
