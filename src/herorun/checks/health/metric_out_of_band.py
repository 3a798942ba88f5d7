"""A router metric, a z-loss or a loss scale is far from its expected value, or a metric is outside
the band that the contract gives it.

Why: a collapsing router, a growing z-loss or a loss scale below 1 shows an instability before the
loss does.
Fix: the DRI decides: roll back to a checkpoint before it (`herorun rollback RUN --to STEP
--stop-first`; STEP: see `herorun checkpoints list RUN`), or continue. No relaunch fixes a numerical
problem. Bands are set under [babysit.thresholds.metric-out-of-band].
Source: marin-community/marin, manage-hero-run: router collapse, sudden z-loss and router changes,
optimizer instability; without a band, three times or a third of the trend; Megatron and DeepSpeed
end the search of a loss scale at 1.
"""

import math
from typing import Annotated

from herorun.core.check import Gate, Response, Topic, check
from herorun.core.detectors.band import FAR
from herorun.core.evidence import Excursion, History, Metrics
from herorun.core.finding import Verdict, count
from herorun.core.health.excursion import duration, format_ratio, judge_excursions
from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_pydantic import PositiveInt, StringConstraints

Band = Annotated[
    str, StringConstraints(pattern=r"^\S+ -?[0-9.]+(e-?[0-9]+)? -?[0-9.]+(e-?[0-9]+)?$")
]


@dataclass(frozen=True)
class Limits:
    """An excursion must last for `rows`. Each entry of `bands` is a metric, its lowest and its
    highest allowed value: "router/load 0.1 0.9".
    """

    rows: PositiveInt = 10
    bands: tuple[Band, ...] = ()


@check(Gate.HEALTH, Response.ESCALATE, topic=Topic.METRIC, vetoes_relaunch=True)
def metric_out_of_band(metrics: Metrics, history: History, limits: Limits) -> list[Verdict]:
    def lasts(excursion: Excursion) -> bool:
        return excursion.rows >= limits.rows

    def limit(excursion: Excursion) -> str:
        rows = count(limits.rows, "row")
        return (
            f"{rows} beyond the bound"
            if excursion.kind == "band"
            else f"{FAR:g} times the expected value, or a third of it, for {rows}"
        )

    return judge_excursions(
        metrics,
        history,
        metrics.of("band", "wander"),
        lasts,
        "nothing out of its band",
        describe=_describe_departure,
        limit=limit,
    )


def _describe_departure(excursion: Excursion) -> str:
    """A metric with a band is compared with the bound that it passed, any other with its trend."""
    if excursion.kind != "band":
        return format_ratio(excursion)
    value = excursion.expected * excursion.peak
    value_text = f"reached {value:.4g}, and " if math.isfinite(value) and value > 0 else ""
    return (
        f"{excursion.metric} {value_text}was beyond its bound of {excursion.expected:.4g} for "
        f"{duration(excursion)}"
    )
