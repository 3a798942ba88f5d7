"""A real client of the package `mcp`, at a real server on standard input and output."""

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from mcp import Client
from mcp.client.stdio import StdioServerParameters

LONGEST = 300.0  # seconds for which one answer may take on a loaded machine


class Agent:
    """Calls tools, and keeps each answer: the transcript."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self.transcript: list[tuple[str, Any]] = []

    async def call(self, tool: str, **values: Any) -> Any:
        answer = await self.client.call_tool(tool, values, read_timeout_seconds=LONGEST)
        self.transcript.append((tool, answer))
        return answer

    async def document(self, tool: str, **values: Any) -> dict[str, Any]:
        answer = await self.call(tool, **values)
        assert not answer.is_error, answer.content[0].text
        return answer.structured_content["untrusted_data"]["document"]

    async def preview(self, order: str, **values: Any) -> dict[str, Any]:
        answer = await self.call("preview_order", order=order, arguments=values)
        assert not answer.is_error, answer.content[0].text
        return answer.structured_content

    async def order(self, order: str, **values: Any) -> Any:
        """Preview it, and confirm what was shown."""
        digest = (await self.preview(order, **values))["digest"]
        return await self.call("confirm_order", digest=digest)


def through_stdio(work: Path, talk: Callable[[Agent], Awaitable[None]], *options: str) -> None:
    argv = ["-m", "herorun", "-C", str(work), "mcp", *options]
    server = StdioServerParameters(command=sys.executable, args=argv, env=dict(os.environ))

    async def session() -> None:
        async with Client(server) as client:
            await talk(Agent(client))

    asyncio.run(session())
