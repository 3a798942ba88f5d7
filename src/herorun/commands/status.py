"""`herorun status`."""

from typing import TYPE_CHECKING

import click

from herorun.commands._adhoc import one_of_both, show_job_status, with_id_options

if TYPE_CHECKING:
    from pathlib import Path

    from herorun.core.run_summary import RunSummary
    from herorun.runs import Run
    from herorun.schemas.status import StatusOf

NO_RUN = "No run here yet: `herorun init RUN` creates one."


@click.command(short_help="Show the state of a run; changes nothing.")
@click.argument("run", required=False)
@with_id_options
@click.option("--all", "every", is_flag=True, help="Every run of this repository in one table.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.pass_obj
def command(
    start: str, /, run: str | None, every: bool, as_json: bool, **job_options: str | None
) -> int:
    """Read the job, its metrics and its record, and show them. It records nothing and notifies no
    one.

    Without RUN it shows every run in full, and with --all in a table, worst first. A run that
    cannot be read has "error", and does not stop the others. `herorun watch` follows runs, and
    queries only the scheduler.

    Exit code 1: a run is down, or a critical alert about it fires. 3: something could not be read,
    nothing proves yet that the run trains ("missing_evidence" says what is missing), the only
    critical alerts are about the monitor, or the babysitter of this machine has stopped ("monitor"
    is then "stale"). For several runs the worst counts.

    A job without a contract that is monitored from this machine is named by --job ID.

    \b
    Example:
      herorun status grug
      herorun status --all --json
    """
    from herorun import output
    from herorun.operations.report.status import status_code, status_of_run

    one_of_both(run, job_options)
    if job_options.get("job"):
        return show_job_status(start, job_options, as_json)
    if run is not None and not every:
        one_run = _watched_run(run, start)
        status, _, summary = status_of_run(*one_run, with_findings=as_json)
        output.show_json(status) if as_json else _show_one(status, summary)
        return status_code(status)
    return _show_all(start, every, as_json)


def _show_all(start: str, in_a_table: bool, as_json: bool) -> int:
    """Prints every run of the repository, the worst first."""
    from pathlib import Path

    from herorun import output
    from herorun.core.run_summary import RunSummary, worst_first
    from herorun.operations.babysit.batch import worst
    from herorun.operations.report.status import all_statuses, status_code
    from herorun.runs import known_slugs
    from herorun.schemas.status import StatusAll
    from herorun.system.git import find_repository

    names = list(known_slugs(find_repository(Path(start))))
    if in_a_table and not as_json:
        return _show_table(names, Path(start))
    answers = all_statuses(names, Path(start), with_findings=as_json)
    summaries = [
        a.value[1] if a.value else RunSummary(slug=a.slug, stage="", error=a.error) for a in answers
    ]
    places = [summary.slug for summary in worst_first(summaries)]
    ordered_answers = sorted(answers, key=lambda answer: places.index(answer.slug))
    for answer in ordered_answers:
        if answer.value is None:
            output.show_run_note(answer.slug, answer.error)
        elif not as_json:
            _show_one(*answer.value)
    if as_json:
        output.show_json(
            StatusAll(
                runs=[
                    answer.value[0] if answer.value else answer.unread_entry
                    for answer in ordered_answers
                ]
            )
        )
    elif not answers:
        output.show_line(NO_RUN)
    return worst(
        status_code(answer.value[0]) if answer.value else answer.code for answer in answers
    )


def _show_table(names: "list[str]", start: "Path") -> int:
    """No document is made of a run."""
    from herorun import output
    from herorun.commands._run_table import READ_NOW, show_table
    from herorun.core.run_summary import RunSummary, worst_first
    from herorun.operations.babysit.batch import worst
    from herorun.operations.report.status import all_rows
    from herorun.system.clock import now

    answers = all_rows(names, start)
    summaries = [
        a.value[0] if a.value else RunSummary(slug=a.slug, stage="", error=a.error) for a in answers
    ]
    if summaries:
        show_table(worst_first(summaries), now(), READ_NOW)
    else:
        output.show_line(NO_RUN)
    return worst(answer.value[1] if answer.value else answer.code for answer in answers)


def _watched_run(run: str, start: str) -> "tuple[Run, str]":
    """The run and its contract drift. If there is no such run, the error also says how to name a
    job.
    """
    from pathlib import Path

    from herorun.core.errors import WrongUse
    from herorun.runs import watched_run
    from herorun.system.git import find_repository

    try:
        return watched_run(run, Path(start))
    except WrongUse:
        try:
            find_repository(Path(start))
        except WrongUse as error:
            raise WrongUse(
                f"{error} A job without a contract: `herorun status --job {run} --scheduler "
                "KIND`; `herorun jobs list` shows what this session has registered."
            ) from None
        raise


def _show_one(status: "StatusOf", summary: "RunSummary") -> None:
    from herorun.commands._run_table import summary_rows
    from herorun.output.status import show_status
    from herorun.system.clock import now

    moment = now()
    show_status(status.as_json(), moment, summary_rows(summary, moment))
