"""The exit code for a run of which no job is known to live, and what is decided about it."""

from types import SimpleNamespace
from typing import Any

import pytest

from builders import NOON
from herorun.core.babysit.alert import Alert, AlertState
from herorun.core.event import Intended
from herorun.core.journal import Memory
from herorun.core.run_summary import RunSummary
from herorun.operations.report.judged_run import JudgedRun
from herorun.operations.report.status import _decision, status_code
from wording import mentions


@pytest.mark.parametrize(
    ("stage", "monitor", "unfinished_keys", "code"),
    [
        ("initialised", "not-needed", (), 0),
        ("initialised", "partial", (), 3),
        ("initialised", "stale", (), 3),  # nothing of it may be read before a person trusts it
        ("initialised", "not-needed", ("submit/tiny-1: its outcome is unknown",), 3),
        ("sealed", "not-needed", (), 0),
        ("sealed", "stale", (), 3),
    ],
)
def test_what_is_unknown_is_no_success(
    stage: str, monitor: str, unfinished_keys: tuple[str, ...], code: int
) -> None:
    status: Any = SimpleNamespace(stage=stage, monitor=monitor, unfinished_actions=unfinished_keys)
    assert status_code(status) == code
    memory: Any = SimpleNamespace(unfinished_actions=SimpleNamespace(actions=unfinished_keys))
    assert judged_run(memory, RunSummary(slug="tiny", stage=stage), monitor).code == code


def judged_run(memory: Any, summary: RunSummary, monitor: str, **others: Any) -> JudgedRun:
    return JudgedRun(
        memory=memory,
        is_acting=False,
        summary=summary,
        monitor=monitor,
        unread_record=[],
        **others,
    )


@pytest.mark.parametrize(
    ("run", "monitor", "check", "state", "missing", "code"),
    [
        ("healthy", "fresh", "", "", (), 0),
        ("healthy", "not-needed", "", "", (), 0),
        ("healthy", "partial", "", "", (), 3),
        ("healthy", "fresh", "", "", ("receipt",), 3),
        ("down", "partial", "", "", (), 1),
        ("healthy", "fresh", "not-finite", AlertState.FIRING, (), 1),
        ("healthy", "fresh", "not-finite", AlertState.PENDING, (), 0),
        ("healthy", "fresh", "stale-monitor", AlertState.FIRING, (), 3),
    ],
)
def test_a_row_of_the_table_has_the_code_of_the_status(
    run: str, monitor: str, check: str, state: AlertState, missing: tuple[str, ...], code: int
) -> None:
    alerts = [Alert(check=check, subject="", since=NOON, seen=NOON, state=state, message="")]
    alerts = alerts if check else []
    result: Any = SimpleNamespace(run=run, awaited=missing)
    memory: Any = SimpleNamespace(unfinished_actions=SimpleNamespace(actions=()))
    row = judged_run(
        memory, RunSummary(slug="tiny", stage="launched"), monitor, result=result, alerts=alerts
    )
    entries = [SimpleNamespace(check=each.check, state=each.state.value) for each in alerts]
    status: Any = SimpleNamespace(
        stage="launched", run=run, monitor=monitor, alerts=entries, missing_evidence=missing
    )
    assert (row.code, status_code(status)) == (code, code)


@pytest.mark.parametrize(
    ("key", "is_interrupted"), [("relaunch/tiny-1", True), ("stop/tiny-1", False)]
)
def test_an_interrupted_relaunch_was_decided_already(key: str, is_interrupted: bool) -> None:
    memory = Memory(intended={key: Intended(at=NOON, key=key, attempt=1, what="x")})
    relaunch = "herorun relaunch tiny"
    typed_command = f"herorun handoff tiny --take && {relaunch}"
    text = _decision(memory, relaunch, typed_command, "")
    assert (f"`{typed_command}`" in text) is is_interrupted and (
        "DRI" in text
    ) is not is_interrupted
    assert f"`{relaunch}`" in _decision(memory, relaunch, relaunch, "")
    assert mentions(text, "interrupted", "unfinished") is is_interrupted
    approve = "herorun approve tiny"  # which settles nothing
    assert "unfinished" not in _decision(memory, approve, approve, "")
