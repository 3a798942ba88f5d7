"""The MCP server: a table of tools over stdio, or over streamable HTTP on loopback with a token."""

import hmac
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from herorun import __version__
from herorun.core.agent_tools import CONFIRM, ORDERS, PREVIEW, READS
from herorun.core.errors import CouldNotLook, HerorunError, WrongUse, describe_error
from herorun.core.extras import how_to_install
from herorun.core.redaction.scrub import scrub
from herorun.operations.agents.calls import ToolAnswer, ToolCalls
from herorun.system.host import LOOPBACK
from herorun.system.templates import template

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server
    from mcp.types import CallToolResult, Tool

MIN_TOKEN_LENGTH = 32  # characters of a token
GRACE = 2  # seconds that open connections get at the end


def serve_stdio(calls: ToolCalls, orders: bool) -> None:
    """Answer one client on standard input and output, until it hangs up."""
    server = server_of(calls, orders)
    import anyio
    from mcp.server.stdio import stdio_server

    async def session() -> None:
        async with stdio_server() as (reading, writing):
            await server.run(reading, writing, server.create_initialization_options())

    anyio.run(session)


def serve_http(
    calls: ToolCalls, orders: bool, host: str, port: int, token: str, ready: Callable[[str], None]
) -> None:
    """Answer clients that have the token, until interrupted; `ready` gets the URL."""
    if host not in LOOPBACK:
        raise WrongUse(
            f"{host} is not on loopback, and there is no TLS here: listen on 127.0.0.1, and reach "
            "it through ssh -L."
        )
    if len(token) < MIN_TOKEN_LENGTH:
        raise WrongUse(
            f"The token has {len(token)} characters and needs {MIN_TOKEN_LENGTH}: "
            "`openssl rand -hex 32` prints one."
        )
    server = server_of(calls, orders)
    import uvicorn

    app = _with_token(server.streamable_http_app(json_response=True, host=host), token)
    config = uvicorn.Config(
        app, host=host, port=port, log_level="warning", timeout_graceful_shutdown=GRACE
    )
    try:
        server_socket = config.bind_socket()
    except SystemExit:  # as uvicorn ends a program whose port is taken
        raise CouldNotLook(f"Nothing can listen on {host}:{port}.") from None
    name = f"[{host}]" if ":" in host else host
    server_socket.listen()  # a socket that is only bound refuses connections
    ready(f"http://{name}:{server_socket.getsockname()[1]}/mcp")
    uvicorn.Server(config).run(sockets=[server_socket])


def _with_token(app: Any, token: str) -> Any:
    """Refuse every request without the token before its body is read."""
    authorization = f"Bearer {token}".encode()

    async def guarded(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await app(scope, receive, send)
            return
        header = dict(scope.get("headers", ())).get(b"authorization", b"")
        if scope["type"] == "http" and hmac.compare_digest(header, authorization):
            await app(scope, receive, send)
            return
        headers = [(b"www-authenticate", b"Bearer"), (b"content-length", b"0")]
        await send({"type": "http.response.start", "status": 401, "headers": headers})
        await send({"type": "http.response.body", "body": b""})

    return guarded


def server_of(calls: ToolCalls, orders: bool) -> "Server[Any]":
    """The server with its tools. `CouldNotLook` without the package."""
    try:
        from mcp.server.lowlevel import Server
    except ImportError:
        raise CouldNotLook(
            f"The tools for agents need the package mcp: {how_to_install('mcp')}."
        ) from None
    import anyio
    from mcp.types import ListToolsResult

    tools = tool_table(orders)

    async def list_tools(_context: Any, _params: Any) -> ListToolsResult:
        return ListToolsResult(tools=tools)

    async def call_tool(_context: Any, params: Any) -> "CallToolResult":
        values = params.arguments or {}
        return await anyio.to_thread.run_sync(_call_tool, calls, orders, params.name, values)

    return Server(
        "herorun",
        version=__version__,
        instructions=template("SKILL.md").partition("## The verbs")[0],
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def tool_table(orders: bool) -> "list[Tool]":
    from mcp.types import Tool, ToolAnnotations

    reads = ToolAnnotations(read_only_hint=True, destructive_hint=False, open_world_hint=True)
    acts = ToolAnnotations(read_only_hint=False, destructive_hint=True, open_world_hint=True)
    table = [
        Tool(name=each.name, description=each.help, input_schema=each.schema, annotations=reads)
        for each in READS
    ]
    if not orders:
        return table
    table.append(Tool(name=PREVIEW, annotations=reads, **_preview_tool()))
    return [*table, Tool(name=CONFIRM, annotations=acts, **_confirm_tool())]


def _preview_tool() -> dict[str, Any]:
    lines = [
        f"- {o.name}: {o.help} {', '.join(_argument(p) for p in o.parameters)}" for o in ORDERS
    ]
    return {
        "description": "Show what an order would do, and get its digest; nothing is done. "
        "Arguments by order, the ones in brackets are optional:\n" + "\n".join(lines),
        "input_schema": {
            "type": "object",
            "properties": {
                "order": {"type": "string", "enum": [order.name for order in ORDERS]},
                "arguments": {"type": "object", "description": "As the description lists them."},
            },
            "required": ["order", "arguments"],
            "additionalProperties": False,
        },
    }


def _argument(parameter: Any) -> str:
    return parameter.name if parameter.required else f"[{parameter.name}]"


def _confirm_tool() -> dict[str, Any]:
    return {
        "description": "Give an order that was previewed, once, if the run is still as it was "
        f"shown. Only after a person has agreed to what {PREVIEW} showed.",
        "input_schema": {
            "type": "object",
            "properties": {"digest": {"type": "string", "description": "Of the preview."}},
            "required": ["digest"],
            "additionalProperties": False,
        },
    }


def _call_tool(
    calls: ToolCalls, orders: bool, name: str, values: Mapping[str, Any]
) -> "CallToolResult":
    from mcp.types import CallToolResult, TextContent

    try:
        answer = _answer(calls, orders, name, values)
    except (HerorunError, OSError) as error:
        text = str(error) if isinstance(error, HerorunError) else describe_error(error)
        return CallToolResult(content=[TextContent(text=scrub(text))], is_error=True)
    return CallToolResult(
        content=[TextContent(text=answer.text)],
        structured_content=answer.structured_content,
        is_error=answer.is_failure,
    )


def _answer(calls: ToolCalls, orders: bool, name: str, values: Mapping[str, Any]) -> ToolAnswer:
    if name in {each.name for each in READS}:
        return calls.read(name, values)
    if not orders and name in (PREVIEW, CONFIRM):
        raise WrongUse("This server was started with --read-only: it takes no orders.")
    if name == PREVIEW:
        arguments = values.get("arguments")
        if not isinstance(arguments, dict):
            raise WrongUse("`arguments` is an object with the arguments of the order.")
        return calls.preview(values.get("order"), arguments)
    if name == CONFIRM:
        return calls.confirm(values.get("digest"))
    raise WrongUse(f"There is no tool {name!r}.")
