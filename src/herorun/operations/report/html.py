"""A report as one HTML page that needs no network: text is escaped, and only our own scripts may
run on it.
"""

import base64
import hashlib
import json
from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, Any

from herorun.core.canonical_json import plain
from herorun.core.finding import count, few
from herorun.core.goodput.states import WallTimeState
from herorun.core.record.render import MARK
from herorun.core.redaction.scrub import scrub_tree
from herorun.core.report.downsample import ChartLine, NonFiniteSpan, chart_table, longest
from herorun.core.report.text import readable_tree
from herorun.operations.metrics.charts import MAX_STRETCHES, ChartDrawing, Series
from herorun.operations.report.links import web_address
from herorun.operations.report.report import RunReport
from herorun.schemas.evaluations import GoodputOf
from herorun.schemas.reports import ReportDocument, ReportLink
from herorun.system.templates import template

if TYPE_CHECKING:
    from jinja2 import Template

MAX_LOGBOOK_LENGTH = 400_000  # characters, the newest
KINDS = (
    ("launch", "launches and attempts", "│"),
    ("checkpoint", "checkpoints", "◆"),
    ("alert", "alerts", "▼"),
    ("phase", "phases", "┆"),
    ("bad", "not finite", "✕"),
)


def page_of(report: RunReport, fleet: str = "", poll: int = 0, newer: str = "") -> str:
    """The complete page. Its policy names each script and the style by digest: nothing else runs or
    is fetched. `fleet` is the address of the page of all runs; with `poll` the page refreshes
    itself every so many seconds, and `newer` is the address that reads everything again.
    """
    logbook, cut = _tail_of_logbook(report.logbook)
    document = report.document
    step, final = document.progress.step, document.progress.final_step
    shares = list(_shares(document.goodput))
    return html_template("report/page.html").render(
        report=document,
        fleet=fleet,
        poll=poll,
        newer=newer,
        **_scripts_and_style(bool(poll)),
        data=_data(report),
        share=f"{step / final:.1%}" if final and step is not None else None,
        cards=list(_cards(document)),
        kinds=KINDS,
        charts=[_chart(chart) for chart in report.charts],
        shares=shares,
        bar="; ".join(label for *_, label in shares),
        account=report.account,
        links=[ReportLink.of(one, url=web_address(one.url)) for one in document.links],
        axes=report.axes,
        logbook=_html(logbook),
        cut=cut,
        blind=report.blind,
    )


def _scripts_and_style(polls: bool) -> dict[str, str]:
    """The page's scripts, its style, and the policy that names them."""
    parts = (
        template("report/language.js"),
        f"/* {template('report/uplot/LICENSE')} */",
        template("report/uplot/uPlot.iife.min.js"),
    )
    library = "\n".join(parts)
    script = template("report/page.js")
    poller = template("report/poll.js") if polls else ""
    style = template("report/uplot/uPlot.min.css") + template("report/page.css")
    return {
        "policy": page_policy([library, script, *([poller] if polls else [])], style, polls),
        "poller": poller,
        "style": style,
        "library": library,
        "script": script,
    }


def html_template(name: str) -> "Template":
    """What the file holds now. To compile one takes longer than to fill it in, and a server fills
    it in again and again.
    """
    return _compile_template(template(name))


@cache
def _compile_template(text: str) -> "Template":
    """Escapes every text; an undefined name in a template is an error."""
    from jinja2 import Environment, StrictUndefined

    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    environment.filters["moment"] = _format_moment
    environment.filters["web"] = web_address
    return environment.from_string(text)


def page_policy(scripts: Sequence[str], style: str, poll: bool = False) -> str:
    """The content security policy of a page: these scripts, this style, and with `poll` requests to
    its own server.
    """
    hashes = " ".join(_hash_of_script(script) for script in scripts) or "'none'"
    asks = "connect-src 'self'; " if poll else ""
    return (
        f"default-src 'none'; script-src {hashes}; style-src {_hash_of_script(style)}; img-src "
        f"data:; {asks}"
        "base-uri 'none'; form-action 'none'"
    )


def _hash_of_script(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _format_moment(at: str | datetime | None) -> str:
    """`2026-11-21 00:02 UTC`"""
    text = plain(at) if isinstance(at, datetime) else at
    return f"{text[:10]} {text[11:16]} UTC" if text else ""


def _cards(document: ReportDocument) -> Iterator[tuple[str, str, str]]:
    for chart in document.charts:
        newest = chart.newest
        if newest is not None:
            yield (
                chart.title,
                newest if isinstance(newest, str) else f"{newest:.5g}",
                chart.metrics[0],
            )
    checkpoint = document.checkpoint
    note = _format_moment(checkpoint.at) if checkpoint else ""
    yield "Newest checkpoint", f"{checkpoint.step:,}" if checkpoint else "none seen", note
    firing = sum(alert.resolved is None for alert in document.alerts)
    yield "Alerts", f"{firing} open", f"{len(document.alerts)} in all"
    yield (
        "Instances",
        str(len(document.instances)),
        f"{document.goodput.lost_steps:,} steps lost to restarts",
    )
    effective = document.goodput.productive_fraction
    least, most = effective.min, effective.max
    if least is not None and most is not None:
        low, high = f"{least:.0%}", f"{most:.0%}"
        span = (
            f"{least:.1%}"
            if round(least, 3) == round(most, 3)
            else low
            if low == high
            else f"{low} to {high}"
        )
        yield "Effective time", span, "of wall time was productive"


def _shares(goodput: GoodputOf) -> Iterator[tuple[str, str, str, str]]:
    """For each state: its name, the start and the width of its part of the bar, in percent, and its
    text.
    """
    at, wall = 0.0, goodput.wall_seconds
    for state in WallTimeState:
        share = 100 * goodput.states[state] / wall if wall else 0.0
        if share:
            yield state.value, f"{at:.3f}", f"{share:.3f}", f"{state} {share:.1f}%"
        at += share


def _chart(chart: ChartDrawing) -> dict[str, Any]:
    rows = [
        (_strand_name(one, strand), row)
        for one in chart.series
        for strand in one.strands
        for row in chart_table(strand)
    ]
    first, last = (
        min((row.first for _, row in rows), default=0),
        max((row.last for _, row in rows), default=0),
    )
    newest = f", the newest value is {chart.newest_text}" if chart.newest_text else ""
    message = f"{chart.title} from step {first:,} to {last:,}{newest}{_caption_nonfinite(chart)}."
    drawing: dict[str, Any] = readable_tree(
        {
            "id": chart.id,
            "title": chart.title,
            "unit": chart.unit,
            "why": chart.why,
            "words": message,
        }
    )
    return {
        **drawing,
        "series": chart.series,
        "rows": [(readable_tree(name), row) for name, row in rows],
    }


def _caption_nonfinite(chart: ChartDrawing) -> str:
    """`, 494 values are not finite (loss: steps 121 to 614)`; "" if all are finite."""
    rows = sum(each.rows for one in chart.series for each in one.not_finite)
    places = [f"{one.metric}: {_steps(each)}" for one in chart.series for each in one.not_finite]
    if not rows:
        return ""
    return f", {count(rows, 'value')} {'is' if rows == 1 else 'are'} not finite ({few(places)})"


def _steps(stretch: NonFiniteSpan) -> str:
    return (
        f"step {stretch.first:,}"
        if stretch.first == stretch.last
        else f"steps {stretch.first:,} to {stretch.last:,}"
    )


def _strand_name(one: Series, strand: ChartLine) -> str:
    return f"{one.metric} (done again later)" if strand.lane else one.metric


def _data(report: RunReport) -> str:
    """The data for the script, escaped for use inside a page."""
    charts = [
        {
            "id": chart.id,
            "series": [
                {
                    "metric": readable_tree(one.metric),
                    "lines": [
                        {"lane": s.lane, "x": s.steps, "y": [float(f"{v:.6g}") for v in s.values]}
                        for s in one.strands
                    ],
                    "bad": [[s.first, s.last] for s in longest(one.not_finite, MAX_STRETCHES)],
                }
                for one in chart.series
            ],
        }
        for chart in report.charts
    ]
    text = json.dumps(
        {
            "charts": charts,
            "marks": scrub_tree(plain(list(report.document.annotations))),
            "times": [report.axes.steps, report.axes.seconds],
            "tokens": report.axes.tokens,
        },
        separators=(",", ":"),
        allow_nan=False,
    )
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _tail_of_logbook(logbook: str) -> tuple[str, int]:
    """The end of the logbook, from the start of an entry, and how many characters are omitted."""
    text = MARK.sub("", logbook)
    if len(text) <= MAX_LOGBOOK_LENGTH:
        return text, 0
    at = text.find("\n### ", len(text) - MAX_LOGBOOK_LENGTH)
    at = at if at >= 0 else len(text) - MAX_LOGBOOK_LENGTH
    return text[at:], at


def _is_web_page(url: str) -> bool:
    return url.startswith(("https://", "http://"))


def _html(markdown: str) -> str:
    """Markdown as HTML: HTML inside is shown as text, only links to web pages are links, and there
    are no pictures.
    """
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
    parser.validateLink = _is_web_page  # type: ignore[method-assign]  # as markdown-it documents
    tokens = parser.parse(markdown)
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(int(token.tag[1]) + 2, 6)}"
        for child in token.children or ():
            if child.type == "link_open":
                child.attrSet("rel", "noreferrer noopener")
    return str(parser.renderer.render(tokens, parser.options, {}))
