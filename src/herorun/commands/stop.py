"""`herorun stop`."""

import click

from herorun.commands._yes import yes


@click.command(short_help="Stop the running job, and wait until it has ended.")
@click.argument("run")
@click.option("--reason", default="", help="Why, for the record.")
@click.option("--wait", default="2m", show_default=True, help="How long to wait for the end.")
@yes
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.pass_obj
def command(start: str, run: str, reason: str, wait: str, as_json: bool) -> int:
    """Write down whose order it is, stop the job through its scheduler, and confirm the end.

    What is stopped so is not relaunched by the babysitter. A job that has ended already is left as it is.

    \b
    Example:
      herorun stop grug --reason "the data was wrong"
    """
    from pathlib import Path

    from herorun.acts.by_hand import stop
    from herorun.commands._said import show
    from herorun.core.until import seconds_of
    from herorun.workspace import watched_run

    return show(stop(watched_run(run, Path(start))[0], reason, seconds_of(wait, "--wait")), as_json)
