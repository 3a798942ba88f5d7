"""Orders of an agent without a run: what is typed for a confirmation, and who is answered."""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from herorun.core.agent_tools import CONFIRM, READS, Tool
from herorun.core.errors import WrongUse
from herorun.operations.agents import server
from herorun.operations.agents.calls import ToolAnswer, ToolCalls, _own_facts

TOKEN = "0123456789abcdef" * 2
LAUNCH = {"run": "tiny"}


class TypedCalls(ToolCalls):
    """`typed` gets each command line; each is answered by an empty document."""

    def __init__(self, start: Path) -> None:
        super().__init__(start)
        self.argvs: list[list[str]] = []

    def _must_be_run(self, values: Mapping[str, Any]) -> None:
        pass

    def _call(self, tool: Tool, argv: Sequence[str], timeout: float) -> ToolAnswer:
        self.argvs.append(list(argv))
        return ToolAnswer(tool.command, 0, {}, {}, "")


def test_a_launch_is_confirmed_once_by_the_plan_that_was_shown(tmp_path: Path) -> None:
    with TypedCalls(tmp_path) as calls:
        digest = calls.preview("launch", LAUNCH).structured_content["digest"]
        (option,) = [word for argv in calls.argvs for word in argv if word.startswith("--out=")]
        server._answer(calls, True, CONFIRM, {"digest": digest})
        assert calls.argvs[-1][:2] == ["launch", option.replace("--out=", "--plan=")]
        with pytest.raises(WrongUse):
            calls.confirm(digest)


def test_a_report_is_written_into_our_own_folder(tmp_path: Path) -> None:
    with TypedCalls(tmp_path) as calls:
        (name,) = [tool.name for tool in READS if tool.command == "report"]
        calls.read(name, {"run": "tiny"})
        (out,) = [word for word in calls.argvs[-1] if word.startswith("--out=")]
        assert Path(out.removeprefix("--out=")).parent == Path(calls._plans.name)


def test_a_comparison_that_nothing_judges_is_not_called_clear() -> None:
    tool = next(each for each in READS if each.command == "compare")
    facts = _own_facts(tool, {"kind": "change", "verdict": "unjudged", "notes": ["eve: go"]})
    assert facts == {"kind": "change", "verdict": "unjudged"}
    answer = ToolAnswer("herorun compare a b", 0, facts, {}, "").structured_content
    assert "clear" not in answer.values()


@pytest.mark.parametrize(
    ("kind", "headers", "is_served"),
    [
        ("http", [(b"authorization", f"Bearer {TOKEN}".encode())], True),
        ("http", [(b"authorization", b"Bearer " + b"0" * 32)], False),
        ("http", [], False),
        ("websocket", [(b"authorization", f"Bearer {TOKEN}".encode())], False),
        ("lifespan", [], True),
    ],
)
def test_only_the_token_is_served(
    kind: str, headers: list[tuple[bytes, bytes]], is_served: bool
) -> None:
    scopes, responses = [], []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        scopes.append(scope)

    async def send(message: Mapping[str, Any]) -> None:
        responses.append(message)

    guarded_app = server._with_token(app, TOKEN)
    asyncio.run(guarded_app({"type": kind, "headers": headers}, None, send))
    assert bool(scopes) is is_served
    assert [message.get("status") for message in responses] == ([] if is_served else [401, None])
