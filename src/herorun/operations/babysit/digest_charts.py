"""The curves of a digest, from the rows that are stored on this machine; the tracker is not
queried.
"""

from collections.abc import Sequence
from dataclasses import replace

from herorun.core.errors import HerorunError
from herorun.core.event import Intended
from herorun.core.report.downsample import NonFiniteSpan
from herorun.core.report.mermaid import picture
from herorun.core.report.text import readable
from herorun.operations.metrics.charts import ChartDrawing, charts_of
from herorun.operations.metrics.series import names_for, stored_curves
from herorun.runs import MonitoredRun

DIGEST_CHARTS = ("loss", "throughput")  # the charts of a report that fit under a comment


def with_pictures(run: MonitoredRun, intent: Intended) -> Intended:
    """The digest with its curves below the text. Without rows the text is sent alone: a missing
    picture never delays it.
    """
    pictures = pictures_of(run)
    return replace(intent, body="\n\n".join([intent.body, *pictures])) if pictures else intent


def pictures_of(run: MonitoredRun) -> list[str]:
    try:
        curves = stored_curves(run)
        charts = charts_of(curves, names_for(run)) if curves else []
    except (HerorunError, OSError):
        return []
    pictures = [_picture(chart) for chart in charts if chart.id in DIGEST_CHARTS]
    return [text for text in pictures if text]


def _picture(chart: ChartDrawing) -> str:
    """The curve of the current lineage: steps that were trained again have their last values."""
    main = chart.series[0].strands[0] if chart.series and chart.series[0].strands else None
    if main is None or main.lane:
        return ""
    spans = chart.series[0].not_finite
    title = f"{chart.title}, {_describe_nonfinite(spans)}" if spans else chart.title
    return picture(readable(title), readable(chart.unit), main.steps, main.values)


def _describe_nonfinite(stretches: Sequence[NonFiniteSpan]) -> str:
    """`494 not finite at steps 121 to 614`."""
    first, last = stretches[0].first, max(each.last for each in stretches)
    where = f"step {first}" if first == last else f"steps {first} to {last}"
    return f"{sum(each.rows for each in stretches)} not finite at {where}"
