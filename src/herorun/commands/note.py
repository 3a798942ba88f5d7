"""`herorun note`."""

import click

from herorun.commands._options import RunArgument


@click.command(short_help="Add an entry to the logbook.")
@click.argument("run", cls=RunArgument)
@click.argument("text", required=False)
@click.option("--status", help="The status.")
@click.option("--evidence", help="The evidence.")
@click.option("--decision", help="The decision.")
@click.option("--next", "next_", help="The next step.")
@click.option("--caveat", default="", help="What the seal must say about this run.")
@click.option("--title", default="note", show_default=True, help="The entry's headline.")
@click.option("--issue", "to_issue", is_flag=True, help="Also post it in the issue.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.pass_obj
def command(
    start: str,
    run: str,
    text: str | None,
    status: str | None,
    evidence: str | None,
    decision: str | None,
    next_: str | None,
    caveat: str,
    title: str,
    to_issue: bool,
    as_json: bool,
) -> int:
    """Add an entry to the logbook: TEXT, or its four parts by option, or both. Caveats go into the
    seal.

    Exit code 3: the entry is written in this clone but not yet on the remote; the message says how
    to push it.

    \b
    Example:
      herorun note grug "switch 7 was replaced, loss unchanged"
      herorun note grug --status "flat" --evidence "eval 2.31" --decision "continue" --next "at 45k"
      herorun note grug "the mixture changed" --caveat "mixture changed at 41k"
    """
    from pathlib import Path

    from herorun import output
    from herorun.operations.orders.note import add_note
    from herorun.runs import watched_run

    parts = {"Status": status, "Evidence": evidence, "Decision": decision, "Next": next_}
    lines = {name: part for name, part in {"Note": text, **parts}.items() if part}
    if not text and len(lines) < len(parts):
        missing = ", ".join(f"--{name.lower()}" for name, part in parts.items() if not part)
        raise click.UsageError(f"Missing: the text of the note, or {missing}.")
    monitored_run, _ = watched_run(run, Path(start))
    note = add_note(monitored_run, title, lines, caveat, to_issue)
    if as_json:
        output.show_json(note)
    else:
        record = monitored_run.record
        suffix = "and pushed" if note.pushed else "of this clone, not pushed"
        output.show_line(
            f"noted in {record.newest_page()} on branch {record.branch} {suffix} "
            f"({note.commit[:9]})"
        )
    if note.warning:
        output.show_note(note.warning)
    return 3 if note.queued else 0
