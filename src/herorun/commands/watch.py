"""`herorun watch`."""

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from pathlib import Path

    from herorun.core.run_summary import RunSummary
    from herorun.schemas.status import NotRead, WatchedRunEntry


@click.command(short_help="Live table of runs (read-only).")
@click.argument("runs", nargs=-1, metavar="[RUN]...")
@click.option("--all", "every", is_flag=True, help="Every run of this repository.")
@click.option(
    "--every",
    "seconds",
    type=click.FloatRange(0.2, 3600),
    default=10.0,
    show_default=True,
    metavar="SECONDS",
    help="Seconds between two updates.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document, once.")
@click.pass_obj
def command(start: str, runs: tuple[str, ...], every: bool, seconds: float, as_json: bool) -> int:
    """State, progress, loss, speed compared with the usual one, newest checkpoint, alerts and next
    tick, worst run first.

    It shows what the babysitter of this machine read at its last tick, which is its last check of
    the run; the table has the age of that tick. It queries only the scheduler; `herorun status`
    reads everything. Without RUN it follows every run. q or Ctrl-C ends it (exit code 130). In a
    pipe or a dumb terminal it prints once, with exit code 1 for a run that is down or has a
    critical alert, and 3 for a run that cannot be read, is not monitored, or has not been seen to
    train yet.

    \b
    Example:
      herorun watch grug
      herorun watch --all
    """
    from pathlib import Path

    from herorun import output
    from herorun.core.run_summary import worst_first
    from herorun.runs import known_slugs
    from herorun.schemas.status import WatchDocument
    from herorun.system.git import find_repository

    home = Path(start)
    names = list(known_slugs(find_repository(home))) if every or not runs else list(runs)
    if as_json or not _can_follow():
        summaries = worst_first(_summarise_runs(names, home))
        if as_json:
            output.show_json(WatchDocument(runs=[_watched_entry(run) for run in summaries]))
        else:
            _print(output.console(), summaries)
        return _exit_code_of(summaries)
    return _follow(names, home, seconds)


def _can_follow() -> bool:
    """Whether there is a keyboard, and a terminal that can be redrawn."""
    import os
    import sys

    is_dumb = os.environ.get("TERM") in ("dumb", "unknown")
    has_keyboard = sys.stdin is not None and sys.stdin.isatty()
    return has_keyboard and sys.stdout.isatty() and not is_dumb


def _watched_entry(run: "RunSummary") -> "WatchedRunEntry | NotRead":
    from herorun.schemas.status import NotRead, RunSummaryEntry, WatchedRunEntry

    if run.error:
        return NotRead.of(run)
    return WatchedRunEntry.of(
        run, missing_evidence=run.awaited, summary=RunSummaryEntry.of_summary(run)
    )


def _summarise_runs(names: list[str], home: "Path", polls: Any = None) -> "list[RunSummary]":
    from herorun.operations.report.overview import run_summaries

    return run_summaries(names, home, polls)


def _exit_code_of(summaries: "list[RunSummary]") -> int:
    """1 if a run has a problem, otherwise 3 if one could not be read."""
    from herorun.operations.babysit.batch import worst

    return worst(
        1 if _is_wrong(summary) else 3 if _is_unseen(summary) else 0 for summary in summaries
    )


def _is_wrong(summary: "RunSummary") -> bool:
    return summary.run == "down" or bool(_critical_topics(summary) - {"monitor"})


def _critical_topics(summary: "RunSummary") -> set[str]:
    firing = [a.check for a in summary.alerts if a.state == "firing" and a.severity == "critical"]
    if not firing:
        return set()
    from herorun import discover
    from herorun.core.babysit.tick import critical_topics
    from herorun.core.check import Gate

    return {*critical_topics(firing, {check.name: check for check in discover.checks(Gate.HEALTH)})}


def _is_unseen(summary: "RunSummary") -> bool:
    """Whether the run could not be read, or nothing shows that it trains."""
    is_unconfirmed = (
        summary.run in ("starting", "unknown")
        or summary.monitor != "fresh"
        or bool(summary.awaited)
    )
    return (
        bool(summary.error)
        or bool(_critical_topics(summary))
        or (summary.stage == "launched" and is_unconfirmed)
    )


def _print(out: Any, summaries: "list[RunSummary]") -> None:
    from herorun.commands._run_table import show_table
    from herorun.output import show_line
    from herorun.system.clock import now

    if not summaries:
        show_line("No run here yet: `herorun init RUN` creates one.")
        return
    show_table(summaries, now())


def _follow(names: list[str], home: "Path", seconds: float) -> int:
    """Redraw until q is pressed. If reading the runs takes long, it is done less often."""
    from time import monotonic

    from rich.live import Live

    from herorun import output
    from herorun.commands._keyboard import keys
    from herorun.core.run_summary import worst_first
    from herorun.operations.health.shared_polls import SharedPolls

    out, polls = output.console(), SharedPolls()
    with keys() as pressed_keys, Live(console=out, auto_refresh=False, screen=True) as live:
        while True:
            began = monotonic()
            live.update(
                _draw_page(worst_first(_summarise_runs(names, home, polls)), out), refresh=True
            )
            took = monotonic() - began
            if pressed_keys("q", max(seconds, 10 * took) - took):
                return 0


def _draw_page(summaries: "list[RunSummary]", out: Any) -> Any:
    from rich.console import Group
    from rich.text import Text

    from herorun.commands._run_table import alert_lines, table_of
    from herorun.system.clock import now

    at = now()
    foot = Text(f"{at:%Y-%m-%d %H:%M:%S} UTC  q ends it", "dim")
    body = (
        table_of(summaries, at, out.width)
        if summaries
        else Text("No run here yet: `herorun init RUN` creates one.")
    )
    room = max(0, out.height - len(summaries) - 4)
    lines = alert_lines(summaries)
    for line in lines:
        line.no_wrap, line.overflow = True, "ellipsis"
    more = [Text(f"and {len(lines) - room} more", "dim")] if len(lines) > room else []
    return Group(body, Text(), *lines[:room], *more, foot)
