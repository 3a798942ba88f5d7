"""The loss repeats the first rows of the run: training began anew from untrained weights.

Why: a restart that loads nothing looks like a run that goes on, and overwrites good checkpoints with bad ones.
Fix: stop it before it overwrites a checkpoint, and relaunch from the newest complete one.
Source: four rows within 10 % of the first four, after the level had fallen to half; public tuning runs that began
anew unseen.
"""

from dataclasses import dataclass

from pydantic import PositiveInt

from herorun.core.asking import Reason
from herorun.core.check import Gate, Response, Topic, check
from herorun.core.evidence import Excursion, History, Metrics
from herorun.core.finding import Verdict
from herorun.core.health.excursion import judged


@dataclass(frozen=True)
class Limits:
    """How often the opening must be seen again."""

    rows: PositiveInt = 1


@check(Gate.HEALTH, Response.ESCALATE, topic=Topic.LINEAGE, vetoes_relaunch=True, asks=Reason.LINEAGE)
def untrained_again(metrics: Metrics, history: History, limits: Limits) -> list[Verdict]:
    def lasts(excursion: Excursion) -> bool:
        return excursion.rows >= limits.rows

    return judged(metrics, history, metrics.of("untrained"), lasts, "no second beginning")
