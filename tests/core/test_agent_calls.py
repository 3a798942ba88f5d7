"""What an agent may type by a tool, and what it is shown."""

from collections.abc import Mapping
from typing import Any

import click
import pytest

from herorun.cli import herorun
from herorun.core.agent_calls import (
    BY_AGENT,
    MAX_TEXT,
    argv_of,
    order_digest,
    preview_argv,
    shown_to_agent,
    situation_of,
)
from herorun.core.agent_tools import ORDERS, READS, Tool, order_named
from herorun.core.errors import WrongUse
from herorun.schemas import DOCUMENTS
from wording import mentions

VALUES: Mapping[str, Any] = {"integer": 7, "boolean": True, "array": ["loss mean <= +0.5%"]}
STATUS = {
    "run": "healthy",
    "stage": "launched",
    "progress": "~3/4",
    "instances": [{"name": "tiny-1"}],
    "alerts": [],
}


def reader(name: str) -> Tool:
    return next(tool for tool in READS if tool.name == name)


def values_of(tool: Tool) -> dict[str, Any]:
    return {each.name: VALUES.get(each.kind, "2h") for each in tool.parameters}


def parse_words(words: list[str]) -> None:
    """By the command line itself, which refuses what it does not know."""
    command: click.Command = herorun
    while isinstance(command, click.Group):
        subcommand = command.get_command(click.Context(command), words.pop(0))
        assert subcommand is not None
        command = subcommand
    command.make_context("herorun", words)


@pytest.mark.parametrize("tool", [*READS, *ORDERS], ids=lambda tool: tool.name)
def test_every_tool_types_a_command_with_a_document(tool: Tool) -> None:
    parse_words(argv_of(tool, values_of(tool)))
    assert tool.document in DOCUMENTS
    if tool.preview:
        parse_words(preview_argv(tool, values_of(tool)))


def test_nothing_of_an_order_is_a_persons_own() -> None:
    assert not {"approve", "deny", "waive", "trust", "prune"} & {order.name for order in ORDERS}


def test_a_value_is_never_taken_for_an_option() -> None:
    words = argv_of(order_named("note"), {"run": "tiny", "text": "--issue"})
    assert words[words.index("--") :] == ["--", "tiny", "--issue"]
    argv = argv_of(order_named("stop"), {"run": "tiny", "reason": "--yes"}, order=True)
    assert f"--reason=--yes {BY_AGENT}" in argv


@pytest.mark.parametrize(
    ("name", "values", "fact"),
    [
        ("run_status", {}, "run"),
        ("run_status", {"run": "/etc/passwd"}, "path"),
        ("run_status", {"run": "../tiny"}, "path"),
        ("run_status", {"run": "-h"}, "path"),
        ("run_status", {"run": ["tiny"]}, "string"),
        ("run_status", {"run": "tiny", "job": "4711"}, "job"),
        ("read_logs", {"run": "tiny", "lines": 5000}, "2000"),
        ("read_logs", {"run": "tiny", "lines": True}, "integer"),
        ("compare_runs", {"a": "a", "b": "b", "gates": [""]}, "empty"),
    ],
)
def test_wrong_values_are_named(name: str, values: dict[str, Any], fact: str) -> None:
    with pytest.raises(WrongUse) as error:
        argv_of(reader(name), values)
    assert mentions(str(error.value), name, fact) or mentions(str(error.value), fact, name)


def test_an_unknown_order_is_answered_with_the_orders() -> None:
    with pytest.raises(WrongUse) as error:
        order_named("approve")
    assert mentions(str(error.value), "approve", "stop")


def test_characters_that_nobody_sees_are_shown() -> None:
    hidden_text = "loss\U000e0069\u202e\x1b[2J"
    assert shown_to_agent({"text": hidden_text})["text"] == "loss\\u{e0069}\\u{202e}\\u{1b}[2J"


def test_of_a_long_text_the_newest_stays() -> None:
    text = shown_to_agent("old" + "x" * MAX_TEXT)
    assert mentions(text, "3 characters", "left out")
    assert "old" not in text


def test_findings_that_passed_are_left_out() -> None:
    findings = [{"outcome": each} for each in ("pass", "fail", "n/a", "unknown")]
    assert [each["outcome"] for each in shown_to_agent({"findings": findings})["findings"]] == [
        "fail",
        "unknown",
    ]


def test_a_digest_is_of_the_order_and_of_what_it_rests_on() -> None:
    stop, values = order_named("stop"), {"run": "tiny", "reason": "x"}

    def digest(values: dict[str, Any], **changes: Any) -> str:
        status = {**STATUS, **changes}
        return order_digest(stop, values, status, status)

    first = digest(values)
    assert digest(values, progress="~4/4") == first
    alert = {"check": "nan", "subject": "loss", "state": "firing"}
    others = [
        digest({**values, "reason": "y"}),
        digest(values, alerts=[alert]),
        digest(values, run="down"),
        digest(values, instances=[{"name": "tiny-1"}, {"name": "tiny-2"}]),
        digest(values, questions=["rollback?"]),
    ]
    assert first not in others
    assert len(set(others)) == len(others)


def test_a_confirmed_plan_is_the_one_that_was_previewed():
    launch = next(each for each in ORDERS if each.name == "launch")
    document = {"plan_digest": "sha256:a", "verdict": "clear", "facts": {"steps": 100}, "log": "x"}

    def digest(**preview: Any) -> str:
        return order_digest(launch, {"run": "tiny"}, STATUS, {**document, **preview})

    assert digest(log="y") == digest()
    changed_digests = [digest(plan_digest="sha256:b"), digest(verdict="blocked"), digest(facts={})]
    assert len({digest(), *changed_digests}) == 4


@pytest.mark.parametrize(
    "name",
    ["run", "stage", "contract", "sealed", "stopped", "paused", "questions", "unfinished"],
)
def test_an_order_rests_on_each_fact_of_the_status(name: str) -> None:
    assert situation_of({**STATUS, name: "changed"}) != situation_of({**STATUS, name: "other"})


def test_each_value_of_a_list_is_an_option_of_its_own() -> None:
    gates = ["loss mean <= +0.5%", "lr mean within 0"]
    compare = reader("compare_runs")
    words = argv_of(compare, {**values_of(compare), "gates": gates})
    assert [word for word in words if word.startswith("--gate")] == [f"--gate={g}" for g in gates]
