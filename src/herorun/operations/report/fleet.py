"""The page of all runs, worst first, with a link to the page of each. Text is escaped, and nothing
is loaded from elsewhere.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

from herorun import __version__
from herorun.core.canonical_json import timestamp
from herorun.core.errors import HerorunError, describe_error
from herorun.core.evidence_names import name_lack
from herorun.core.finding import count
from herorun.core.report.text import readable
from herorun.core.run_summary import OpenAlert, RunSummary, worst_first
from herorun.core.run_summary_text import (
    format_checkpoint,
    format_last_tick,
    format_loss,
    format_pace,
    format_progress,
    format_state,
    format_tick,
)
from herorun.operations.babysit.batch import worst
from herorun.operations.report.html import html_template, page_of, page_policy
from herorun.operations.report.report import report_of
from herorun.operations.report.status import all_rows
from herorun.operations.report.verdict import LEVELS
from herorun.runs import known_slugs, watched_run
from herorun.system.clock import now
from herorun.system.files import write_atomic
from herorun.system.git import find_repository
from herorun.system.templates import template

INDEX = "index.html"
SEVERITIES = {"critical": "bad", "warn": "warn"}
GENERATOR = b'<meta name="generator" content="herorun report --all">'
HEAD = 4096  # bytes at a page's start that contain its HTML head
PUBLIC = 0o644  # another user's server may serve the page


def fleet_page(
    run_summaries: Sequence[RunSummary],
    at: datetime,
    address: Callable[[str], str],
    poll: int = 0,
    title: str = "",
) -> str:
    """The page. `address` returns the address of a run's own page; with `poll` the page refreshes
    itself every so many seconds. Without a `title` it counts the runs by their state.
    """
    style = template("report/page.css")
    script = template("report/poll.js") if poll else ""
    sorted_runs = worst_first(run_summaries)
    return html_template("report/fleet.html").render(
        title=readable(title) or _title(sorted_runs),
        made=timestamp(at.replace(microsecond=0)),
        runs=[_run_card(summary, at, address(summary.slug)) for summary in sorted_runs],
        policy=page_policy([script] if poll else [], style, bool(poll)),
        style=style,
        script=script,
        poll=poll,
        version=__version__,
    )


def _title(run_summaries: Sequence[RunSummary]) -> str:
    """`3 runs: 1 down, 2 healthy`, the worst first; a run that is not monitored counts only as
    that.
    """
    states = Counter(
        f"monitor {summary.monitor}"
        if summary.stage == "launched" and summary.monitor != "fresh" and not summary.error
        else format_state(summary)
        for summary in run_summaries
    )
    message = ", ".join(f"{many} {state}" for state, many in states.items())
    return readable(f"{count(len(run_summaries), 'run')}{': ' if message else ''}{message}")


def _run_card(summary: RunSummary, at: datetime, page: str) -> dict[str, Any]:
    facts = (
        ("Progress", format_progress(summary, 0).strip()),
        ("Loss", format_loss(summary)),
        ("Speed", format_pace(summary)),
        ("Checkpoint", format_checkpoint(summary)),
        ("Seen", format_last_tick(summary, at)),
        ("Next tick", format_tick(summary, at)),
    )
    return {
        "slug": readable(summary.slug),
        "page": page,
        "state": readable(format_state(summary)),
        "level": _level_of(summary),
        "error": readable(summary.error),
        "share": summary.done_share,
        "facts": [(name, readable(value)) for name, value in facts if value not in ("", "-")],
        "alerts": [*map(_alert_line, summary.alerts), *_list_awaited(summary)],
    }


def _level_of(summary: RunSummary) -> str:
    """The colour of the run's badge. A run without a monitor is never green."""
    if summary.error:
        return "bad"
    if summary.stage != "launched":
        return "good" if summary.stage == "sealed" else "plain"
    level = LEVELS.get(summary.run, "unknown")
    return "unknown" if level == "good" and summary.monitor != "fresh" else level


def _alert_line(alert: OpenAlert) -> tuple[str, tuple[str, str]]:
    level = SEVERITIES.get(alert.severity, "unknown") if alert.state == "firing" else "plain"
    return level, (
        readable(f"{alert.state} {alert.severity}"),
        readable(f"{alert.check}: {alert.message}"),
    )


def _list_awaited(summary: RunSummary) -> list[tuple[str, tuple[str, str]]]:
    return [
        ("unknown", (name_lack(missing.until, summary.seen_at), readable(missing.message)))
        for missing in summary.awaited
    ]


def write_fleet(start: Path, folder: Path) -> tuple[Path, int]:
    """Write the page of all runs and one for each into a folder, and delete the pages of removed
    runs. Returns the first page's path and the exit code. A run that cannot be read is on the first
    page, with its error.
    """
    names = list(known_slugs(find_repository(start)))
    folder.mkdir(parents=True, exist_ok=True)
    codes = [_write_run(name, start, folder) for name in names]
    run_summaries = [
        answer.value[0]
        if answer.value
        else RunSummary(slug=answer.slug, stage="", error=answer.error)
        for answer in all_rows(names, start)
    ]
    index = folder / INDEX
    _write_page(index, fleet_page(run_summaries, now(), lambda slug: quote(_file_name(slug))))
    _delete_pages_except({INDEX, *map(_file_name, names)}, folder)
    return index, worst(codes)


def _delete_pages_except(names: set[str], folder: Path) -> None:
    """Delete pages of removed runs that an earlier report wrote; no other files, and no links."""
    for page in folder.glob("*.html"):
        if page.name in names or page.is_symlink() or not page.is_file():
            continue
        with page.open("rb") as file:
            ours = GENERATOR in file.read(HEAD)
        if ours:
            page.unlink(missing_ok=True)


def _file_name(slug: str) -> str:
    """The underscore, which no run's name contains, keeps a run called `index` apart from the first
    page.
    """
    return "index_.html" if f"{slug}.html" == INDEX else f"{slug}.html"


def _write_run(name: str, start: Path, folder: Path) -> int:
    path = folder / _file_name(name)
    try:
        report = report_of(*watched_run(name, start))
    except (HerorunError, OSError) as error:
        _write_page(path, failure_page(name, describe_error(error), INDEX))
        return error.exit_code if isinstance(error, HerorunError) else 3
    _write_page(path, page_of(report, INDEX))
    return report.code


def failure_page(slug: str, error: str, fleet: str) -> str:
    """The page that replaces one that cannot be made: an old page would look like the present
    one.
    """
    summary = RunSummary(slug=slug, stage="", error=error)
    return fleet_page([summary], now(), lambda _: fleet, title=f"{slug}: {error}")


def _write_page(path: Path, page: str) -> None:
    write_atomic(path, page.encode("utf-8", "backslashreplace"), PUBLIC)
