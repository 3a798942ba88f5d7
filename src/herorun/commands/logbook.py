"""`herorun logbook`."""

import click

from herorun.commands import SuggestingGroup
from herorun.commands._options import RunArgument


@click.group(cls=SuggestingGroup, short_help="Print the logbook of a run.")
def command() -> None:
    """The logbook of a run: its record, for people.

    \b
    Example:
      herorun logbook show grug
    """


@command.command("show")
@click.argument("run", cls=RunArgument)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.pass_obj
def show(start: str, run: str, as_json: bool) -> int:
    """Print the logbook as it was written. `herorun verify RUN` checks the launches in it.

    \b
    Example:
      herorun logbook show grug
    """
    from pathlib import Path

    from herorun import output
    from herorun.operations.record.verify import open_record, seal_doubts
    from herorun.schemas.evaluations import LogbookShow

    record = open_record(run, Path(start), follow=True)
    text, doubts = record.logbook(), seal_doubts(record)
    if as_json:
        output.show_json(
            LogbookShow(slug=record.slug, commit=record.tip, logbook=text, doubts=doubts)
        )
        return 0
    click.echo(output.clean_page(text), nl=False)
    for caveat in doubts:
        output.show_note(output.clean(caveat))
    return 0


@command.command("verify", hidden=True)
@click.argument("run", cls=RunArgument)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.pass_obj
def verify(start: str, run: str, as_json: bool) -> int:
    """The same as `herorun verify RUN`, without the seal.

    \b
    Example:
      herorun verify grug
    """
    from herorun.commands.verify import verify_record

    return verify_record(start, run, as_json, seal=False)
