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
    help="First stop a running job and confirm its end.",
)
@click.option(
    "--wait",
    metavar="DURATION",
    default="2m",
    show_default=True,
    help="How long to wait for the end of a stopped job.",
)
@click.option(
    "--dry-run", "dry", is_flag=True, help="Show what it would discard, and change nothing."
)
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
    """Start the next instance from an earlier complete checkpoint of the run, under the same
    identity and roots.

    It asks nothing: read first, with --dry-run, what it discards, what the tracker will show and
    what is ruled out; the record and the issue keep that. Newer checkpoints stay where they are;
    the record rules them out for later relaunches. It refuses a checkpoint that is incomplete,
    missing, rejected, tainted or not of the lineage, and, without --stop-first, a job that may
    still run. Under `[tracker] resume = "never"` use `herorun fork`.

    \b
    Example:
      herorun rollback grug --to 41000 --reason "loss spike at 41.6k" --dry-run
      herorun rollback grug --to 41000 --reason "loss spike at 41.6k" --stop-first
    """
    from dataclasses import replace
    from pathlib import Path

    from herorun.commands._output import ShownBeforeResult, show
    from herorun.core.time_options import seconds_of
    from herorun.operations.orders.rollback import rollback
    from herorun.runs import watched_run

    preamble = ShownBeforeResult(f"planned rollback of {run}")
    seconds = seconds_of(wait, "--wait")
    monitored_run = watched_run(run, Path(start))[0]
    outcome = rollback(
        monitored_run,
        step,
        reason,
        stop_first=stop_first,
        wait=seconds,
        babysit=not no_babysit,
        dry=dry,
        show_request=preamble,
    )
    return show(replace(outcome, facts=preamble.facts), as_json)
