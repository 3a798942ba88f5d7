"""The loss is above its expected trend for many rows, by less than a spike.

Why: a level that stays a few per cent higher costs more than a spike that recovers, and no rule for
spikes detects it.
Fix: look at what changed at that step: data mixture, learning rate, a node, a restart; declare an
intended change as a [[phase]].
Source: six times the noise and at least 2 %, for 20 rows: measured on public curves by `herorun
backtest`. A spike of a loss that began at ln 2 and has not fallen since is reported here: it may be
a generator's loss, or a preference or classifier loss that goes wrong. So is a spike below three
times the expected loss where two models are trained against each other.
"""

from herorun.core.check import Gate, Response, Topic, check
from herorun.core.detectors.loss import ELEVATED_RATIO
from herorun.core.detectors.names import why_rival
from herorun.core.evidence import Excursion, History, Metrics
from herorun.core.finding import Verdict, count
from herorun.core.health.excursion import format_rise, judge_excursions
from herorun.core.health.first_losses import may_rise
from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_pydantic import PositiveInt


@dataclass(frozen=True)
class Limits:
    """An excursion begins 2 % and six times the noise above the trend, and must last for `rows`. It
    also begins if all but two of 40 rows are above all but two of the 60 before, their median by
    2 %, of a loss that had fallen.
    """

    rows: PositiveInt = 20


@check(Gate.HEALTH, Response.WARN, topic=Topic.METRIC, inhibited_by=("loss-diverged", "loss-spike"))
def loss_elevated(metrics: Metrics, history: History, limits: Limits) -> list[Verdict]:
    def lasts(excursion: Excursion) -> bool:
        return excursion.rows >= limits.rows and not excursion.declared

    def limit(excursion: Excursion) -> str:
        high, spikes = (
            f"{ELEVATED_RATIO:g} times the expected loss",
            "reports only larger rises here",
        )
        if excursion.kind == "stepped":
            high, spikes = "once that range", "does not report such rises here"
        rival = f"; loss-spike {spikes}: {why_rival(metrics.rival)}"
        return f"{high} for {count(limits.rows, 'row')}{rival if metrics.rival else ''}"

    spikes = [each for each in metrics.spikes if may_rise(metrics, each.expected)]
    levels = metrics.of("shifted", "stepped") if metrics.rival else ()
    excursions = (*metrics.of("elevated", "raised"), *spikes, *levels)
    return judge_excursions(
        metrics,
        history,
        excursions,
        lasts,
        "no raised level",
        describe=format_rise,
        limit=limit,
        check="loss-elevated",
    )
