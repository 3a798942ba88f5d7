"""`herorun deny`."""

import click

from herorun.commands._options import RunArgument, yes


@click.command(short_help="Refuse the relaunch that was asked for.")
@click.argument("run", cls=RunArgument)
@click.option("--reason", default="", help="Why, for the record.")
@yes
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.pass_obj
def command(start: str, run: str, reason: str, as_json: bool) -> int:
    """Say no to what the contract, a budget or a doubt put to a person: this instance is not relaunched.

    The question is not asked again, and the crash is not said again. Afterwards a person may still relaunch.

    Where a changed herorun asks whether it may act, that question is answered first, and alone: it only observes.

    \b
    Example:
      herorun deny grug --reason "we stop here"
    """
    from pathlib import Path

    from herorun.commands._output import show
    from herorun.operations.orders.acknowledge import answer
    from herorun.runs import watched_run

    return show(answer(watched_run(run, Path(start))[0], False, reason), as_json)
