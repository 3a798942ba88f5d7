"""A backtest in words, in figures and as a page."""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from herorun.core.backtest.curve import FiredAlert
from herorun.core.backtest.score import SECONDS, SLACK, Score
from herorun.core.finding import count
from herorun.core.lazy_statistics import median

Files = Sequence[tuple[str, int, Sequence[FiredAlert]]]


def totals_of(files: Files, scores: Mapping[str, Score]) -> dict[str, Any]:
    """Sums over the files; with labels also the figures of each set of rules."""
    alerts = [alert for _, _, file_alerts in files for alert in file_alerts]
    totals: dict[str, Any] = {
        "files": len(files),
        "rows": sum(rows for _, rows, _ in files),
        "alerts": {
            level: sum(a.severity == level for a in alerts)
            for level in ("critical", "warn", "info")
        },
    }
    figures = {name: _figures(score) for name, score in scores.items()}
    if figures:
        ours, *others = figures
        totals |= figures[ours]
        totals["against"] = {name: figures[name] for name in others}
    return totals


def _figures(score: Score) -> dict[str, Any]:
    return {
        "clean_rows": score.clean_rows,
        "clean_steps": score.clean_steps,
        "false_alarms": score.false_alarms,
        "false_alarms_per_1000_steps": _rate(score.false_alarms, score.clean_steps),
        "false_alarms_per_1000_rows": _rate(score.false_alarms, score.clean_rows),
        "false_alarms_per_1000_run_hours": _rate(score.false_alarms, score.hours),
        "warnings_on_clean_curves": score.warnings,
        "events": score.events,
        "found": score.hits,
        "missed": score.events - score.hits,
        "sustained_events": score.sustained,
        "sustained_found": score.sustained_found,
        "curves_with_events": score.curves,
        "curves_found": score.curves_found,
        "throughput_events": score.time_events,
        "throughput_found": score.time_found,
        "warnings_per_clean_curve": score.warnings_a_curve,
        "median_delay_steps": _median(score.delays),
        "p90_delay_steps": _ninth_decile(score.delays),
        "median_delay_rows": _median(score.row_delays),
        "p90_delay_rows": _ninth_decile(score.row_delays),
        "missed_events": [list(event) for event in score.missed],
    }


def _rate(count: int, of: float) -> float | None:
    return round(1000 * count / of, 6) if of else None


def lines(
    files: Files,
    scores: Mapping[str, Score],
    silent: Collection[str] = (),
    partly: Collection[str] = (),
) -> Iterator[str]:
    """For people: each alert, then the figures. `silent` are the files in which nothing was
    checked, `partly` those of which some checks could not judge a metric.
    """
    for file, rows, alerts in files:
        numbers = f" (0 to {rows - 1})" if alerts else ""
        limit = ", partly checked" if file in partly else ""
        outcome = "not checked" if file in silent else f"{count(len(alerts), 'alert')}{limit}"
        yield f"{file}: {count(rows, 'row')}{numbers}, {outcome}"
        for alert in alerts:
            until = "" if alert.until_row is None else f" to {alert.until_row}"
            yield f"  {alert.severity:<8} row {alert.row}{until}  {alert.check}: {alert.message}"
    yield from _next_actions(files)
    if scores:
        yield ""
        yield from score_table(scores)


def _next_actions(files: Files) -> Iterator[str]:
    """Once for each check that fired, however often it did."""
    for check, fix in sorted({(a.check, a.fix) for _, _, alerts in files for a in alerts if a.fix}):
        yield f"what to do about {check} in a live run: {fix}"


def score_table(scores: Mapping[str, Score]) -> Iterator[str]:
    """The figures of each set of rules, as a Markdown table."""
    yield (
        "| rules | false alarms | per 1,000 clean rows | per 1,000 run-hours "
        "| warnings per clean curve | events | of 5 rows and more | curves | throughput "
        "| delay in rows: median, p90 | in steps |"
    )
    yield "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"
    for name, score in scores.items():
        cells = (
            name,
            str(score.false_alarms),
            f"{1000 * score.false_alarms / score.clean_rows:.3f}" if score.clean_rows else "-",
            f"{1000 * score.false_alarms / score.hours:.1f}" if score.hours else "-",
            "-" if score.warnings_a_curve is None else f"{score.warnings_a_curve:.2f}",
            f"{score.hits} of {score.events}",
            f"{score.sustained_found} of {score.sustained}",
            f"{score.curves_found} of {score.curves}",
            f"{score.time_found} of {score.time_events}" if score.time_found else "-",
            spread(score.row_delays),
            spread(score.delays),
        )
        yield f"| {' | '.join(cells)} |"


def spread(delays: Sequence[int]) -> str:
    """The median, and what at most one in ten exceeds."""
    return f"{median(delays):g}, {_ninth_decile(delays):g}" if delays else "-"


def _median(delays: Sequence[int]) -> float | None:
    return median(delays) if delays else None


def _ninth_decile(delays: Sequence[int]) -> int | None:
    """The smallest that nine in ten do not exceed: the nearest rank."""
    return sorted(delays)[math.ceil(9 * len(delays) / 10) - 1] if delays else None


WORDS = f"""\
# What the health checks find on real curves

<!-- Printed by `python -m benchmarks.baselines CURVES... --labels LABELS.json`. -->

Public training curves, judged row by row by the same detectors and checks as a live run.
A false alarm is a critical alert on a loss or throughput curve that people labelled clean or noisy.
A run-hour is {3600 / SECONDS:g} rows: one every {SECONDS:g} s, the cadence of a large run.
An event is found by a critical alert that fires within its rows or {SLACK} rows before or after;
for throughput a warning counts too.
*events*, *curves* (with an event) and *throughput* (its events) show how many were found, of all.
A delay is from an event's first row to the alert: the median, and what at most one in ten exceeds.
The other projects' rules are reimplemented from their description.
They read the loss alone; some were made to stop or roll back a run, not to alert.
[Detection on curves from elsewhere](judgement.md) counts curves that no rule was tuned on."""


def page(scores: Mapping[str, Score]) -> Iterator[str]:
    """A page of the documentation."""
    yield WORDS
    yield ""
    yield from score_table(scores)
    ours = next(iter(scores.values()), None)
    if ours is not None:
        yield ""
        yield (
            f"herorun also gave {count(ours.warnings, 'warning')} on the "
            f"{count(ours.quiet, 'curve')} that are clean or noisy throughout "
            f"({ours.clean_rows:,} rows)."
        )
