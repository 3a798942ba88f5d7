"""The trainer skips steps again and again.

Why: a step with non-finite gradients is skipped; a few are normal for the loss scale, many within
minutes are an instability that the loss does not show.
Fix: look at the gradient norm and the loss scale there; the DRI decides: roll back (`herorun
rollback RUN --to STEP --stop-first`; STEP: see `herorun checkpoints list RUN`), skip data, or
continue.
Source: three skipped steps within 15 minutes; `not-finite` reports ten in a row. The first 50 rows
of an attempt, in which half precision searches for its loss scale, do not count.
"""

from herorun.core.check import Gate, Response, Topic, check
from herorun.core.detectors.nonfinite import OFTEN
from herorun.core.evidence import Excursion, History, Metrics
from herorun.core.finding import Verdict, count
from herorun.core.health.excursion import duration, judge_excursions
from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_pydantic import PositiveInt


@dataclass(frozen=True)
class Limits:
    """Fires after `steps` skipped steps, of which any three in a row are within 15 minutes."""

    steps: PositiveInt = 3


@check(Gate.HEALTH, Response.ESCALATE, topic=Topic.NUMERIC, vetoes_relaunch=True)
def skipped_steps(metrics: Metrics, history: History, limits: Limits) -> list[Verdict]:
    def lasts(excursion: Excursion) -> bool:
        return excursion.rows >= limits.steps

    def describe(excursion: Excursion) -> str:
        return f"{count(excursion.rows, 'skipped step')} within {duration(excursion)}"

    return judge_excursions(
        metrics,
        history,
        metrics.of("skipped"),
        lasts,
        "no repeatedly skipped steps",
        describe=describe,
        limit=lambda _: (
            f"{count(limits.steps, 'skipped step')}"
            f"{', each three of them' if limits.steps > OFTEN else ''} within 15 minutes"
        ),
    )
