"""`herorun goodput`."""

import click

from herorun.commands._options import RunArgument


@click.command(short_help="Break wall time down by state, with cost.")
@click.argument("run", cls=RunArgument)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.pass_obj
def command(start: str, run: str, as_json: bool) -> int:
    """Account for a run from its journal and its metrics alone: each moment is in one state, and the states add up.

    States: queued, init, restore, catch-up, productive, eval, checkpoint, stalled, down and unknown. What nobody
    recorded is unknown and is never guessed, so the effective training time is a range. Lost steps, interruptions by
    class, accelerator-hours, money where `[budget] rate` is given, and how long the babysitter and people took.
    Nothing is asked of the scheduler or the store, and nothing is written.

    \b
    Example:
      herorun goodput grug
      herorun goodput grug --json
    """
    from pathlib import Path

    from herorun.commands._output import show_lines
    from herorun.operations.report.goodput import account
    from herorun.runs import watched_run

    told = account(watched_run(run, Path(start))[0])
    return show_lines(told, as_json)
