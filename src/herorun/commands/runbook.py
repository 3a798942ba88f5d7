"""`herorun box runbook`."""

import click

from herorun.commands._options import RunArgument


@click.command(short_help="Write a runbook for taking over the run.")
@click.argument("run", cls=RunArgument)
@click.option(
    "--out",
    metavar="FILE",
    help="The file to write, or `-` to print it; by default .herorun/RUN/runbook.md.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.pass_obj
def command(start: str, run: str, out: str | None, as_json: bool) -> int:
    """Write one Markdown page: the first command, where the run is, its markers, the commands that
    resume the job, its chain and its transfers, and what to do for each patrol result.

    It uses the contract and the record alone, so it can be written while the machine does not
    answer.

    \b
    Example:
      herorun box runbook grug
      herorun box runbook grug --out -
    """
    from pathlib import Path

    from herorun import output
    from herorun.operations.remote.runbook import page_of, write_page
    from herorun.runs import watched_run
    from herorun.schemas.machines import Runbook

    monitored_run, _ = watched_run(run, Path(start))
    page = page_of(monitored_run)
    path = (
        None if out == "-" else write_page(monitored_run, page, Path(start, out) if out else None)
    )
    if as_json:
        output.show_json(Runbook(slug=monitored_run.slug, page=page, file=path))
    elif path is None:
        click.echo(output.clean_page(page), nl=False)
    else:
        output.show_line(f"{monitored_run.slug}: the runbook is {path}")
    return 0
