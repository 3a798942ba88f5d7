"""`herorun box patrol`."""

import click

from herorun.commands._options import RunArgument


@click.command(short_help="Inspect the job and its machine once; print what to do.")
@click.argument("run", cls=RunArgument)
@click.option(
    "--notify",
    is_flag=True,
    help="Send changes to the channels of [notify], and one message a day; for timers.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.pass_obj
def command(start: str, run: str, notify: bool, as_json: bool) -> int:
    """Inspect the job and its machine over one short connection: job, markers, progress, results,
    copies, GPUs, memory and disks.

    It prints one line even if nothing changed, then what applies: no answer, the command that
    resumes a missing job, result files, the command that resumes a transfer, and when to remove
    this patrol. The contract's [patrol] and [chain] say what it inspects. `herorun box timer`
    prints a schedule for it.

    Exit code 0: nothing to do. 1: something to do, also if the run's babysitter hangs or has
    recorded no tick for two cadences. 3: no answer, so the run is unknown, not down; or nothing to
    do, but with --notify a message could not be sent.

    \b
    Example:
      herorun box patrol grug
    """
    from pathlib import Path

    from herorun import output
    from herorun.operations.remote.patrol import patrol
    from herorun.operations.remote.patrol_news import send_patrol
    from herorun.output.patrol import show_patrol
    from herorun.runs import watched_run

    monitored_run, _ = watched_run(run, Path(start))
    tick = patrol(monitored_run)
    if as_json:
        output.show_json(tick.document())
    else:
        show_patrol(tick.line, tick.assessment.advice)
    failures = send_patrol(monitored_run, tick) if notify else []
    for why in failures:
        output.show_run_note(monitored_run.slug, f"not notified: {why}")
    return tick.assessment.code or (3 if failures else 0)
