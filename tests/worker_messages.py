"""What a worker of pytest-xdist sends for each test, without the messages that no one reads."""

from collections.abc import Callable
from typing import Any


def without_routine(send: Callable[..., None]) -> Callable[..., None]:
    """Send all but that a test starts, and that its setup or its teardown passed in silence."""

    def sendevent(name: str, **content: Any) -> None:
        report = content["data"] if name == "testreport" else {}
        is_routine = report.get("when") in ("setup", "teardown") and report["outcome"] == "passed"
        if name != "logstart" and not (is_routine and not report["sections"]):
            send(name, **content)

    return sendevent
