"""The learning rate fell to zero long before the end of the run.

Why: the schedule was made for fewer steps than the run has; further steps cost money and learn
nothing.
Fix: compare the schedule's own number of steps with the final step; stop the job (`herorun stop
RUN`), and continue from the checkpoint before the decay with the right schedule.
Source: marin-community/marin, num_train_steps bug: in four runs the schedule's length and the final
step differed by a factor of 2.
"""

from typing import ClassVar

from herorun.core.check import Gate, Response, Topic, check
from herorun.core.evidence import FinalStep, History, Metrics, Nothing, Unavailable
from herorun.core.finding import Verdict, failed, not_applicable, passed
from herorun.core.health.excursion import duration
from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_pydantic import PositiveFloat, PositiveInt


@dataclass(frozen=True)
class Limits:
    """How many consecutive rows must be zero. In the last part of the run (`last_share`: 0.01 is
    one per cent), zero is allowed.
    """

    RENAMED: ClassVar = {"last": "last_share"}

    rows: PositiveInt = 10
    last_share: PositiveFloat = 0.01


@check(Gate.HEALTH, Response.ESCALATE, topic=Topic.METRIC, vetoes_relaunch=True)
def exhausted_learning_rate(
    metrics: Metrics, history: History, final: FinalStep | Nothing | Unavailable, limits: Limits
) -> Verdict:
    if not history.wrote(metrics):
        return not_applicable("no row of this instance yet")
    if not isinstance(final, FinalStep) or final.value is None:
        return not_applicable("the final step is unknown")
    most = final.value * (1 - limits.last_share)
    excursions = [
        e
        for e in metrics.of("spent")
        if e.rows >= limits.rows and e.last_step <= most and not e.declared
    ]
    if not excursions:
        return passed(
            f"the learning rate is above zero up to step {metrics.logged_step(metrics.step)}"
        )
    last = excursions[-1]
    return failed(
        f"{last.metric} was zero for {duration(metrics.as_logged(last))}; the final step is "
        f"{final.value}, and zero is allowed only in the last {limits.last_share:.0%} of the run",
        subject=last.metric,
        steps=(last.first_step, last.last_step),
    )
