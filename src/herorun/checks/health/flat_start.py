"""The loss has stood still since the run's first rows: it learns nothing.

Why: weights that get no gradient, or one far too large, print the loss of untrained ones forever; no rule for a loss
that rises sees it, and every step is paid for nothing.
Fix: look at the gradient norm, at the learning rate that is applied and at the labels; stop it before it has used more.
Source: eight public image and language runs that stayed at the logarithm of their classes from the third row on; 100
rows and 2,000 steps without a fall, at hardly any noise (`core.detectors.first_rows`): slow warm-ups do not move for
less. `frozen-loss` says it from 30 rows and 500 steps on.
"""

from dataclasses import dataclass

from pydantic import PositiveInt

from herorun.core.check import Gate, Response, Topic, check
from herorun.core.evidence import (
    Excursion,
    History,
    Metrics,
    Nothing,
    PriorLaunch,
    Unavailable,
)
from herorun.core.finding import Verdict, not_applicable
from herorun.core.health.excursion import flat_words, judged
from herorun.core.health.opening import is_untrained, vocabulary, weights_of


@dataclass(frozen=True)
class Limits:
    """How long it must last after the loss was seen not to move, at 30 rows and 500 steps at the earliest."""

    rows: PositiveInt = 70
    steps: PositiveInt = 1500


@check(Gate.HEALTH, Response.ESCALATE, topic=Topic.METRIC)
def flat_start(
    metrics: Metrics,
    history: History,
    prior: PriorLaunch | Nothing | Unavailable,
    limits: Limits,
) -> list[Verdict]:
    """Trained weights may stand still for a while, with a loss that says that they are."""
    known = vocabulary(prior.config) if isinstance(prior, PriorLaunch) else None
    if isinstance(prior, PriorLaunch) and weights_of(prior, history):
        return [not_applicable("the run starts from trained weights")]

    def lasts(flat: Excursion) -> bool:
        trained = known is not None and not is_untrained(flat.expected, known)
        return flat.rows >= limits.rows and flat.steps >= limits.steps and not trained

    return judged(metrics, history, metrics.of("flat"), lasts, "no flat start", flat_words)
