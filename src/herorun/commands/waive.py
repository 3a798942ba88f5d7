"""`herorun waive`."""

import click


@click.command(short_help="Print a waiver for a person to sign; writes nothing.")
@click.argument("check")
@click.argument("run", required=False)
@click.option("--subject", help="Only the finding about exactly this.")
@click.option("--reason", default="", help="Why the finding is acceptable.")
@click.option(
    "--days",
    type=click.IntRange(1, 365),
    default=7,
    show_default=True,
    help="How long it is valid.",
)
@click.option("--unknown", is_flag=True, help="It also covers unknown findings.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.pass_obj
def command(
    start: str,
    check: str,
    run: str | None,
    subject: str | None,
    reason: str,
    days: int,
    unknown: bool,
    as_json: bool,
) -> int:
    """Print the TOML of a waiver for CHECK. It edits no file, and leaves `approved_by` to a person.

    With RUN, or where the repository has one run, it asks the launch or the seal gate and prints
    one block for each open finding of that check.

    \b
    Example:
      herorun waive dirty-tree grug --reason "generated files, reviewed"
    """
    from pathlib import Path

    from herorun import output
    from herorun.commands._options import only_run
    from herorun.operations.orders.waive import propose
    from herorun.operations.seal.health import report_on_seal
    from herorun.schemas.evaluations import Waive

    proposal = propose(
        check=check,
        name=run or only_run(start),
        start=Path(start),
        subject=subject,
        reason=reason,
        days=days,
        unknown=unknown,
        seal_report=report_on_seal,
    )
    if as_json:
        output.show_json(Waive.of(proposal))
        return 0
    click.echo(proposal.toml, nl=False)
    output.show_note(proposal.note)
    return 0
