"""The exit code of a look at a run that no job of is known to live."""

from types import SimpleNamespace
from typing import Any

import pytest

from herorun.operations.report.status import status_code


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
