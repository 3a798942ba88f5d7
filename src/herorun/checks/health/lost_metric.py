"""A monitored metric never appeared, or stopped.

Why: a renamed metric looks healthy, because no problem is ever reported.
Fix: name the column as the run logs it, under [tracker.metrics]; or find out why the run stopped
logging it.
Source: 50 rows, and five times the longest gap so far, so that a metric of rare evaluations is not
lost.
"""

from herorun.core.check import Gate, Response, Topic, check
from herorun.core.evidence import History, Metrics, Presence
from herorun.core.finding import Verdict, count, failed, not_applicable, passed
from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_pydantic import PositiveFloat, PositiveInt


@dataclass(frozen=True)
class Limits:
    """How many rows a metric must be missing: `rows`, and `gaps` times its longest gap so far."""

    rows: PositiveInt = 50
    gaps: PositiveFloat = 5.0


@check(Gate.HEALTH, Response.WARN, topic=Topic.MONITOR)
def lost_metric(metrics: Metrics, history: History, limits: Limits) -> list[Verdict]:
    if not history.wrote(metrics):
        return [not_applicable("no row of this instance yet")]
    verdicts = [
        _report_lost_metric(presence, limits)
        for presence in metrics.presence
        if _is_lost(presence, limits)
    ]
    return verdicts or [passed("every watched metric is reported")]


def _is_lost(presence: Presence, limits: Limits) -> bool:
    return presence.rows >= limits.rows and presence.rows >= limits.gaps * presence.longest


def _report_lost_metric(presence: Presence, limits: Limits) -> Verdict:
    before = "but earlier rows have it" if presence.seen else "and no earlier row has it"
    return failed(
        f"{presence.metric} is missing from the newest {count(presence.rows, 'row')}, {before}; "
        f"the limit is {max(limits.rows, limits.gaps * presence.longest):g} rows",
        subject=presence.metric,
    )
