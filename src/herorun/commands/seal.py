"""`herorun seal`."""

from typing import TYPE_CHECKING

import click

from herorun.commands._options import RunArgument, yes
from herorun.commands._output import propose_command, repeat_typed_command

if TYPE_CHECKING:
    from herorun.operations.seal.seal import SealOutcome

ENDS = "the run can no longer be launched; a seal cannot be undone"
ENDS_HERE = (  # without a remote
    "this clone can no longer launch the run; other clones do not have the tag; a seal cannot be "
    "undone"
)
CONTINUES = "the run continues; a seal cannot be undone"


@click.command(short_help="Run the seal checks, then tag, push and announce the run.")
@click.argument("run", cls=RunArgument)
@click.option("--milestone", metavar="NAME", help="Seal a milestone; the run continues.")
@click.option(
    "--step",
    type=click.IntRange(0),
    help="The milestone's checkpoint; by default the newest permanent one.",
)
@click.option("--aborted", "as_aborted", is_flag=True, help="The run was aborted.")
@click.option("--superseded-by", "successor", metavar="RUN", help="Another run replaces this one.")
@yes
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.pass_obj
def command(
    start: str,
    run: str,
    milestone: str | None,
    step: int | None,
    as_aborted: bool,
    successor: str | None,
    as_json: bool,
) -> int:
    """Verify that the run is done, and tag it, without a question. Sealing twice gives one seal.

    A seal cannot be undone. Unless it is of a milestone, the run can no longer be launched, its
    babysitter stops, and its lease is released.

    `--milestone step-100000` seals the checkpoint of step 100000. A milestone, --aborted or
    --superseded-by skips the checks that only a finished run can pass.

    Exit code 0: sealed. 1: blocked. 3: something could not be read.

    \b
    Example:
      herorun seal grug
      herorun seal grug --milestone step-100000
      herorun seal grug --superseded-by grug-2
    """
    from pathlib import Path

    from herorun import output
    from herorun.core.seal.request import sealing_of
    from herorun.operations.seal.seal import seal
    from herorun.runs import watched_run

    sealing = sealing_of(milestone, step, as_aborted, successor)
    monitored_run, _ = watched_run(run, Path(start))
    outcome = seal(monitored_run, sealing)
    if as_json:
        output.show_json(outcome.document())
    else:
        _show_seal(outcome, start, _effect(milestone, as_aborted, successor, outcome.remote))
    for warning in outcome.warnings:
        output.show_note(warning)
    return {"clear": 0, "blocked": 1, "unknown": 3}[outcome.verdict.value]


def _effect(
    milestone: str | None, as_aborted: bool, successor: str | None, remote: str | None
) -> str:
    """The seal's effect on the run, by its kind; `remote` is "" if the repository has none."""
    if milestone:
        return CONTINUES
    ends = ENDS_HERE if remote == "" else ENDS
    if as_aborted:
        return f"the run counts as given up; {ends}"
    return f"the run counts as replaced by {successor}; {ends}" if successor else ends


def _where(remote: str | None) -> str:
    """Where the tag is: that of an earlier seal may not have reached the remote."""
    if remote is None:
        return "; it is unknown whether the remote has it"
    return f", pushed to {remote}" if remote else ", not pushed: there is no remote"


def _show_seal(outcome: "SealOutcome", start: str, effect: str) -> None:
    """Prints the findings, and the tag or why there is none."""
    from herorun import output
    from herorun.core.seal.render import seal_lines
    from herorun.output.findings import show_findings, show_next, what_blocks

    page, report = output.console(), outcome.report
    if report:
        show_findings(page, [each.as_json() for each in report.entries])
    if not outcome.tag:
        counts = f"{report.tally}; " if report else ""
        output.show_verdict(page, outcome.verdict.value, f"{counts}nothing was tagged")
        show_next(page, what_blocks(outcome, repeat_typed_command()))
        return
    label = "sealed:     " if report else "already sealed: "
    commit = output.shorten_hashes(outcome.commit or "")
    tag_line = f"tag {outcome.tag} at commit {commit}{_where(outcome.remote)}"
    output.hang(page, label, tag_line, "bold green", "bold green")
    if outcome.statement:
        checkpoint = seal_lines(outcome.statement, outcome.tag)["Checkpoint"]
        output.hang(page, "checkpoint: ", output.shorten_hashes(output.clean(checkpoint)))
    if report:
        output.hang(page, "checks:     ", str(report.tally))
        output.hang(page, "effect:     ", effect)
    if outcome.remote is None:  # the same command pushes the tag, if the remote lacks it
        show_next(page, f"once the remote answers, repeat: {repeat_typed_command()}")
    else:
        show_next(page, propose_command(start, "verify", outcome.tag))
