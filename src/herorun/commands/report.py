"""`herorun report`."""

from typing import TYPE_CHECKING

import click

from herorun.commands._options import RunArgument

if TYPE_CHECKING:
    from pathlib import Path


@click.command(short_help="Write one HTML page about the run; it works offline.")
@click.argument("run", cls=RunArgument, required=False)
@click.option(
    "--out",
    type=click.Path(),
    metavar="PATH",
    help="The file to write, instead of .herorun/RUN/report.html; with --all the folder.",
)
@click.option(
    "--all",
    "every",
    is_flag=True,
    help="Every run, and a page of all of them, into the folder --out.",
)
@click.option("--open", "opened_too", is_flag=True, help="Open the page in the browser.")
@click.option("--json", "as_json", is_flag=True, help="Also print one JSON document.")
@click.pass_obj
def command(
    start: str, run: str | None, out: str | None, every: bool, opened_too: bool, as_json: bool
) -> int:
    """Write one HTML page without network access: the verdict, progress with an estimate of the
    end, curves with events, instances and their differences, goodput, and the logbook.

    The curves keep every extreme. The estimate is a range, and is missing while the run is not
    productive. Exit code 3: the page is written, but rows could not be read.

    --all writes a folder for any static host: index.html with every run, worst first, and a page
    for each.

    \b
    Example:
      herorun report grug
      herorun report grug --open
      herorun report grug --out grug.html --json
      herorun report --all --out build/runs
    """
    from pathlib import Path

    from herorun.core.errors import WrongUse

    if every:
        return _write_all(Path(start), run, out, opened_too, as_json)
    if run is None:
        raise click.MissingParameter(param_hint="'RUN'", param_type="argument")
    if out and Path(start, out).is_dir():
        raise WrongUse(f"--out {out} is a folder: name a file, or say --all for every run.")

    from herorun import output
    from herorun.operations.report.html import page_of
    from herorun.operations.report.report import report_of
    from herorun.runs import watched_run
    from herorun.system.files import write_atomic

    monitored_run, drift = watched_run(run, Path(start))
    report = report_of(monitored_run, drift)
    path = Path(start, out) if out else monitored_run.state / "report.html"
    if not out:
        monitored_run.prepare()
    write_atomic(path, page_of(report).encode("utf-8", "backslashreplace"), 0o600)
    if as_json:
        output.show_json(report.document.model_copy(update={"file": str(path)}))
    else:
        minute = report.document.generated_at[: len("2026-01-01T12:00")].replace("T", " ")
        output.show_line(f"{output.clean(report.document.verdict)} Read at {minute} UTC.")
        output.show_line(f"Written to {output.clean(str(path))}")
    if report.blind:
        output.show_note("the metrics have rows that could not be read: the page says why.")
    if opened_too:
        _open_in_browser(path.resolve())
    return report.code


def _write_all(
    start: "Path", run: str | None, out: str | None, opened_too: bool, as_json: bool
) -> int:
    from herorun import output
    from herorun.core.errors import WrongUse
    from herorun.operations.report.fleet import write_fleet

    if run is not None or as_json or not out:
        raise WrongUse(
            "--all needs --out FOLDER, and takes neither RUN nor --json: `herorun report --all "
            "--out "
            "FOLDER`; `herorun status --all --json` prints every run."
        )
    index, code = write_fleet(start, start / out)
    output.show_line(f"Written to {output.clean(str(index))}")
    if opened_too:
        _open_in_browser(index.resolve())
    return code


def _open_in_browser(path: "Path") -> None:
    """Opens the page in the user's browser; without a browser it prints where the page is."""
    import webbrowser

    from herorun import output

    if not webbrowser.open(path.as_uri()):
        output.show_note(f"no browser was found here: copy {path} to a machine with one.")
