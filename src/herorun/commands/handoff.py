"""`herorun handoff`."""

import click

from herorun.commands._adhoc import one_of_both, ordered_job, with_id_options
from herorun.commands._options import RunArgument, yes


@click.command(short_help="Move the monitoring to another machine, or take it over.")
@click.argument("run", cls=RunArgument, required=False)
@with_id_options
@click.option(
    "--to", metavar="USER@MACHINE", help="Give it to this owner; only the holder of the lease can."
)
@click.option(
    "--take",
    is_flag=True,
    help="Take it from an owner whose lease has not changed for two cadences.",
)
@click.option(
    "--wait",
    metavar="DURATION",
    default="0s",
    show_default=True,
    help="With --take: how long to watch the lease.",
)
@click.option("--reason", default="", help="Why, for the record.")
@yes
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.pass_obj
def command(
    start: str,
    /,
    run: str | None,
    to: str | None,
    take: bool,
    wait: str,
    reason: str,
    as_json: bool,
    **job_options: str | None,
) -> int:
    """Change the owner of a run, and record what the next one needs: job, cluster, newest signal,
    tracker links, and how to submit it again.

    A babysitter that no longer owns the run ends, and takes no further action.

    A job without a contract is named by --job ID; its state file then names the new owner.

    \b
    Example:
      herorun handoff grug --to dri@night-box
      herorun handoff grug --take --wait 40m
    """
    from pathlib import Path

    from herorun.commands._output import show
    from herorun.core.errors import WrongUse
    from herorun.core.time_options import seconds_of
    from herorun.operations.jobs.monitor import give_job, take_job
    from herorun.operations.orders.handoff import offer_handoff, take_over
    from herorun.runs import watched_run

    if bool(to) == take:
        raise WrongUse(
            "Say who monitors it: `--to user@machine` gives the run away, `--take` takes it over."
        )
    one_of_both(run, job_options)
    if job_options.get("job"):
        job = ordered_job(start, job_options, exclusive=False)
        return show(give_job(job, to) if to else take_job(job), as_json)
    if not run:
        raise WrongUse("Name a run, or a job without a contract by --job ID.")
    monitored_run = watched_run(run, Path(start))[0]
    if to:
        return show(offer_handoff(monitored_run, to, reason), as_json)
    return show(take_over(monitored_run, reason, seconds_of(wait, "--wait")), as_json)
