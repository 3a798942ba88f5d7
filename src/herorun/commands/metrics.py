"""`herorun metrics`."""

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from herorun.operations.report.exporter import RunExporter


@click.command(short_help="Print or serve metrics for Prometheus.")
@click.argument("runs", nargs=-1, metavar="[RUN]...")
@click.option(
    "--listen",
    metavar="HOST:PORT",
    help="Serve them at /metrics until Ctrl-C, for example on 127.0.0.1:9477.",
)
@click.option(
    "--textfile",
    type=click.Path(dir_okay=False),
    metavar="PATH",
    help="Write them to a .prom file for node_exporter's textfile collector.",
)
@click.pass_obj
def command(start: str, runs: tuple[str, ...], listen: str | None, textfile: str | None) -> int:
    """Print the metrics of every run of this repository, or of the named ones, in Prometheus's text
    format.

    They come from the records and from files of this machine's babysitters: no scrape queries a
    scheduler, tracker, store or remote. A run whose last tick is older than two cadences has the
    state unknown. --listen has no password and no TLS: keep it on loopback, or behind a proxy.
    Alert rules and a dashboard are in templates/prometheus. It needs the extra `metrics`.

    Exit code 3: a run could not be read, or the extra is missing.

    \b
    Example:
      herorun metrics
      herorun metrics --listen 127.0.0.1:9477
      herorun metrics --textfile /var/lib/node_exporter/herorun.prom
    """
    from pathlib import Path

    from herorun.core.errors import WrongUse
    from herorun.operations.report.exporter import RunExporter, exposition, write_textfile

    if listen and textfile:
        raise WrongUse("--listen and --textfile exclude each other: run the command twice.")
    exporter = RunExporter(Path(start), runs)
    if listen:
        return _serve(exporter, listen)
    if textfile:
        try:
            write_textfile(exporter, Path(start, textfile))
        except OSError as error:
            raise WrongUse(f"{textfile} could not be written: {error.strerror}.") from None
    else:
        click.echo(exposition(exporter), nl=False)
    from herorun import output

    for slug, why in exporter.errors.items():
        output.show_run_note(slug, why)
    return 3 if exporter.errors else 0


def _serve(exporter: "RunExporter", listen: str) -> int:
    from herorun.commands._options import listen_address
    from herorun.core.errors import CouldNotLook
    from herorun.operations.report.exporter import serve

    host, port = listen_address(listen, "127.0.0.1:9477")
    try:
        serve(
            exporter,
            host,
            port,
            lambda url: click.echo(f"serving {url}; Ctrl-C ends it", err=True),
        )
    except OSError as error:
        raise CouldNotLook(f"Nothing can listen on {listen}: {error.strerror}.") from None
    return 0
