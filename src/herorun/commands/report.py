"""`herorun report`."""

from typing import TYPE_CHECKING

import click

from herorun.commands._options import RunArgument

if TYPE_CHECKING:
    from pathlib import Path


@click.command(short_help="Write one HTML page about the run; it works offline.")
@click.argument("run", cls=RunArgument)
@click.option(
    "--out",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="The file to write, instead of .herorun/RUN/report.html.",
)
@click.option("--open", "opened_too", is_flag=True, help="Open the page in the browser.")
@click.option("--json", "as_json", is_flag=True, help="Also print one JSON document.")
@click.pass_obj
def command(start: str, run: str, out: str | None, opened_too: bool, as_json: bool) -> int:
    """Write one HTML page without network access: the verdict, progress with an estimate of the end, curves with
    events, instances and their differences, goodput, and the logbook.

    The curves keep every extreme. The estimate is a range, and is missing while the run is not productive. Exit
    code 3: the page is written, but rows could not be read.

    \b
    Example:
      herorun report grug
      herorun report grug --open
      herorun report grug --out grug.html --json
    """
    from pathlib import Path

    from herorun import output
    from herorun.operations.report.html import page_of
    from herorun.operations.report.report import report_of
    from herorun.runs import watched_run
    from herorun.schemas.reports import ReportDocument
    from herorun.system.files import write_whole

    opened, drift = watched_run(run, Path(start))
    told = report_of(opened, drift)
    path = Path(start, out) if out else opened.state / "report.html"
    if not out:
        opened.prepare()
    write_whole(path, page_of(told).encode("utf-8", "backslashreplace"), 0o600)
    if as_json:
        output.show_json(ReportDocument.model_validate({**told.told, "file": path}))
    else:
        output.show_line(output.clean(told.told["verdict"]))
        output.show_line(f"Written to {output.clean(str(path))}")
    if opened_too:
        _open_in_browser(path.resolve())
    return told.code


def _open_in_browser(path: "Path") -> None:
    """In the user's browser; a machine without one still has the page."""
    import webbrowser

    from herorun import output

    if not webbrowser.open(path.as_uri()):
        output.show_note(f"no browser was found here: copy {path} to a machine with one.")
