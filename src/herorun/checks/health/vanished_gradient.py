"""The gradient norm is exactly zero.

Why: the weights do not change, and every further step is wasted; a rule for high norms never
detects it, and the loss looks calm.
Fix: look at what the loss consists of since that step: masked labels, frozen or detached
parameters, a loss scale that underflows. If clipping was turned off on purpose, sign a waiver.
Source: a public fine-tuning run had a norm of 0.0 for 1,100 steps before its loss fell to 0.0 for
good. It fires after ten consecutive rows of zero that follow thirty rows above zero, because a
skipped step may print zero.
"""

from herorun.core.check import Gate, Response, Topic, check
from herorun.core.evidence import Excursion, History, Metrics
from herorun.core.finding import Verdict, count
from herorun.core.health.excursion import format_zeros, judge_excursions
from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_pydantic import PositiveInt


@dataclass(frozen=True)
class Limits:
    """How many consecutive rows must be zero."""

    rows: PositiveInt = 10


@check(Gate.HEALTH, Response.ESCALATE, topic=Topic.NUMERIC, vetoes_relaunch=True)
def vanished_gradient(metrics: Metrics, history: History, limits: Limits) -> list[Verdict]:
    def lasts(excursion: Excursion) -> bool:
        return excursion.rows >= limits.rows

    return judge_excursions(
        metrics,
        history,
        metrics.of("vanished"),
        lasts,
        "no gradient norm of zero",
        describe=format_zeros,
        limit=lambda _: count(limits.rows, "row"),
        check="vanished-gradient",
    )
