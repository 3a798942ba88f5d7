"""The loss had fallen, has risen far above its lowest level, and stays there.

Why: in a slow divergence the trend moves along, so no row is a spike, but the learned state is
lost.
Fix: the DRI decides: roll back to a checkpoint before the rise, lower the learning rate, or stop.
Source: the seed's 50 %, of the smoothed level against the lowest it ever was, for 50 rows; only for
a curve that had fallen by a fifth.
"""

from dataclasses import dataclass

from pydantic import PositiveInt

from herorun.core.check import Gate, Response, Topic, check
from herorun.core.evidence import Excursion, History, Metrics
from herorun.core.finding import Verdict
from herorun.core.health.excursion import judged


@dataclass(frozen=True)
class Limits:
    """It begins 50 % above the lowest smoothed level; `rows` is how long it must last."""

    rows: PositiveInt = 50


@check(Gate.HEALTH, Response.ESCALATE, topic=Topic.METRIC, vetoes_relaunch=True)
def loss_diverged(metrics: Metrics, history: History, limits: Limits) -> list[Verdict]:
    def lasts(excursion: Excursion) -> bool:
        return excursion.rows >= limits.rows

    return judged(metrics, history, metrics.of("diverged"), lasts, "no divergence")
