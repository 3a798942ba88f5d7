"""`herorun replay`."""

import click

from herorun.commands._options import RunArgument


@click.command(short_help="Evaluate recorded ticks again; show what differs.")
@click.argument("run", cls=RunArgument)
@click.option(
    "--since",
    metavar="24h|TIME",
    help="Only ticks since then: a duration, or a time with its zone.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.pass_obj
def command(start: str, run: str, since: str | None, as_json: bool) -> int:
    """Evaluate recorded ticks by this version's rules, and compare with the recorded decisions.

    The rules are this version's checks with the contract's present thresholds, policy and waivers.
    With the original rules the decisions are identical, byte for byte; otherwise it prints the
    differences, tick by tick. The evidence is on the machine that read it: a tick whose evidence is
    missing, cut off or changed is unknown. Metric rows are not read again: the detectors' results
    are part of the evidence. Nothing is written.

    Exit code 0: identical. 1: something differs. 3: nothing differs, but some ticks could not be
    evaluated, or there are none.

    \b
    Example:
      herorun replay grug --since 24h
      herorun replay grug --json
    """
    from pathlib import Path

    from herorun import output
    from herorun.commands._output import show_lines
    from herorun.core.time_options import parse_since
    from herorun.operations.babysit.replay import replay_run
    from herorun.runs import watched_run
    from herorun.system.clock import now

    monitored_run, drift = watched_run(run, Path(start))
    replay_report = replay_run(monitored_run, parse_since(since, now()) if since else None)
    if drift:
        output.show_note(f"judged by the admitted contract: {output.clean(drift)}")
    return show_lines(replay_report, as_json)
