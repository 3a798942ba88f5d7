"""`herorun mcp`."""

import click

TOKEN = "HERORUN_MCP_TOKEN"


@click.command(short_help="Serve tools to agents over MCP.")
@click.option("--read-only", is_flag=True, help="Offer no orders, only tools that read.")
@click.option(
    "--listen",
    metavar="HOST:PORT",
    help="Serve streamable HTTP at /mcp on this loopback address, instead of standard input and "
    "output.",
)
@click.pass_obj
def command(start: str, read_only: bool, listen: str | None) -> int:
    """Serve this repository's runs to an agent over the Model Context Protocol.

    Each tool is one command and answers with its --json document. An order takes two calls:
    preview_order shows what it would do and gives a digest, confirm_order with that digest gives
    the order, once, if the run has not changed. Approvals, waivers, trust and prune are not
    offered, because only a person may decide them. Text from jobs, logs and trackers is marked as
    untrusted data. With --listen each request needs the token of HERORUN_MCP_TOKEN. It needs the
    extra `mcp`.

    Exit code 3: the extra is missing, or nothing can listen there.

    \b
    Example:
      herorun -C /path/to/repository mcp
      herorun mcp --read-only
      herorun mcp --listen 127.0.0.1:9478
    """
    import os
    from pathlib import Path

    from herorun.core.errors import WrongUse
    from herorun.operations.agents.calls import ToolCalls
    from herorun.operations.agents.server import serve_http, serve_stdio
    from herorun.system.git import find_repository

    find_repository(Path(start))
    with ToolCalls(Path(start)) as calls:
        if not listen:
            serve_stdio(calls, not read_only)
            return 0
        host, _, port = listen.rpartition(":")
        if not port.isdecimal() or int(port) > 65535:
            raise WrongUse(f"--listen takes HOST:PORT, for example 127.0.0.1:9478, not {listen!r}.")
        token = os.environ.get(TOKEN, "")
        if not token:
            raise WrongUse(f"--listen needs a token: set {TOKEN} to the secret that clients send.")
        serve_http(
            calls,
            not read_only,
            host.strip("[]"),
            int(port),
            token,
            lambda url: click.echo(f"serving {url}; Ctrl-C ends it", err=True),
        )
    return 0
