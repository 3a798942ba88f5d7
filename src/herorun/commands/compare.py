"""`herorun compare`."""

import click


@click.command(short_help="Compare two runs or curves step by step, against limits.")
@click.argument("a")
@click.argument("b")
@click.option(
    "--window",
    default="",
    metavar="FROM:TO",
    help="Steps, both included; all that both have reached.",
)
@click.option(
    "--metric", "metrics", multiple=True, metavar="NAME", help="A metric in addition to the loss."
)
@click.option(
    "--gate", "gates", multiple=True, metavar="GATE", help="A bound, such as 'loss mean <= +0.5%'."
)
@click.option("--repeat", is_flag=True, help="B repeats A: differences are noise.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.pass_obj
def command(
    start: str,
    a: str,
    b: str,
    window: str,
    metrics: tuple[str, ...],
    gates: tuple[str, ...],
    repeat: bool,
    as_json: bool,
) -> int:
    """Join A and B on the step and show how B differs: mean, median and largest difference, over a
    window.

    Each is a run, an instance (grug-2) or a file that `herorun backtest` takes. A gate is METRIC,
    then mean, median or largest, then <=, >= or within, then a size: absolute, or in percent of A.
    Gates come from `[compare] gates` of B's committed contract and from --gate. The answer also
    lists what the window did not test.

    Exit code 0: go, or no gate was set. 1: no-go. 3: not comparable.

    \b
    Example:
      herorun compare grug grug-fp8 --window 41000:43000 --gate 'loss mean <= +0.5%'
      herorun compare grug grug-fp8 --gate 'tokens_per_s mean >= +5%' --gate 'loss largest <= 1'
      herorun compare grug-1 grug-2
      herorun compare before.csv after.csv --metric grad_norm
    """
    from pathlib import Path

    from herorun.commands._output import show_lines
    from herorun.operations.report.compare import compare_two

    comparison = compare_two(Path(start), (a, b), gates, metrics, window, repeat)
    return show_lines(comparison, as_json)
