"""The loss rises slowly, or has moved to a higher level.

Why: a slow rise is hidden in the noise between rows; only the smoothed level against the lowest so
far shows it.
Fix: compare the data, the learning rate, the precision and the resumes since the lowest loss;
declare an intended change as a [[phase]].
Source: the smoothed loss is 1 % above its lowest level, beyond the noise (`core.detectors.loss`),
for 25 rows.
"""

from herorun.core.check import Gate, Response, Topic, check
from herorun.core.detectors.loss import DRIFT
from herorun.core.evidence import Excursion, History, Metrics
from herorun.core.finding import Verdict, count
from herorun.core.health.excursion import format_ratio, judge_excursions
from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_pydantic import PositiveInt


@dataclass(frozen=True)
class Limits:
    """A drift begins 1 % above the lowest smoothed level, and must last for `rows`."""

    rows: PositiveInt = 25


@check(Gate.HEALTH, Response.WARN, topic=Topic.METRIC)
def loss_drift(metrics: Metrics, history: History, limits: Limits) -> list[Verdict]:
    def lasts(excursion: Excursion) -> bool:
        return excursion.rows >= limits.rows and not excursion.declared

    return judge_excursions(
        metrics,
        history,
        metrics.of("drift"),
        lasts,
        "no upward drift",
        describe=lambda rise: format_ratio(rise, "its lowest level"),
        limit=lambda _: f"{DRIFT:g} times that level for {count(limits.rows, 'row')}",
        check="loss-drift",
    )
