"""An evaluation's loss rises while training continues.

Why: the run learns its data by heart; every further step is paid for and makes the model worse.
Fix: compare with the training loss; the DRI decides whether to stop at the best checkpoint.
"""

from herorun.core.check import Gate, Response, Topic, check
from herorun.core.evidence import Excursion, History, Metrics
from herorun.core.finding import Verdict
from herorun.core.health.excursion import judge_excursions
from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_pydantic import PositiveInt


@dataclass(frozen=True)
class Limits:
    """`evaluations` is how many in a row must be above the lowest."""

    evaluations: PositiveInt = 3


@check(Gate.HEALTH, Response.ESCALATE, topic=Topic.METRIC)
def overfitting(metrics: Metrics, history: History, limits: Limits) -> list[Verdict]:
    def lasts(excursion: Excursion) -> bool:
        return excursion.rows >= limits.evaluations

    return judge_excursions(
        metrics, history, metrics.of("overfit"), lasts, "no evaluation's loss rises"
    )
