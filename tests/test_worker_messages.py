"""A worker leaves out what no one reads, and nothing else."""

from typing import Any

import pytest

from worker_messages import without_routine


def sent_messages(name: str, **content: Any) -> list[str]:
    messages: list[str] = []
    without_routine(lambda name, **content: messages.append(name))(name, **content)
    return messages


def report(when: str, outcome: str = "passed", **changes: Any) -> dict[str, Any]:
    return {"when": when, "outcome": outcome, "sections": [], **changes}


@pytest.mark.parametrize("when", ["setup", "teardown"])
def test_a_setup_or_teardown_that_passed_in_silence_is_left_out(when: str) -> None:
    assert sent_messages("testreport", data=report(when)) == []


@pytest.mark.parametrize(
    "data",
    [
        report("call"),
        report("setup", "failed"),
        report("setup", "skipped"),
        report("teardown", "failed"),
        report("setup", sections=[("Captured stdout setup", "a line")]),
    ],
)
def test_any_other_report_is_sent(data: dict[str, Any]) -> None:
    assert sent_messages("testreport", data=data) == ["testreport"]


def test_the_start_of_a_test_is_left_out_and_its_end_is_sent() -> None:
    assert sent_messages("logstart", nodeid="a") == []
    assert sent_messages("logfinish", nodeid="a") == ["logfinish"]
    assert sent_messages("runtest_protocol_complete", item_index=1) == ["runtest_protocol_complete"]
