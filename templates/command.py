"""Where the logbook of a run lies."""

import click


@click.command(short_help="Print the branch and the page of a run's logbook.")
@click.argument("run")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.pass_obj
def command(start: str, run: str, as_json: bool) -> int:
    """Print where a run's logbook lies: its branch, and its newest page there.

    \b
    Example:
      herorun where grug
    """
    from pathlib import Path

    from herorun import output
    from herorun.runs import watched_run
    from herorun.schemas import DOCUMENTS

    record = watched_run(run, Path(start))[0].record
    if as_json:
        output.show_json(DOCUMENTS["where"].of(record, run=run, page=record.newest_page()))
    else:
        click.echo(f"{record.branch}: {record.newest_page()}")
    return 0
