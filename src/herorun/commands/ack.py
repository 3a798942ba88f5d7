"""`herorun ack`."""

import click

from herorun.commands._adhoc import one_of_both, ordered_job, with_id_options
from herorun.commands._options import RunArgument


@click.command(short_help="Acknowledge open alerts and stop their reminders.")
@click.argument("run", cls=RunArgument, required=False)
@click.argument("alert", required=False, default="")
@with_id_options
@click.option("--reason", default="", help="What you do about it, for the record.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.pass_obj
def command(
    start: str,
    /,
    run: str | None,
    alert: str,
    reason: str,
    as_json: bool,
    **job_options: str | None,
) -> int:
    """Acknowledge one open alert, named by its check, its `check[subject]` or its key; without
    ALERT, all of them.

    Unacknowledged alerts are repeated: a critical one every 4 hours, a warning once a day, until a
    relaunch or a seal. A new incident is reported again. The babysitter of a run that is down and
    waits for a person ends once all its critical alerts are acknowledged. An `ended-unresolved`
    alert, which nothing shows to be over, blocks a seal until it is acknowledged here.

    A job without a contract is named by --job ID: `herorun ack --job ID crashed`.

    \b
    Example:
      herorun ack grug crashed --reason "the cluster is down until Monday"
    """
    from pathlib import Path

    from herorun.commands._output import show
    from herorun.core.errors import WrongUse
    from herorun.operations.orders.acknowledge import acknowledge
    from herorun.runs import watched_run

    if job_options.get("job"):
        one_of_both(run if alert else None, job_options)
        return show(
            acknowledge(ordered_job(start, job_options), alert or run or "", reason), as_json
        )
    if not run:
        raise WrongUse("Name a run, or a job without a contract by --job ID.")
    return show(acknowledge(watched_run(run, Path(start))[0], alert, reason), as_json)
