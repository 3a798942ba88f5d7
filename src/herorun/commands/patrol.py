"""`herorun box patrol`."""

import click

from herorun.commands._options import RunArgument


@click.command(short_help="Look once at the job and its machine; say what to do.")
@click.argument("run", cls=RunArgument)
@click.option(
    "--notify",
    is_flag=True,
    help="Send changes to the channels of [notify], and one message a day; for timers.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.pass_obj
def command(start: str, run: str, notify: bool, as_json: bool) -> int:
    """One tick over one short connection: whether the job lives, its markers, progress, results, copies, GPUs, memory and disks.

    It says one line even when nothing changed, then what applies: a box out of reach, the command that resumes a job
    which is gone, result files word for word, the command that resumes a transfer, and when to remove this patrol.
    What it looks at stands in the contract's [patrol] and [chain]. `herorun box timer` prints what runs it regularly.

    Exit code 0: nothing to do. 1: something is to be done. 3: nobody could look, and the run is unknown, not down.

    \b
    Example:
      herorun box patrol grug
    """
    from pathlib import Path

    from herorun import output
    from herorun.operations.remote.patrol import patrol
    from herorun.operations.remote.patrol_news import send_patrol
    from herorun.output.status import show_patrol
    from herorun.runs import watched_run

    opened, _ = watched_run(run, Path(start))
    tick = patrol(opened)
    if as_json:
        output.show_json(tick.document())
    else:
        show_patrol(tick.line, tick.told.advice)
    for why in send_patrol(opened, tick) if notify else []:
        output.say(opened.slug, f"not notified: {why}")
    return tick.told.code
