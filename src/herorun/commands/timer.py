"""`herorun box timer`."""

import click

from herorun.commands._options import RunArgument


@click.command(short_help="Print a systemd timer, crontab line or Actions schedule.")
@click.argument("run", cls=RunArgument)
@click.option(
    "--for",
    "host",
    type=click.Choice(["systemd", "cron", "actions"]),
    default="systemd",
    show_default=True,
    help="The scheduler to print it for.",
)
@click.option(
    "--every", metavar="DURATION", default="30m", show_default=True, help="Time between two ticks."
)
@click.option(
    "--command",
    "what",
    type=click.Choice(["patrol", "babysit", "watchdog"]),
    help="The command to run: patrol, or for actions watchdog.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.pass_obj
def command(start: str, run: str, host: str, every: str, what: str | None, as_json: bool) -> int:
    """Print a systemd service with its timer, a line for cron, or a scheduled workflow.

    A timer of this machine has its ssh keys and outlives the session; you install it yourself.
    Never give the keys to a cloud runner: for it there is only the watchdog, which reads the
    published record.

    \b
    Example:
      herorun box timer grug --every 30m
      herorun box timer grug --for cron       # `crontab -e` and put it there
    """
    from pathlib import Path

    from herorun import output
    from herorun.core.time_options import seconds_of
    from herorun.operations.remote.timer import timer_of
    from herorun.runs import watched_run

    seconds = seconds_of(every, "--every")
    monitored_run, _ = watched_run(run, Path(start))
    timer = timer_of(monitored_run, host, what, seconds)
    if as_json:
        output.show_json(timer.document(monitored_run.slug))
    else:
        click.echo(timer.text, nl=False)
        if host == "cron":
            output.show_note(
                "Add this line with `crontab -e`; its output goes to the log that the line names."
            )
        if timer.notifies_nobody:
            output.show_note(
                "Nobody is notified of what this patrol finds, because [notify] names no channel: "
                "read its output yourself."
            )
    return 0
