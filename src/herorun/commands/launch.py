"""`herorun launch`."""

from typing import TYPE_CHECKING, Any

import click

from herorun.commands._options import RunArgument, yes
from herorun.commands._output import propose_command, repeat_typed_command

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
    """Run the launch checks again, record the intent, post it in the issue, submit once, and start
    the babysitter.

    An interrupted launch is continued: the same instance, submitted at most once.

    With --adopt a job that was submitted elsewhere becomes the run's next instance, by the id that
    the contract's scheduler gave it. It must be live and yours; what cannot be verified is stated
    and recorded.

    \b
    Example:
      herorun launch grug --plan .herorun/plan.json
      herorun launch grug --adopt 4711
    """
    from pathlib import Path

    from herorun import output
    from herorun.core.errors import WrongUse
    from herorun.operations.launch.launch import launch
    from herorun.operations.launch.plan_file import read_plan_file
    from herorun.output.findings import show_next
    from herorun.runs import open_run

    def show_request(request: str) -> None:
        output.show_note("submitting", request)

    loaded_run = open_run(run, Path(start))
    reviewed_plan = read_plan_file(Path(start, plan), loaded_run.slug) if plan else None
    if adopt == "":
        raise WrongUse("--adopt needs the id of a job, as its scheduler names it.")
    outcome = launch(
        loaded_run,
        reviewed_plan,
        babysit=not no_babysit,
        show_request=show_request,
        adopt=adopt or "",
    )
    for warning in outcome.warnings:
        output.show_note(warning)
    if as_json:
        output.show_json(outcome.document())
        return outcome.exit_code
    page = output.console()
    # a fix that is committed changes the plan, which must be reviewed again
    replan = propose_command(start, "preflight", run, "--out", plan) if plan else ""
    again = repeat_typed_command() if adopt or not replan else replan
    status = propose_command(start, "status", run)
    _show_outcome(page, loaded_run, outcome, again, status, adopts=bool(adopt))
    if outcome.launched is not None and no_babysit:
        _show_babysit_command(page, loaded_run, start, run)
    elif outcome.launched is not None:
        show_next(page, propose_command(start, "babysit" if outcome.unwatched else "status", run))
    return outcome.exit_code


def _show_outcome(
    page: Any, run: "Run", outcome: "LaunchOutcome", again: str, status: str, adopts: bool
) -> None:
    """Prints the gate's result, and the job if there is one now. `again`: what is typed after the
    fix of what blocks it; `status`: what shows a job that runs already.
    """
    from herorun import output
    from herorun.output.findings import show_next

    if outcome.running and not adopts:
        names = ", ".join(map(output.clean, outcome.running))
        output.hang(
            page, "already running: ", f"{names}; nothing was submitted", "bold red", "bold red"
        )
        show_next(page, status)
        return
    nothing_done = "nothing was adopted" if adopts else "nothing was submitted"
    _show_gate(page, outcome, nothing_done, again)
    if outcome.launched is not None:
        # an interrupted adoption is continued without --adopt, too
        intent = run.record.memory().launchings.get(outcome.launched.instance)
        was_adopted = adopts or (intent is not None and bool(intent.adopts))
        _show_launched(page, run, outcome, "adopted" if was_adopted else "submitted")


def _show_gate(page: Any, outcome: "LaunchOutcome", nothing_done: str, again: str) -> None:
    """Prints what blocks the launch, or would block it under another `[policy] mode`."""
    from herorun import output
    from herorun.core.contract import Contract
    from herorun.output.findings import show_by_mode, show_next, what_blocks

    preflight = outcome.preflight
    open_ones = [f.as_json() for f in preflight.report.entries if f.outcome in ("fail", "unknown")]
    if outcome.launched is None or preflight.policy:
        slug = preflight.report.evidence[Contract].slug
        label = "fix" if outcome.launched is None else "fix for the next launch"
        show_by_mode(page, slug, preflight, open_ones, label)
    if outcome.launched is None:
        output.show_verdict(
            page, preflight.verdict.value, f"{preflight.report.tally}; {nothing_done}"
        )
        show_next(page, what_blocks(preflight, again))


def _show_babysit_command(page: Any, loaded_run: "Run", start: str, run: str) -> None:
    """Prints the command to monitor the run, if a person must type it."""
    from herorun.output.findings import show_next

    if loaded_run.contract.babysit.declined or loaded_run.other_babysit_owner:
        return
    show_next(page, propose_command(start, "babysit", run))


def _show_launched(page: Any, run: "Run", outcome: "LaunchOutcome", did: str) -> None:
    """Prints the job, and the places of its log, record and other files."""
    from herorun.output import hang, shorten_hashes

    assert outcome.launched is not None
    job_line = f"{outcome.launched.instance} as job {outcome.launched.job}"
    hang(page, f"{did} ", job_line, "bold green", "bold green")
    for message in outcome.unproven:
        hang(page, "  caveat     ", message, "yellow", "yellow")
    if did == "submitted" and outcome.preflight.what_runs:
        hang(page, "  code       ", outcome.preflight.what_runs)
    hang(page, "  plan       ", f"digest {shorten_hashes(outcome.launched.plan_digest)}")
    if outcome.log:
        hang(page, "  log        ", outcome.log)
    is_pushed = run.record.remote is not None and not run.record.unpushed_lines
    suffix = f", pushed to {run.record.remote}" if is_pushed else ", not pushed"
    commit = shorten_hashes(run.record.tip or "")
    hang(page, "  record     ", f"branch {run.record.branch} at {commit}{suffix}")
    hang(page, "  babysitter ", outcome.babysitter)
