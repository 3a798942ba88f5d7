"""`herorun launch`."""

from typing import TYPE_CHECKING, Any

import click

from herorun.commands._options import RunArgument, yes

if TYPE_CHECKING:
    from herorun.operations.launch.launch import LaunchOutcome
    from herorun.runs import Run


@click.command(short_help="Preflight again, record, submit once, start the babysitter.")
@click.argument("run", cls=RunArgument)
@click.option(
    "--plan",
    type=click.Path(),
    metavar="PLAN",
    help="Launch exactly this plan, or nothing.",
)
@click.option(
    "--adopt", metavar="JOB", help="Submit nothing: take over this job, which runs already."
)
@click.option(
    "--no-babysit", is_flag=True, help="Do not start the babysitter; print the line that does."
)
@yes
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.pass_obj
def command(
    start: str, run: str, plan: str | None, adopt: str | None, no_babysit: bool, as_json: bool
) -> int:
    """Run the launch checks again, record the intent, post it in the issue, submit once, and start the babysitter.

    An interrupted launch is continued: the same instance, submitted at most once.

    With --adopt a job that was submitted elsewhere becomes the run's next instance, by the id that the contract's
    scheduler gave it. It must be live and yours; what cannot be verified is stated and recorded.

    \b
    Example:
      herorun launch grug --plan .herorun/plan.json
      herorun launch grug --adopt 4711
    """
    from pathlib import Path
    from shlex import join

    from herorun import output
    from herorun.core.errors import WrongUse
    from herorun.operations.launch.launch import launch, watched_elsewhere
    from herorun.operations.launch.plan_file import read_plan_file
    from herorun.output.findings import show_by_mode, show_next, what_blocks
    from herorun.runs import open_run

    def show_request(request: str) -> None:
        output.show_note("submitting", request)

    opened = open_run(run, Path(start))
    reviewed = read_plan_file(Path(plan), opened.slug) if plan else None
    if adopt == "":
        raise WrongUse("--adopt needs the id of a job, as its scheduler names it.")
    outcome = launch(
        opened, reviewed, babysit=not no_babysit, show_request=show_request, adopt=adopt or ""
    )
    for warning in outcome.warnings:
        output.show_note(warning)
    if as_json:
        output.show_json(outcome.document())
        return outcome.exit_code
    page = output.console()
    if outcome.running and not adopt:
        page.print(
            f"already running: {', '.join(map(output.clean, outcome.running))}", style="bold red"
        )
        return outcome.exit_code
    open_ones = [
        f.as_json() for f in outcome.preflight.report.entries if f.outcome in ("fail", "unknown")
    ]
    if outcome.launched is None or outcome.preflight.policy:
        show_by_mode(page, outcome.preflight, open_ones)
    if outcome.launched is None:
        nothing_done = "nothing was adopted" if adopt else "nothing was submitted"
        output.show_verdict(
            page,
            outcome.preflight.verdict.value,
            f"{outcome.preflight.report.tally}; {nothing_done}",
        )
        show_next(page, what_blocks(outcome.preflight, f"herorun launch {opened.slug}"))
        return outcome.exit_code
    did = "adopted as" if adopt else "launched"
    page.print(f"{did} {outcome.launched.instance}: job {outcome.launched.job}", style="bold green")
    _show_launched(page, opened, outcome, outcome.launched.plan_digest)
    if no_babysit and not opened.contract.babysit.declined and not watched_elsewhere(opened):
        folder_options = [] if start == "." else ["-C", start]
        page.print("Watch it with:")
        page.print(f"  {join(['herorun', *folder_options, 'babysit', run])}", soft_wrap=True)
    return outcome.exit_code


def _show_launched(page: Any, run: "Run", outcome: "LaunchOutcome", plan: str) -> None:
    """Below the first line, which names the job."""
    from herorun.output import hang, shortened

    for message in outcome.not_proved:
        hang(page, "  not proved ", message, "yellow", "yellow")
    hang(page, "  plan       ", shortened(plan))
    if outcome.log:
        hang(page, "  log        ", outcome.log)
    hang(page, "  record     ", f"{run.record.branch} at {shortened(run.record.tip or '')}")
    hang(page, "  babysitter ", outcome.babysitter)
