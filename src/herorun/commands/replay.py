"""`herorun replay`."""

import click

from herorun.commands._options import RunArgument


@click.command(short_help="Judge recorded ticks again and show what differs.")
@click.argument("run", cls=RunArgument)
@click.option(
    "--since",
    metavar="24h|TIME",
    help="Only ticks since then: a duration, or a time with its zone.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.pass_obj
def command(start: str, run: str, since: str | None, as_json: bool) -> int:
    """Judge what the babysitter saw again, by the rules of today, and compare with what it decided.

    The rules are this herorun's checks with the thresholds, the policy and the waivers of the contract as it stands.
    Under the rules of then the decisions are the same, byte for byte; under others it prints what differs, tick by
    tick. What was seen is kept on the machine that saw it: a tick whose evidence is missing, cut off or changed is
    unknown. The folds over the metrics are not done again: their outcome is part of the evidence. Nothing is written.

    Exit code 0: all the same. 1: something differs. 3: nothing does, but some ticks could not be judged again, or
    there are none.

    \b
    Example:
      herorun replay grug --since 24h
      herorun replay grug --json
    """
    from pathlib import Path

    from herorun import output
    from herorun.commands._output import show_lines
    from herorun.core.stop_condition import parse_since
    from herorun.operations.babysit.replay import replay_run
    from herorun.runs import watched_run
    from herorun.system.clock import now

    opened, drift = watched_run(run, Path(start))
    told = replay_run(opened, parse_since(since, now()) if since else None)
    if drift:
        click.echo(f"herorun: the admitted contract is asked: {output.clean(drift)}", err=True)
    return show_lines(told, as_json)
