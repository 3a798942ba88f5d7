"""`herorun list`."""

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from datetime import datetime

    from herorun.schemas.runs import ListEntry


@click.command(short_help="List the runs here by their records; query no scheduler.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.pass_obj
def command(start: str, as_json: bool) -> int:
    """One line per run: the age of the newest recorded tick (the babysitter's check of the run),
    and the state and step at that time.

    It queries no scheduler, tracker or remote: `herorun status` and `herorun watch` do. A record
    that another clone created is missing here until `herorun status RUN` has fetched it.

    Exit code 3: a record cannot be read.

    \b
    Example:
      herorun list
      herorun list --json
    """
    from pathlib import Path

    from herorun import output
    from herorun.operations.report.run_list import list_runs
    from herorun.schemas.runs import ListDocument
    from herorun.system.clock import now

    entries = list_runs(Path(start))
    if as_json:
        output.show_json(ListDocument(runs=entries))
    elif not entries:
        output.show_line("No run here yet: `herorun init RUN` creates one.")
    else:
        _show(entries, now())
    return 3 if any(entry.error for entry in entries) else 0


def _show(entries: "list[ListEntry]", at: "datetime") -> None:
    from herorun import output

    rows = [("run", "last tick", "state at tick", "steps"), *(_row(entry, at) for entry in entries)]
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        click.echo("  ".join([*cells, row[3]]).rstrip())
    for entry in entries:
        if entry.error:
            output.show_run_note(entry.slug, entry.error)


def _row(entry: "ListEntry", at: "datetime") -> tuple[str, str, str, str]:
    from datetime import datetime

    from herorun.core.durations import format_age
    from herorun.core.notify.notifications import describe_progress
    from herorun.output import clean

    if entry.error:
        return clean(entry.slug), "-", "cannot be read", ""
    last_tick = (
        f"{format_age(at - datetime.fromisoformat(entry.last_seen))} ago"
        if entry.last_seen
        else "never"
    )
    state = entry.run if entry.stage == "launched" and entry.run else entry.stage
    if state == "not initialised":  # but the remote may have one
        state = "no record here"
    return clean(entry.slug), last_tick, clean(state), describe_progress(clean(entry.progress))
