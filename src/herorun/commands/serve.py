"""`herorun serve`."""

import click

TOKEN = "HERORUN_SERVE_TOKEN"
EXAMPLE = "127.0.0.1:9479"


@click.command(short_help="Serve a web page of every run, worst first.")
@click.option(
    "--listen",
    metavar="HOST:PORT",
    default=EXAMPLE,
    show_default=True,
    help="The address to listen on.",
)
@click.pass_obj
def command(start: str, listen: str) -> int:
    """Serve a web page of every run of this repository, worst first, until Ctrl-C. Each run has a
    page of its own, as `herorun report` writes it.

    The pages refresh themselves, show when the server no longer answers, and change nothing. The
    first page shows the last tick of this machine's babysitters and queries the schedulers; a run's
    page also queries its tracker and its store, at most once a minute, or every 10 seconds by its
    link *look again now*.

    Beyond loopback a token of 32 characters is needed, in HERORUN_SERVE_TOKEN; a browser asks for
    it as the password. There is no TLS: put a proxy with TLS in front, or use ssh -L.

    \b
    Example:
      herorun serve
      herorun serve --listen 127.0.0.1:9480
    """
    import os
    from pathlib import Path

    from herorun.commands._options import listen_address
    from herorun.core.errors import CouldNotLook
    from herorun.operations.report.web import FleetPages, serve_pages
    from herorun.system.git import find_repository

    find_repository(Path(start))  # fails outside a repository, where there is nothing to show
    host, port = listen_address(listen, EXAMPLE)
    try:
        serve_pages(
            FleetPages(Path(start)),
            host,
            port,
            os.environ.get(TOKEN, ""),
            lambda url: click.echo(f"serving {url}; Ctrl-C ends it", err=True),
        )
    except OSError as error:
        raise CouldNotLook(f"Nothing can listen on {listen}: {error.strerror}.") from None
    return 0
