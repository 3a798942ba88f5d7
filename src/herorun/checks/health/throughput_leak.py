"""For many rows, steps have taken slightly longer than at their best.

Why: one slow node can cost a few per cent of all accelerators for weeks; a baseline that follows
the slowdown would never show it.
Fix: look for the slow node: compare the nodes' clocks, temperatures and link errors, or test half
of them at a time; the DRI decides whether to move the job to other nodes.
Source: bigscience-workshop/bigscience: 149 to 140 TFLOPs by one node of 384 accelerators, found by
bisection; 5 % above the best smoothed step time, for 100 rows.
"""

from typing import ClassVar

from herorun.core.check import Gate, Response, Topic, check
from herorun.core.detectors.throughput import LEAK
from herorun.core.evidence import Excursion, History, Metrics
from herorun.core.finding import Verdict, count, not_applicable, passed
from herorun.core.health.excursion import excursion_verdict, format_pace_limit, format_slowdown
from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_pydantic import PositiveFloat, PositiveInt


@dataclass(frozen=True)
class Limits:
    """A leak begins 5 % above the best smoothed step time, and must last for `rows`.

    From `deep_ratio` times the best step time on, it is a separate alert.
    """

    RENAMED: ClassVar = {"deep": "deep_ratio"}

    rows: PositiveInt = 100
    deep_ratio: PositiveFloat = 1.43


@check(Gate.HEALTH, Response.WARN, topic=Topic.PROGRESS)
def throughput_leak(metrics: Metrics, history: History, limits: Limits) -> list[Verdict]:
    if not history.wrote(metrics):
        return [not_applicable("no row of this instance yet")]
    long = [e for e in metrics.of("leak") if e.rows >= limits.rows and not e.declared]
    lasting = f"for {count(limits.rows, 'row')}"
    verdicts = [
        excursion_verdict(
            metrics,
            leak,
            format_slowdown,
            f"; the limit is {format_pace_limit(leak, 1 / LEAK)} {lasting}",
        )
        for leak in long
    ]
    verdicts += [
        _deep(metrics, leak, limits.deep_ratio) for leak in long if leak.peak >= limits.deep_ratio
    ]
    if not verdicts and (why := metrics.why_not_judged("throughput-leak")):
        return [not_applicable(f"not judged yet: {why}")]
    return verdicts or [
        passed(f"no lasting slowdown up to step {metrics.logged_step(metrics.step)}")
    ]


def _deep(metrics: Metrics, leak: Excursion, limit: float) -> Verdict:
    pace_limit = format_pace_limit(leak, limit)
    limit_text = f"; this is a separate alert for a deep slowdown, with a limit of {pace_limit}"
    return excursion_verdict(metrics, leak, format_slowdown, limit_text, ", deep")
