"""The server passes a call on with the name and the arguments that the client sent."""

from types import SimpleNamespace
from typing import Any

import pytest

from herorun.operations.agents import server


@pytest.fixture
def lowlevel() -> Any:
    """It takes more than a second of CPU to import, for which no other test should wait."""
    return pytest.importorskip("mcp.server.lowlevel")


@pytest.mark.parametrize("orders", [True, False])
def test_a_call_has_its_name_its_arguments_and_whether_orders_count(
    orders: bool, lowlevel: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    import anyio

    handlers: dict[str, Any] = {}
    calls: Any = SimpleNamespace()
    monkeypatch.setattr(lowlevel, "Server", lambda name, **options: handlers.update(options))
    monkeypatch.setattr(server, "_call_tool", lambda *call: call)
    server.server_of(calls, orders)
    params = SimpleNamespace(name="status", arguments={"run": "tiny"})
    tool_calls = anyio.run(handlers["on_call_tool"], None, params)
    assert tool_calls == (calls, orders, "status", {"run": "tiny"})
