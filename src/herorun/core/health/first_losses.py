"""The loss of a run's first rows, against what untrained weights give. Pure.

A model that knows nothing gives each of `V` tokens the same probability: its loss is ln V, a little
more by its random start. That of a trained one is far lower.
"""

import math
from collections.abc import Mapping
from typing import Any

from herorun.core.config.key_classes import snake_parts
from herorun.core.config.normalise import flatten, whole_number
from herorun.core.evidence import History, Metrics, PriorLaunch, SourceLoss
from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_statistics import fmean

ROWS = 4  # as many as the folds keep of a run's beginning
ALIKE = 0.1  # as a logarithm: within it two rows repeat each other
# times that a loss must have fallen by, so that its beginning differs from what came later
LEARNED_RATIO = 2.0
MIN_RATIO, MAX_RATIO = 0.9, 1.5  # of ln V; beyond, the loss is no mean over tokens in nats
# times ln 2: the mean loss of the first rows, where a decision between two is open
UNDECIDED_RATIOS = (0.9, 1.2)
FALL_RATIO = 1.25  # times that a loss must fall by, to have decided anything
_VOCABULARY = frozenset(["vocab_size", "padded_vocab_size", "n_vocab"])
_MICRO_BATCHES = frozenset(
    [
        "gradient_accumulation_steps",
        "grad_accum_steps",
        "accumulate_grad_batches",
        "num_microbatches",
    ]
)


@dataclass(frozen=True)
class Vocabulary:
    key: str
    size: int

    @property
    def untrained_loss(self) -> float:
        """The loss of a model that knows nothing."""
        return math.log(self.size)


def weights_of(prior: PriorLaunch, history: History) -> str:
    """The checkpoint whose weights the run's first instance was to start from; empty where there is
    none, or later.
    """
    start = prior.plan.get("start")
    if len(history.instances) != 1 or prior.adopted or not isinstance(start, Mapping):
        return ""
    return str(start.get("path") or "")


def vocabulary(config: Mapping[str, Any]) -> Vocabulary | None:
    """The largest that the config names; the others are of a tokenizer before it is padded."""
    sizes = ((key, whole_number(value)) for key, value in flatten(config).items())
    candidates = [
        Vocabulary(k, n) for k, n in sizes if n and n > 1 and snake_parts(k)[-1] in _VOCABULARY
    ]
    return max(candidates, key=lambda each: each.size, default=None)


def micro_batches(config: Mapping[str, Any]) -> int:
    """How many of them one step adds up, by the config; 1 where it does not say."""
    counts = (
        whole_number(value)
        for key, value in flatten(config).items()
        if snake_parts(key)[-1] in _MICRO_BATCHES
    )
    return max((count for count in counts if count), default=1)


def opening_of(metrics: Metrics, history: History) -> tuple[float, ...]:
    """The losses of the run's first rows; empty until all of them are there."""
    return metrics.opening if len(metrics.opening) == ROWS and history.wrote(metrics) else ()


def is_untrained(loss: float, vocab: Vocabulary) -> bool:
    return MIN_RATIO <= loss / vocab.untrained_loss <= MAX_RATIO


def may_rise(metrics: Metrics, usual: float) -> bool:
    """Whether a loss that is `usual` now may rise although nothing is wrong: a column shows that
    two models are trained against each other; or it began where a discriminator cannot tell real
    from generated, and has not fallen. A generator's loss is lowest there.
    """
    if metrics.rival:
        return True
    (low, high), opening = UNDECIDED_RATIOS, metrics.opening
    began = len(opening) == ROWS and low <= fmean(opening) / math.log(2) <= high
    return (
        began and max(opening) < FALL_RATIO * min(opening) and usual * FALL_RATIO > fmean(opening)
    )


def repeats(opening: tuple[float, ...], source: SourceLoss) -> bool:
    """Whether each row is like the same one of a run that had learned since: its weights would give
    less.
    """
    if source.level is None or fmean(opening or (0.0,)) < LEARNED_RATIO * source.level:
        return False
    both = list(zip(opening, source.opening, strict=False))
    return len(both) == ROWS and all(
        one > 0 and two > 0 and abs(math.log(one / two)) < ALIKE for one, two in both
    )
