"""`herorun logbook`."""

import click


@click.group(short_help="Show or verify the record.")
def command() -> None:
    """The record of a run: the logbook for people, the journal for the machine.

    \b
    Example:
      herorun logbook show grug
      herorun logbook verify grug
    """


@command.command("show")
@click.argument("run")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.pass_obj
def show(start: str, run: str, as_json: bool) -> int:
    """Print the logbook.

    \b
    Example:
      herorun logbook show grug
    """
    from pathlib import Path

    from herorun import output
    from herorun.operations.record.verify import open_record
    from herorun.schemas.judged import LogbookShow

    record = open_record(run, Path(start))
    if as_json:
        document = LogbookShow(slug=record.slug, commit=record.tip, logbook=record.logbook())
        output.show_json(document)
    else:
        click.echo(record.logbook(), nl=False)
    return 0


@command.command("verify")
@click.argument("run")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.pass_obj
def verify(start: str, run: str, as_json: bool) -> int:
    """Walk the record's whole history and look for anything that was changed, removed or put in between.

    Each commit of it that a seal, a receipt or one of our own comments on the issue names must be part of it.
    What could not be looked at is a note.

    Exit code 0: nothing found. 1: faults. 3: something could not be read.

    \b
    Example:
      herorun logbook verify grug
    """
    from pathlib import Path

    from herorun import output
    from herorun.core.finding import count
    from herorun.operations.record.verify import verify_run

    told = verify_run(run, Path(start))
    if as_json:
        output.show_json(told.document())
    else:
        for fault in told.faults:
            click.echo(f"fault: {output.clean(fault)}")
        for note in told.notes:
            click.echo(f"note: {output.clean(note)}")
        click.echo(
            f"{told.verdict}: {count(told.entries, 'journal entry', 'journal entries')} in "
            f"{count(told.commits, 'commit')}, {count(len(told.faults), 'fault')}"
        )
    return {"clear": 0, "blocked": 1, "unknown": 3}[told.verdict]
