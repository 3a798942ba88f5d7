"""The loss has exactly the same value in many rows, or has not moved for a while: an early warning
of flat-start.

Why: no two batches have the same loss to the last digit: the logged value is old, or the weights
and the data do not change; no other rule notices.
Fix: check whether the trainer still computes what it logs; compare the gradient norm, the learning
rate and the data position at that step.
Source: it fires after 50 equal rows, and five times the longest such stretch before, because some
logs repeat a value until there is a new one. If the loss never moved, it fires after 30 rows and
500 steps with hardly any noise.
"""

from herorun.core.check import Gate, Response, Topic, check
from herorun.core.evidence import Excursion, History, Metrics
from herorun.core.finding import Verdict
from herorun.core.health.excursion import format_flat, judge_excursions
from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_pydantic import PositiveInt


@dataclass(frozen=True)
class Limits:
    """The detector begins after 20 equal rows; `rows` more must be equal."""

    rows: PositiveInt = 30


@check(Gate.HEALTH, Response.WARN, topic=Topic.METRIC)
def frozen_loss(metrics: Metrics, history: History, limits: Limits) -> list[Verdict]:
    def lasts(excursion: Excursion) -> bool:
        least = limits.rows if excursion.kind == "frozen" else 1
        return excursion.rows >= least and not excursion.declared

    still = metrics.of("frozen", "flat")
    return judge_excursions(
        metrics, history, still, lasts, "no loss that repeats", describe=_describe_frozen
    )


def _describe_frozen(excursion: Excursion) -> str:
    if excursion.kind == "flat":
        return format_flat(excursion)
    loss, first = f"{excursion.expected:.6g} in every row", f"step {excursion.first_step} or before"
    if excursion.open:
        return f"the loss has been {loss} since {first}, still in progress"
    return f"the loss was {loss} from {first} to step {excursion.last_step}"
