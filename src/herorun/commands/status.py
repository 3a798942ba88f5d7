"""`herorun status`."""

import click


@click.command(short_help="Show how a run stands; changes nothing.")
@click.argument("run", required=False)
@click.option("--all", "every", is_flag=True, help="Every run of this repository.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.pass_obj
def command(start: str, run: str | None, every: bool, as_json: bool) -> int:
    """Look at the job, its metrics and its record, and show them. Nothing is journalled and nobody is told.

    \b
    Example:
      herorun status grug
    """
    from pathlib import Path

    from herorun import screen
    from herorun.acts.status import status_of
    from herorun.system.git import find_repository
    from herorun.workspace import known_slugs

    names = list(known_slugs(find_repository(Path(start)))) if every or run is None else [run]
    told = [status_of(name, Path(start)) for name in names]
    if as_json:
        screen.show_json({"runs": told} if every or run is None else told[0])
        return 0
    for status in told:
        screen.show_status(status)
    if not told:
        click.echo("No run here yet: `herorun init RUN` begins one.")
    return 0
