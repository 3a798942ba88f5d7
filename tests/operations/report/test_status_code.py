"""The exit code for a run of which no job is known to live, and what is decided about it."""

from types import SimpleNamespace
from typing import Any

import pytest

from builders import NOON
from herorun.core.event import Intended
from herorun.core.journal import Memory
from herorun.operations.report.status import _decision, status_code
from wording import mentions


@pytest.mark.parametrize(
    ("stage", "monitor", "unfinished", "code"),
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
    stage: str, monitor: str, unfinished: tuple[str, ...], code: int
) -> None:
    status: Any = SimpleNamespace(stage=stage, monitor=monitor, unfinished_actions=unfinished)
    assert status_code(status) == code


@pytest.mark.parametrize(
    ("key", "is_interrupted"), [("relaunch/tiny-1", True), ("stop/tiny-1", False)]
)
def test_an_interrupted_relaunch_was_decided_already(key: str, is_interrupted: bool) -> None:
    memory = Memory(intended={key: Intended(at=NOON, key=key, attempt=1, what="x")})
    relaunch = "herorun relaunch tiny"
    typed = f"herorun handoff tiny --take && {relaunch}"
    text = _decision(memory, relaunch, typed)
    assert f"`{typed}`" in text and ("DRI" in text) is not is_interrupted
    assert mentions(text, "interrupted", "unfinished") is is_interrupted
    approve = "herorun approve tiny"  # which settles nothing
    assert "unfinished" not in _decision(memory, approve, approve)
