"""`herorun deny`."""

import click

from herorun.commands._options import RunArgument, yes


@click.command(short_help="Answer no to a question of the babysitter.")
@click.argument("run", cls=RunArgument)
@click.option("--reason", default="", help="Why, for the record.")
@yes
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.pass_obj
def command(start: str, run: str, reason: str, as_json: bool) -> int:
    """Answer no to a question of the babysitter: this instance is not relaunched.

    The question and the crash are not repeated, and the babysitter ends unless another critical
    alert needs a person. `herorun relaunch` may still start the run later.

    If the babysitter asks whether a new version of herorun may act, this answers that question
    alone: it then only observes.

    \b
    Example:
      herorun deny grug --reason "we stop here"
    """
    from pathlib import Path

    from herorun.commands._output import show
    from herorun.operations.orders.acknowledge import answer
    from herorun.runs import watched_run

    return show(answer(watched_run(run, Path(start))[0], False, reason), as_json)
