"""`herorun rollback`."""

import click

from herorun.commands._options import RunArgument, yes


@click.command(short_help="Go back to an earlier checkpoint, as the same run.")
@click.argument("run", cls=RunArgument)
@click.option(
    "--to",
    "step",
    type=click.IntRange(min=0),
    required=True,
    metavar="STEP",
    help="The checkpoint's step.",
)
@click.option("--reason", default="", help="Why, for the record.")
@click.option(
    "--stop-first",
    is_flag=True,
    help="Stop a job that still runs; go on once its end is confirmed.",
)
@click.option(
    "--wait", default="2m", show_default=True, help="How long to wait for the end of a stopped job."
)
@click.option("--dry-run", "dry", is_flag=True, help="Say what it would discard, and do nothing.")
@click.option("--no-babysit", is_flag=True, help="Do not start the babysitter.")
@yes
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.pass_obj
def command(
    start: str,
    run: str,
    step: int,
    reason: str,
    stop_first: bool,
    wait: str,
    dry: bool,
    no_babysit: bool,
    as_json: bool,
) -> int:
    """Start the next instance from a complete checkpoint of the run's own, under the same identity and roots.

    What it discards, what the tracker will show and what is ruled out are said first, and kept in the record and the
    issue. Newer checkpoints stay where they are: the record rules them out, so that no later relaunch picks one. A
    checkpoint that is incomplete, missing, rejected, tainted or not of the lineage is refused, and so is a prior
    instance whose end is not confirmed. Under `[tracker] resume = "never"` use `herorun fork`.

    \b
    Example:
      herorun rollback grug --to 41000 --reason "loss spike at 41.6k" --dry-run
      herorun rollback grug --to 41000 --reason "loss spike at 41.6k" --stop-first
    """
    from dataclasses import replace
    from pathlib import Path

    from herorun.commands._output import SaidFirst, show
    from herorun.core.stop_condition import seconds_of
    from herorun.operations.orders.rollback import rollback
    from herorun.runs import watched_run

    said_first = SaidFirst(f"rollback of {run}")
    seconds = seconds_of(wait, "--wait")
    opened = watched_run(run, Path(start))[0]
    told = rollback(
        opened,
        step,
        reason,
        stop_first=stop_first,
        wait=seconds,
        babysit=not no_babysit,
        dry=dry,
        say=said_first,
    )
    return show(replace(told, facts=said_first.facts), as_json)
