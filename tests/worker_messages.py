"""What a worker sends for each test, without the messages that no one reads."""

from collections.abc import Callable, Collection
from typing import Any


def is_routine(when: str | None, outcome: str, sections: Collection[Any]) -> bool:
    """That a setup or a teardown passed in silence."""
    return when in ("setup", "teardown") and outcome == "passed" and not sections


def without_routine(send: Callable[..., None]) -> Callable[..., None]:
    """As pytest-xdist sends: all but that a test starts, and what is routine."""

    def sendevent(name: str, **content: Any) -> None:
        data = content["data"] if name == "testreport" else {}
        report = [data.get(key, "") for key in ("when", "outcome", "sections")]
        if name != "logstart" and not is_routine(*report):
            send(name, **content)

    return sendevent
