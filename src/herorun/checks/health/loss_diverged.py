"""The loss had fallen, has risen far above its lowest level, and stays there.

Why: in a slow divergence the trend moves along, so no row is a spike, but the learned state is
lost.
Fix: the DRI decides: roll back to a checkpoint before the rise (`herorun rollback RUN --to STEP
--stop-first`; STEP: see `herorun checkpoints list RUN`), lower the learning rate, or stop (`herorun
stop RUN`).
Source: the 50 % are those of marin-community/marin, manage-hero-run, here of the smoothed loss
above its lowest level. The other limits are set on the public curves of docs/backtest.md. A jump by
15 %: two language runs rose from 1.21 to 1.74 and from 2.35 to 2.95 and never came back, and no
clean curve stayed 2 % higher for 20 rows. A raised level without a trend: no clean or noisy curve,
at five row rates, has 40 rows of which all but two are above all but two of the 60 before, but for
one critic, by 10 %. A lasting rise by a fifth of the earlier fall: in an image run the loss rose by
a quarter of its fall, 10 % of its value, and no clean curve stayed a fifth of its fall higher for
500 rows.
"""

import math
from typing import ClassVar

from herorun.core.check import Gate, Response, Topic, check
from herorun.core.detectors.loss import DIVERGED_RATIO, REGRESSION_RATIO
from herorun.core.evidence import Excursion, History, Metrics
from herorun.core.finding import Verdict, count
from herorun.core.health.excursion import judge_excursions
from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_pydantic import PositiveFloat, PositiveInt


@dataclass(frozen=True)
class Limits:
    """Fails if the smoothed loss is 50 % above its lowest level for `rows`, on a curve that had
    fallen by a fifth. Also if the loss has risen by 5 %, and by a fifth of its earlier fall, for
    `regressed_rows`. Also if it jumped: for `leap_rows` and `leap_steps` its mean is `leap_ratio`
    times the expected loss, and at least `noise_ratio` times the noise above it. The noise does not
    count if all but two of 40 rows are above all but two of the 60 before, of a loss that had
    fallen.
    """

    RENAMED: ClassVar = {"leap": "leap_ratio", "noises": "noise_ratio"}

    rows: PositiveInt = 50
    leap_ratio: PositiveFloat = 1.15
    noise_ratio: PositiveFloat = 8.0
    leap_rows: PositiveInt = 10
    leap_steps: PositiveInt = 100
    regressed_rows: PositiveInt = 500


@check(Gate.HEALTH, Response.ESCALATE, topic=Topic.METRIC, vetoes_relaunch=True)
def loss_diverged(metrics: Metrics, history: History, limits: Limits) -> list[Verdict]:
    def lasts(excursion: Excursion) -> bool:
        if metrics.rival:
            return False  # `metrics.unjudged` says so
        if excursion.kind == "diverged":
            return excursion.rows >= limits.rows
        if excursion.kind == "regressed":
            return excursion.rows >= limits.regressed_rows and not excursion.declared
        high = excursion.height >= max(
            limits.leap_ratio, math.exp(limits.noise_ratio * excursion.noise)
        )
        long = excursion.rows >= limits.leap_rows and excursion.steps >= limits.leap_steps
        return high and long and not excursion.declared

    def limit(excursion: Excursion) -> str:
        if excursion.kind == "diverged":
            return f"{DIVERGED_RATIO:g} times the lowest level for {count(limits.rows, 'row')}"
        if excursion.kind == "regressed":
            return f"{math.exp(REGRESSION_RATIO):g} times for {count(limits.regressed_rows, 'row')}"
        return f"{limits.leap_ratio:g} times the expected loss for {count(limits.leap_rows, 'row')}"

    excursions = metrics.of("diverged", "elevated", "raised", "regressed")
    return judge_excursions(
        metrics, history, excursions, lasts, "no divergence", limit=limit, check="loss-diverged"
    )
