"""The gradient norm grows slowly, over thousands of rows.

Why: such growth precedes instabilities by days, so there is time to lower the learning rate.
Fix: compare it with the learning rate and the loss; the DRI decides whether to lower the learning
rate.
Source: marin-community/marin #9148 and the logbook of OPT-175B: threefold growth of the average
over 200 rows against that over 5,000, for 500 rows.
"""

from herorun.core.check import Gate, Response, Topic, check
from herorun.core.detectors.grad_norm import CREEP
from herorun.core.evidence import Excursion, History, Metrics
from herorun.core.finding import Verdict, count
from herorun.core.health.excursion import format_ratio, judge_excursions
from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_pydantic import PositiveInt


@dataclass(frozen=True)
class Limits:
    """An excursion begins at a threefold growth, and must last for `rows`."""

    rows: PositiveInt = 500


@check(Gate.HEALTH, Response.WARN, topic=Topic.METRIC)
def grad_norm_creep(metrics: Metrics, history: History, limits: Limits) -> list[Verdict]:
    def lasts(excursion: Excursion) -> bool:
        return excursion.rows >= limits.rows and not excursion.declared

    return judge_excursions(
        metrics,
        history,
        metrics.of("creep"),
        lasts,
        "no slow growth",
        describe=_describe_growth,
        limit=lambda _: f"{CREEP:g} times that average for {count(limits.rows, 'row')}",
    )


def _describe_growth(excursion: Excursion) -> str:
    return format_ratio(excursion, "its average over 5,000 rows,")
