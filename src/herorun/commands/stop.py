"""`herorun stop`."""

import click

from herorun.commands._adhoc import one_of_both, ordered_job, with_id_options
from herorun.commands._options import RunArgument, yes


@click.command(short_help="Stop the running job and wait until it has ended.")
@click.argument("run", cls=RunArgument, required=False)
@with_id_options
@click.option("--reason", default="", help="Why, for the record.")
@click.option(
    "--wait",
    metavar="DURATION",
    default="2m",
    show_default=True,
    help="How long to wait for the end.",
)
@yes
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.pass_obj
def command(
    start: str, /, run: str | None, reason: str, wait: str, as_json: bool, **job_options: str | None
) -> int:
    """Record the order, stop the job through its scheduler, and confirm its end.

    The babysitter does not relaunch it. A job that has already ended is not touched, and not
    relaunched either.

    A job without a contract is named by --job ID; its other options come from the state file of its
    watch, or are given as for `herorun babysit`.

    \b
    Example:
      herorun stop grug --reason "the data was wrong"
      herorun stop --job /dlwh/tiny-1 --reason "hangs since 41k"
    """
    from pathlib import Path

    from herorun.commands._output import show
    from herorun.core.time_options import seconds_of
    from herorun.operations.jobs.orders import stop_job
    from herorun.operations.orders.stop import stop
    from herorun.runs import watched_run

    seconds = seconds_of(wait, "--wait")
    one_of_both(run, job_options)
    if run:
        return show(stop(watched_run(run, Path(start))[0], reason, seconds), as_json)
    return show(stop_job(ordered_job(start, job_options), reason, seconds), as_json)
