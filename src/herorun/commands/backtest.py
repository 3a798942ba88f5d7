"""`herorun backtest`."""

import re
from pathlib import Path

import click

_ALERT = r"  \S+ +row \S+ +"  # what stands before the alert of a row


@click.command(short_help="Run the health checks over recorded curves.")
@click.argument(
    "files", nargs=-1, required=True, type=click.Path(path_type=Path, exists=True, dir_okay=False)
)
@click.option(
    "--labels",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Known events in the curves: JSON, by file name.",
)
@click.option("--markdown", is_flag=True, help="Print the figures over all files as a page.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(files: tuple[Path, ...], labels: Path | None, markdown: bool, as_json: bool) -> int:
    """Show which alerts would have fired at which row of a curve.

    A curve is a CSV file with a column of steps (`step`, `iteration`, `global_step`) and any of
    loss, grad_norm, lr, step_time_s, tokens_per_s, samples_per_s and timestamp, as trainers and
    trackers name them; without such a column, each row is a step. Or the JSON lines that a run
    logs, as the tracker `jsonl` reads them; or a Hugging Face trainer's `trainer_state.json`.
    Checks that need a clock or a job are skipped.

    Exit code 1: a critical alert. 3: a file was left out, or nothing in it was checked.

    \b
    Example:
      herorun backtest metrics.csv
      herorun backtest metrics.jsonl
      herorun backtest curves/*.csv --labels curves/LABELS.json
    """
    from herorun import output
    from herorun.core.backtest.report import lines, page, totals_of
    from herorun.core.errors import WrongUse
    from herorun.operations.report.backtest import backtest, read_labels
    from herorun.operations.report.curve_file import refuse_pipe
    from herorun.schemas.evaluations import BacktestDocument, Curve
    from herorun.schemas.parts import UnjudgedEntry

    if markdown and labels is None:
        raise WrongUse("--markdown needs the known events: name them with --labels FILE.")
    for path in files:
        refuse_pipe(path)
    report = backtest(sorted(files), read_labels(labels) if labels else None)
    for skipped_file in report.skipped:
        output.show_note(output.clean(f"{skipped_file}: left out"))
    for unjudged_file in report.unjudged:
        output.show_note(output.clean(f"{unjudged_file}: nothing in it was checked"))
    for name, metrics in report.partly_judged.items():
        for each in metrics:
            if len(report.files) == 1 or "loss-spike" in each.checks:
                checks = ", ".join(each.checks)
                note = f"{name}: not checked: {checks} ({each.metric}): {each.reason}"
                output.show_note(output.clean(note))
    if as_json:
        curves = [
            Curve(
                file=name,
                rows=rows,
                alerts=a,
                unjudged=[UnjudgedEntry.of(each) for each in report.partly_judged[name]],
            )
            for name, rows, a in report.files
        ]
        output.show_json(
            BacktestDocument(files=curves, totals=totals_of(report.files, report.scores))
        )
    else:
        if markdown:
            click.echo("\n".join(page(report.scores)))
        else:
            screen = output.console()
            partly = {name for name, metrics in report.partly_judged.items() if metrics}
            for line in lines(report.files, report.scores, report.silent, partly):
                head = match[0] if (match := re.match(_ALERT, line)) else ""
                output.hang(screen, head, output.clean(line.removeprefix(head)))
    has_critical = any(
        alert.severity == "critical" for _, _, alerts in report.files for alert in alerts
    )
    return 1 if has_critical else 3 if report.skipped or report.unjudged else 0
