"""`herorun box wait`."""

from typing import Any

import click

from herorun.commands._adhoc import named_job, one_of_both, with_id_options
from herorun.commands._options import RunArgument


@click.command(short_help="Poll until a run reaches a step or state, or a file exists.")
@click.argument("run", cls=RunArgument, required=False)
@with_id_options
@click.option("--marker", metavar="PATH", help="A file on the machine where the job runs.")
@click.option(
    "--state",
    metavar="STATE",
    help="A state of the job or of the run, such as running or finished.",
)
@click.option("--step", type=int, metavar="N", help="A step, by the run's log or its tracker.")
@click.option(
    "--every",
    metavar="DURATION",
    default="90s",
    show_default=True,
    help="Time between two queries.",
)
@click.option(
    "--max", "most", type=int, default=120, show_default=True, help="The maximum number of queries."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.pass_obj
def command(
    start: str,
    /,
    run: str | None,
    marker: str | None,
    state: str | None,
    step: int | None,
    every: str,
    most: int,
    as_json: bool,
    **job_options: str | None,
) -> int:
    """Poll until a condition holds; without an option, until the run ends.

    Each query is its own connection, so a lost link costs one query. The wait ends when the
    condition holds, when it can no longer hold, when nothing has moved for an hour, and at the
    latest after --max queries. One wait per run: a new one replaces the previous one.

    A job without a contract is named by --job ID --scheduler KIND, as for `herorun babysit`; its
    marker must be on this machine.

    Exit code 0: it holds. 1: it does not, or not yet after --max queries. 3: the last query
    could not be answered.

    \b
    Example:
      herorun box wait grug --step 5000
      herorun box wait --job 4711 --scheduler slurm --state succeeded
      herorun box wait grug --marker /data/grug/EVAL_DONE --every 90s --max 120
    """
    from pathlib import Path

    from herorun import output
    from herorun.core.patrol.wait_condition import condition_of
    from herorun.core.time_options import seconds_of
    from herorun.operations.jobs.wait import observer_of_job
    from herorun.operations.remote.wait import WaitEnd, observer_of_run, wait_for
    from herorun.output.patrol import show_patrol
    from herorun.runs import watched_run
    from herorun.schemas.machines import Wait

    condition = condition_of(marker, state, step)
    seconds = seconds_of(every, "--every")
    one_of_both(run, job_options)
    monitored_run: Any = watched_run(run, Path(start))[0] if run else named_job(start, job_options)
    observer: Any = observer_of_run if run else observer_of_job
    outcome: WaitEnd = wait_for(
        monitored_run,
        observer,
        condition,
        seconds,
        most,
        lambda message: output.show_run_note(monitored_run.slug, message),
    )
    if as_json:
        output.show_json(
            Wait.of(
                outcome,
                slug=monitored_run.slug,
                reached=outcome.code == 0,
                why=outcome.message,
                polls=outcome.polls,
                state=outcome.assessment.state if outcome.assessment else "unknown",
            )
        )
        return outcome.code
    output.show_line(output.clean(f"{monitored_run.slug}: {outcome.message}."))
    if outcome.line:
        show_patrol(outcome.line, outcome.assessment.advice if outcome.assessment else ())
    return outcome.code
