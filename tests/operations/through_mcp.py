"""A real client of the package `mcp`, at a real server on standard input and output."""

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from mcp import Client
from mcp.client.stdio import StdioServerParameters

FORKING = Path(__file__).parent / "forking_server.py"
MAX_SECONDS = 300.0  # seconds for which one answer may take on a loaded machine


class Agent:
    """Calls tools, and keeps each answer: the transcript."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self.transcript: list[tuple[str, Any]] = []

    async def call(self, tool: str, **values: Any) -> Any:
        answer = await self.client.call_tool(tool, values, read_timeout_seconds=MAX_SECONDS)
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


class ServedAgent:
    """A server with a client, as long as the tests ask the same of it: it takes two seconds of CPU
    to begin. It answers each call by a process of its own, and knows of a world its path alone.
    """

    def __init__(self, argv: tuple[str, ...], environment: dict[str, str]) -> None:
        parameters = StdioServerParameters(command=sys.executable, args=[*argv], env=environment)
        self.asked_for = argv, environment
        self._loop = asyncio.new_event_loop()
        self._end = asyncio.Event()
        self._client = self._loop.create_future()
        self._serving = self._loop.create_task(self._serve(parameters))
        self._loop.run_until_complete(
            asyncio.wait([self._client, self._serving], return_when=asyncio.FIRST_COMPLETED)
        )
        if self._serving.done():
            self._serving.result()

    async def _serve(self, parameters: StdioServerParameters) -> None:
        async with Client(parameters) as client:
            self._client.set_result(client)
            await self._end.wait()

    def talk(self, talk: Callable[[Agent], Awaitable[None]]) -> None:
        async def session() -> None:
            await talk(Agent(self._client.result()))

        self._loop.run_until_complete(session())

    def end(self) -> None:
        self._end.set()
        self._loop.run_until_complete(self._serving)
        self._loop.close()


_agents: list[ServedAgent] = []  # the newest, or none


Talk = Callable[[Agent], Awaitable[None]]


def through_stdio(work: Path, talk: Talk, *options: str) -> None:
    _talk_to(("-m", "herorun", "-C", str(work), "mcp", *options), talk)


def through_forks(work: Path, talk: Talk) -> None:
    """The same, with commands that need not import herorun again."""
    _talk_to(("-P", str(FORKING), "-C", str(work), "mcp"), talk)


def _talk_to(argv: tuple[str, ...], talk: Talk) -> None:
    environment = {k: v for k, v in os.environ.items() if k != "PYTEST_CURRENT_TEST"}
    if not _agents or _agents[0].asked_for != (argv, environment):
        end_server()
        _agents.append(ServedAgent(argv, environment))
    _agents[0].talk(talk)


def end_server() -> None:
    while _agents:
        _agents.pop().end()
