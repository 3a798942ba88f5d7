"""Steps take much longer than before, for a while.

Why: degraded hardware, a starved input or retries waste accelerators while every task is RUNNING.
Fix: look for the slowest node, a slow input pipeline and slow checkpoint writes; the DRI decides
whether to move the job to other nodes.
Source: marin-community/marin, manage-hero-run: 20-30 % below the baseline for several cadences, and
no alert for a single dip; every real collapse among the public curves lasted 93 s or more.
"""

from dataclasses import replace
from datetime import timedelta
from typing import ClassVar

from herorun.core.check import Gate, Hold, Response, Topic, check
from herorun.core.detectors.throughput import SLOW, SLOW_WALL
from herorun.core.evidence import Cadence, Excursion, History, Metrics, Nothing
from herorun.core.finding import Verdict, count
from herorun.core.health.excursion import (
    format_pace_limit,
    format_slowdown,
    judge_excursions,
    subject,
)
from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_pydantic import PositiveFloat, PositiveInt


@dataclass(frozen=True, kw_only=True)
class Limits:
    """An excursion begins at three quarters of the usual throughput, and fails after `rows`, if it
    exceeds the noise by `sigmas`.

    If step times or the times of rows are known, it must also last `seconds`, or one cadence if
    that is shorter: a few slow steps of 80 ms are no incident. The check also fails if too few
    steps come, by wall time, in each of `half_hours` half hours in a row, or if steps take
    `halved_ratio` times the best step time for `halved_rows`. From `unit_ratio` times on, the
    message says that the rows probably use another unit.
    """

    RENAMED: ClassVar = {"halved": "halved_ratio", "unit": "unit_ratio"}

    rows: PositiveInt = 5
    sigmas: PositiveFloat = 7.0
    seconds: PositiveFloat = 60.0
    half_hours: PositiveInt = 3
    halved_ratio: PositiveFloat = 2.0
    halved_rows: PositiveInt = 100
    unit_ratio: PositiveFloat = 20.0


@check(Gate.HEALTH, Response.ESCALATE, hold=Hold(ticks=3), topic=Topic.PROGRESS)
def throughput_collapse(
    metrics: Metrics, history: History, cadence: Cadence | Nothing, limits: Limits
) -> list[Verdict]:
    lasting = timedelta(seconds=limits.seconds)
    if isinstance(cadence, Cadence):
        lasting = min(lasting, cadence.every)

    def lasts(excursion: Excursion) -> bool:
        match excursion.kind:
            case "wall":
                return excursion.rows >= limits.half_hours
            case "leak":
                return (
                    excursion.peak >= limits.halved_ratio and excursion.rows >= limits.halved_rows
                )
        brief = excursion.seconds is not None and excursion.seconds < lasting.total_seconds()
        return excursion.rows >= limits.rows and excursion.sigmas >= limits.sigmas and not brief

    def limit(excursion: Excursion) -> str:
        match excursion.kind:
            case "wall":
                slower, length = (
                    1 / SLOW_WALL,
                    count(limits.half_hours, "period of 30 minutes", "periods of 30 minutes"),
                )
            case "leak":
                slower, length = limits.halved_ratio, count(limits.halved_rows, "row")
            case _:
                slower, length = 1 / SLOW, count(limits.rows, "row")
        return f"{format_pace_limit(excursion, slower)} for {length}"

    slow = metrics.of("slow", "wall", "leak")
    verdicts = judge_excursions(
        metrics,
        history,
        slow,
        lasts,
        "no lasting collapse",
        describe=format_slowdown,
        limit=limit,
        check="throughput-collapse",
    )
    far_below = {subject(e) for e in slow if e.peak >= limits.unit_ratio}
    return [_or_unit(verdict) if verdict.subject in far_below else verdict for verdict in verdicts]


def _or_unit(verdict: Verdict) -> Verdict:
    return replace(
        verdict,
        message=f"{verdict.message}; so large a change usually means that the trainer logs another "
        "unit under the old name",
    )
