"""The learning rate has been zero since the first row.

Why: nothing is learned, and no rule for the loss can distinguish that from a run that starts from
trained weights.
Fix: check the schedule, its warm-up and the optimizer's groups, and launch again; the trainer may
have built the schedule for zero steps, or may skip every step because of overflows.
Source: ten rows and 200 steps. A warm-up has a rate of zero in its first step; half precision skips
up to 50 steps while it searches for its loss scale. Some trainers report a rate of zero until the
first step that counts (public runs: 4 and 6 rows, and 10 steps).
"""

from herorun.core.check import Gate, Response, Topic, check
from herorun.core.evidence import Excursion, History, Metrics
from herorun.core.finding import Verdict, count
from herorun.core.health.excursion import duration, judge_excursions
from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_pydantic import PositiveInt


@dataclass(frozen=True)
class Limits:
    """How long the learning rate must have been zero."""

    rows: PositiveInt = 10
    steps: PositiveInt = 200


@check(Gate.HEALTH, Response.ESCALATE, topic=Topic.METRIC, vetoes_relaunch=True)
def zero_learning_rate(metrics: Metrics, history: History, limits: Limits) -> list[Verdict]:
    def lasts(idle: Excursion) -> bool:
        return idle.rows >= limits.rows and idle.steps >= limits.steps

    return judge_excursions(
        metrics,
        history,
        metrics.of("idle"),
        lasts,
        "the learning rate is not zero",
        describe=lambda idle: (
            f"{idle.metric} has been zero for {duration(idle)}: the run learns nothing"
        ),
        limit=lambda _: f"{count(limits.rows, 'row')} and {count(limits.steps, 'step')}",
    )
