"""The loss has never moved since the run's first rows: the run learns nothing.

Why: weights that get no gradient, or one far too large, keep the loss of untrained weights; no rule
for a rising loss detects it, and every step is wasted.
Fix: check the gradient norm, the applied learning rate and the labels, and stop the job early
(`herorun stop RUN`).
Source: eight public image and language runs stayed at the logarithm of their number of classes from
the third row on.

It fires after 100 rows and 2,000 steps without a fall and with hardly any noise, because a slow
warm-up stays flat for a shorter time. It fires earlier in five cases:

- The loss falls at once to the logarithm of a common number of classes, and never below: after 40
  rows and 800 steps, even with jumps upwards; or after 30 rows and 500 steps, if 14 of the newest
  20 rows are above that logarithm.
- The loss begins up to a fifth above the logarithm of a common number of classes, at least 100, and
  never comes down to it: after 40 rows and 800 steps, if 14 of the newest 20 rows are above the
  first.
- The rows differ by no more than the rounding of single precision: after 8 rows and 500 steps. The
  500 steps are needed only if the loss is the logarithm of a whole number: weights whose last
  layer begins with zeros have such a loss until the warm-up moves them.
- The record begins after step 500: after 8 rows within 0.3 % of the logarithm of a common number of
  classes, at least 100.
- A second pass over the data has the same losses as the first, to the last digit: after as many
  rows as the first pass has.

`frozen-loss` warns about each flat loss after 30 rows and 500 steps.
"""

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
from herorun.core.health.excursion import format_flat, judge_excursions
from herorun.core.health.first_losses import Vocabulary, is_untrained, vocabulary, weights_of
from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_pydantic import PositiveInt

CHANCE = 0.005  # of the loss, around the logarithm of the vocabulary


@dataclass(frozen=True)
class Limits:
    """Fires after 30 + `rows` flat rows and 500 + `steps` flat steps.

    At the logarithm of the vocabulary size that the config names, `chance_rows` more are enough. If
    the loss is one number in 8 rows and for 500 steps, or repeats its first rows, `constant_rows`
    more are enough.
    """

    rows: PositiveInt = 70
    steps: PositiveInt = 1500
    chance_rows: PositiveInt = 10
    constant_rows: PositiveInt = 1


@check(Gate.HEALTH, Response.ESCALATE, topic=Topic.METRIC)
def flat_start(
    metrics: Metrics,
    history: History,
    prior: PriorLaunch | Nothing | Unavailable,
    limits: Limits,
) -> list[Verdict]:
    """A run from trained weights is not judged: its loss may stay flat for a while."""
    vocab = vocabulary(prior.config) if isinstance(prior, PriorLaunch) else None
    if isinstance(prior, PriorLaunch) and weights_of(prior, history):
        return [not_applicable("the run starts from trained weights")]

    chance = any(each.open for each in metrics.of("chance"))

    def lasts(flat: Excursion) -> bool:
        if flat.kind in ("constant", "repeats", "above"):
            return flat.rows >= limits.constant_rows
        if flat.kind == "chance":
            return vocab is None or _is_chance(flat, vocab)
        if chance:
            return False
        if vocab is not None and _is_chance(flat, vocab):
            return flat.rows >= limits.chance_rows
        is_trained = vocab is not None and not is_untrained(flat.expected, vocab)
        return flat.rows >= limits.rows and flat.steps >= limits.steps and not is_trained

    return judge_excursions(
        metrics,
        history,
        metrics.of("flat", "chance", "above", "constant", "repeats"),
        lasts,
        "no flat start",
        describe=format_flat,
        check="flat-start",
    )


def _is_chance(flat: Excursion, vocab: Vocabulary) -> bool:
    """Whether the flat loss is that of untrained weights, by the known vocabulary."""
    return abs(flat.expected / vocab.untrained_loss - 1) < CHANCE
