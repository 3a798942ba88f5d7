"""`herorun resume`."""

import click

from herorun.commands._options import RunArgument, yes


@click.command(short_help="End a pause early (`relaunch` continues a run).")
@click.argument("run", cls=RunArgument)
@click.option("--reason", default="", help="Why, for the record.")
@yes
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.pass_obj
def command(start: str, run: str, reason: str, as_json: bool) -> int:
    """End a pause: the babysitter acts again as the contract says. The job itself is not touched.

    \b
    Example:
      herorun resume grug
    """
    from pathlib import Path

    from herorun.commands._output import show
    from herorun.operations.orders.pause import resume
    from herorun.runs import watched_run

    return show(resume(watched_run(run, Path(start))[0], reason), as_json)
