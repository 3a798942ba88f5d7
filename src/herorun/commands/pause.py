"""`herorun pause`."""

import click

from herorun.commands._options import RunArgument, yes


@click.command(short_help="Suspend automatic stop and relaunch for a while.")
@click.argument("run", cls=RunArgument)
@click.option(
    "--until", required=True, metavar="TIME", help="2026-12-01T12:00:00Z, or a duration such as 2h."
)
@click.option("--reason", default="", help="Why, for the record.")
@yes
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.pass_obj
def command(start: str, run: str, until: str, reason: str, as_json: bool) -> int:
    """Suspend automatic relaunches and stops until TIME. Monitoring, notifications and questions
    continue.

    The pause ends by itself; `herorun resume` ends it sooner. A new pause replaces the previous
    one.

    \b
    Example:
      herorun pause grug --until 2h --reason "maintenance of the cluster"
    """
    from pathlib import Path

    from herorun.commands._output import show
    from herorun.core.time_options import parse_moment
    from herorun.operations.orders.pause import pause
    from herorun.runs import watched_run
    from herorun.system.clock import now

    moment = parse_moment(until, now())
    return show(pause(watched_run(run, Path(start))[0], moment, reason), as_json)
