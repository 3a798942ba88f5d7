"""`herorun goodput`."""

import click

from herorun.commands._options import RunArgument


@click.command(short_help="Show goodput: the wall time by state, with its cost.")
@click.argument("run", cls=RunArgument)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.pass_obj
def command(start: str, run: str, as_json: bool) -> int:
    """Assign each moment of a run to one state, from its journal and its metrics; the states add up
    to the wall time.

    States: queued, init, restore, catch-up, productive, eval, checkpoint, stalled, down and
    unknown. Unrecorded time is unknown, so the goodput is a range. It also shows
    lost steps, interruptions by class, accelerator-hours, money if `[budget] rate` is given, and
    the reaction times of the babysitter and of people. It queries no scheduler or store, and writes
    nothing.

    \b
    Example:
      herorun goodput grug
      herorun goodput grug --json
    """
    from pathlib import Path

    from herorun.commands._output import show_lines
    from herorun.operations.report.goodput import account
    from herorun.runs import watched_run

    account_of_run = account(watched_run(run, Path(start))[0])
    return show_lines(account_of_run, as_json)
