"""`herorun relaunch`."""

import click

from herorun.commands._adhoc import one_of_both, ordered_job, with_id_options
from herorun.commands._options import RunArgument, yes


@click.command(short_help="Relaunch an ended run from its newest complete checkpoint.")
@click.argument("run", cls=RunArgument, required=False)
@with_id_options
@click.option(
    "--resubmit",
    metavar="CMD",
    help="For such a job: the command that submits it; it must return at once.",
)
@click.option(
    "--stop-first",
    is_flag=True,
    help="First stop a running job and confirm its end.",
)
@click.option("--reason", default="", help="Why, for the record.")
@click.option(
    "--wait",
    metavar="DURATION",
    default="2m",
    show_default=True,
    help="How long to wait for the end of a stopped job.",
)
@click.option("--no-babysit", is_flag=True, help="Do not start the babysitter.")
@yes
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.pass_obj
def command(
    start: str,
    /,
    run: str | None,
    stop_first: bool,
    reason: str,
    wait: str,
    no_babysit: bool,
    as_json: bool,
    **job_options: str | None,
) -> int:
    """Start the next instance under the admitted contract: same run id, tracker id and output root.

    It uses the admitted commit, never the checkout; for other code or another checkpoint use
    `launch`.

    A job without a contract is named by --job ID and submitted again with its own command, once per
    end: for example after a fix, or with --stop-first because it hangs. Its other options come from
    its state file, or are given as for `herorun babysit`. Monitoring continues with the new job.

    \b
    Example:
      herorun relaunch grug --reason "the switch was replaced"
      herorun relaunch grug --stop-first --reason "hangs since 41k"
      herorun relaunch --job /dlwh/tiny-1 --reason "fixed the typo in train.py"
    """
    from pathlib import Path

    from herorun.commands._output import show
    from herorun.core.time_options import seconds_of
    from herorun.operations.jobs.orders import resubmit_job
    from herorun.operations.orders.relaunch import relaunch_by_hand
    from herorun.runs import watched_run

    seconds = seconds_of(wait, "--wait")
    one_of_both(run, job_options)
    if not run:
        job = ordered_job(start, job_options)
        return show(resubmit_job(job, reason, stop_first=stop_first, wait=seconds), as_json)
    monitored_run = watched_run(run, Path(start))[0]
    return show(
        relaunch_by_hand(monitored_run, stop_first, reason, seconds, not no_babysit), as_json
    )
