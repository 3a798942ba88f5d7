"""The trainer skips steps again and again.

Why: a skipped step is one whose gradients were not finite; a few are the loss scale's ordinary work, many within minutes
are an instability that the loss does not show, because it never was applied.
Fix: look at the gradient norm and the loss scale there; the DRI decides: roll back, skip data, or go on.
Source: three within 15 minutes; ten in a row are told by not-finite. The first 50 rows of an attempt, in which half
precision looks for its loss scale, do not count.
"""

from dataclasses import dataclass

from pydantic import PositiveInt

from herorun.core.check import Gate, Response, Topic, check
from herorun.core.evidence import Excursion, History, Metrics
from herorun.core.finding import Verdict
from herorun.core.health.excursion import judged


@dataclass(frozen=True)
class Limits:
    """How many skipped steps of one such stretch; it begins with the third within 15 minutes (`core.detectors`)."""

    steps: PositiveInt = 3


@check(Gate.HEALTH, Response.ESCALATE, topic=Topic.NUMERIC, vetoes_relaunch=True)
def skipped_steps(metrics: Metrics, history: History, limits: Limits) -> list[Verdict]:
    def lasts(excursion: Excursion) -> bool:
        return excursion.rows >= limits.steps

    return judged(
        metrics, history, metrics.of("skipped"), lasts, "no steps skipped again and again"
    )
