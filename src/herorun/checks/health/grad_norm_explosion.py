"""The gradient norm is many times its usual value.

Why: it shows an instability before the loss does, and often the loss never recovers.
Fix: the DRI decides: wait, roll back (`herorun rollback RUN --to STEP --stop-first`; STEP: see
`herorun checkpoints list RUN`), or skip data; a relaunch would meet the same problem.
Source: bigscience-workshop/bigscience, 176B: the norm rose from 0.24 to 145 one step before the
loss rose from 2.2 to 5.1. So it fires at ten times the trend for 3 rows, or at a hundred times
once. If the usual norm is almost zero, gradients that return to normal are no instability: then it
fires only if the loss rises too.
"""

from typing import ClassVar

from herorun.core.check import Gate, Response, Topic, check
from herorun.core.detectors.excursion import MISSES
from herorun.core.detectors.grad_norm import EXPLOSION_RATIO
from herorun.core.evidence import Excursion, History, Metrics
from herorun.core.finding import Verdict, count
from herorun.core.health.excursion import judge_excursions
from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_pydantic import PositiveFloat, PositiveInt


@dataclass(frozen=True)
class Limits:
    """The check fails after `rows` rows of ten times the trend. One row of `single_row_ratio`
    times the trend is enough if the loss is not calm. Both must exceed the trend by `sigmas` times
    the noise. If the usual norm is below `vanished_norm`, the check fails only if the loss is not
    calm.
    """

    RENAMED: ClassVar = {"at_once": "single_row_ratio", "vanished": "vanished_norm"}

    rows: PositiveInt = 3
    single_row_ratio: PositiveFloat = 100.0
    sigmas: PositiveFloat = 7.0
    vanished_norm: PositiveFloat = 0.001


@check(Gate.HEALTH, Response.ESCALATE, topic=Topic.METRIC, vetoes_relaunch=True)
def grad_norm_explosion(metrics: Metrics, history: History, limits: Limits) -> list[Verdict]:
    uneasy = (*metrics.spikes, *metrics.non_finite)
    higher = (*uneasy, *metrics.of("risen", "shifted", "elevated", "diverged"))
    soon = (MISSES + 1) * metrics.stride  # steps behind an explosion in which it is not over yet

    def is_among(others: tuple[Excursion, ...], excursion: Excursion) -> bool:
        return any(
            each.last_step >= excursion.first_step and each.first_step <= excursion.last_step + soon
            for each in others
        )

    def lasts(excursion: Excursion) -> bool:
        """While the loss is calm, one row is not enough, and neither is a rise from a vanished
        norm.
        """
        if excursion.expected < limits.vanished_norm and not is_among(higher, excursion):
            return False
        alone = excursion.rows < 2 and not is_among(uneasy, excursion)
        high = excursion.rows >= limits.rows or (
            excursion.peak >= limits.single_row_ratio and not alone
        )
        return high and excursion.sigmas >= limits.sigmas

    return judge_excursions(
        metrics,
        history,
        metrics.of("explosion"),
        lasts,
        "no explosion",
        limit=lambda _: (
            f"{EXPLOSION_RATIO:g} times the expected norm for {count(limits.rows, 'row')}, or "
            f"{limits.single_row_ratio:g} times for 1 row"
        ),
    )
