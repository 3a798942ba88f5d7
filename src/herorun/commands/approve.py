"""`herorun approve`."""

import click

from herorun.commands._options import RunArgument, yes


@click.command(short_help="Answer yes to a question of the babysitter.")
@click.argument("run", cls=RunArgument)
@click.option("--reason", default="", help="Why, for the record.")
@yes
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.pass_obj
def command(start: str, run: str, reason: str, as_json: bool) -> int:
    """Answer yes to a question of the babysitter.

    The relaunch happens at the next tick, through the launch gate. If a relaunch cannot cure the
    failure, such as NaN or a bug in the code, this is refused, and the message names the command
    to use.

    If the babysitter asks whether a new version of herorun may act, this answers that question
    alone.

    \b
    Example:
      herorun approve grug --reason "the node was replaced"
    """
    from pathlib import Path

    from herorun.commands._output import show
    from herorun.operations.orders.acknowledge import answer
    from herorun.runs import watched_run

    return show(answer(watched_run(run, Path(start))[0], True, reason), as_json)
