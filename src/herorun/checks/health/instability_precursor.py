"""A metric grows in a way that often precedes a diverging loss, or the gradient norm jumped.

Why: attention logits, the ratio of g^2 to v, the updates and a router's entropy show some
instabilities before the loss does.
Fix: do nothing yet, but watch the loss and the gradient norm. If both stay normal for thousands of
steps, ignore this alert.
Source: QK-Clip of Kimi K2 and Wortsman et al. 2023. Five means in a row, of 25 to 1,600 rows each,
rise linearly or faster, by half at least (`python -m benchmarks.precursors`). A gradient norm of
ten times its average preceded one public event in nine: too few for an alert.
"""

import math
from typing import ClassVar

from herorun.core.check import Gate, Response, Topic, check
from herorun.core.detectors.grad_norm import EXPLOSION_RATIO
from herorun.core.evidence import Excursion, History, Metrics
from herorun.core.finding import Verdict, count
from herorun.core.health.excursion import format_ratio, judge_excursions, state
from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_pydantic import PositiveFloat, PositiveInt


@dataclass(frozen=True)
class Limits:
    """The growth must last for `rows` after its five means.

    The gradient norm must be ten times its average for `norm_rows` rows, and must exceed the
    average by `norm_noise_ratio` times its noise.
    """

    RENAMED: ClassVar = {"norm_noises": "norm_noise_ratio"}

    rows: PositiveInt = 25
    norm_rows: PositiveInt = 1
    norm_noise_ratio: PositiveFloat = 4.0


@check(Gate.HEALTH, Response.INFO, topic=Topic.METRIC)
def instability_precursor(metrics: Metrics, history: History, limits: Limits) -> list[Verdict]:
    """Only trainers that log such columns are covered; most log none."""

    def lasts(excursion: Excursion) -> bool:
        if excursion.declared:
            return False
        if excursion.kind == "growth":
            return excursion.rows >= limits.rows
        beyond_noise = math.log(excursion.peak) >= limits.norm_noise_ratio * excursion.noise
        return excursion.rows >= limits.norm_rows and beyond_noise

    early = metrics.of("growth", "explosion")
    return judge_excursions(
        metrics,
        history,
        early,
        lasts,
        "no growth of the kind that precedes an instability",
        describe=_describe,
        limit=lambda e: (
            f"{EXPLOSION_RATIO:g} times the average"
            if e.kind == "explosion"
            else f"such a rise for {count(limits.rows, 'row')}"
        ),
    )


def _describe(excursion: Excursion) -> str:
    if excursion.kind == "explosion":
        return format_ratio(excursion, "its average of")
    return (
        f"{excursion.metric} rose from {excursion.expected:.4g} to "
        f"{excursion.expected * excursion.peak:.4g}, without slowing down, {state(excursion)}"
    )
