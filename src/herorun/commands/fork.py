"""`herorun fork`."""

import click

from herorun.commands._options import RunArgument, yes


@click.command(short_help="Continue as another run: new contract, output root, record.")
@click.argument("run", cls=RunArgument, exact=True)
@click.argument("new")
@click.option(
    "--from",
    "step",
    type=click.IntRange(min=0),
    metavar="STEP",
    help="The checkpoint's step; by default the newest complete one.",
)
@click.option("--reason", default="", help="Why it becomes another run. Both records keep it.")
@click.option("--root", help="The new output root; by default the old one with the new name in it.")
@click.option("--temporary-root", help="The new root of temporary checkpoints, likewise.")
@click.option("--tracker-id", metavar="ID", help="The new tracker id; by default the new name.")
@click.option(
    "--launch", "and_launch", is_flag=True, help="Launch it too, through the launch gate."
)
@click.option("--no-babysit", is_flag=True, help="With --launch: do not start the babysitter.")
@yes
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.pass_obj
def command(
    start: str,
    run: str,
    new: str,
    step: int | None,
    reason: str,
    root: str | None,
    temporary_root: str | None,
    tracker_id: str | None,
    and_launch: bool,
    no_babysit: bool,
    as_json: bool,
) -> int:
    """Create NEW from a checkpoint of RUN, when the old lineage is unsafe, or code or config mean a
    different training.

    The first call writes runs/NEW.toml from RUN's admitted contract, for you to read, change,
    commit and push. The second call creates NEW's logbook and issue, and links both runs: the
    reason, both identities, the checkpoint, the roots and the commits. RUN is not changed or
    stopped.

    \b
    Example:
      herorun fork grug grug-fp8 --from 41000 --reason "fp8 from here on"
      herorun fork grug grug-fp8 --launch
    """
    from dataclasses import replace
    from pathlib import Path

    from herorun.commands._output import ShownBeforeResult, show
    from herorun.operations.orders.fork import fork
    from herorun.runs import watched_run

    preamble = ShownBeforeResult(f"fork of {run}")
    outcome = fork(
        watched_run(run, Path(start))[0],
        Path(start),
        new,
        step,
        reason,
        roots=(root, temporary_root),
        tracker_id=tracker_id,
        and_launch=and_launch,
        babysit=not no_babysit,
        show_first=preamble,
    )
    return show(replace(outcome, facts=preamble.facts), as_json)
