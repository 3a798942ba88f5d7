"""All losses so far are no better than that of untrained weights.

Why: a run that is broken from its first row has no healthy rows to be compared with; the config's
vocabulary size shows what their loss would be.
Fix: if the loss is far above that of untrained weights, check the initial weights, the labels'
shift and whether the loss is a sum over tokens. If it is about equal, check that the gradients
reach the weights, that the labels belong to the inputs and are not masked, and the learning rate of
each group. Stop the job if nothing explains it (`herorun stop RUN`); acknowledge the alert if the
loss is a sum by design (`herorun ack RUN`).
Source: an untrained model gives each of V tokens the same probability, so its loss is ln V. Tokens
are not equally frequent, so the loss soon falls below that: 61 public curves that begin at the
logarithm of a usual vocabulary are below 0.98 times ln V after at most 100 steps, warm-up included.
"""

from typing import ClassVar

from herorun.core.check import Gate, Response, Topic, check
from herorun.core.evidence import History, LeastLoss, Metrics, PriorLaunch
from herorun.core.finding import Verdict, count, failed, not_applicable, passed
from herorun.core.health.first_losses import (
    MAX_RATIO,
    Vocabulary,
    is_untrained,
    micro_batches,
    vocabulary,
)
from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_pydantic import PositiveFloat, PositiveInt

SUMMED_LOSS_RATIO = (
    50.0  # times ln V: a sum over the tokens of a sequence is more, a bad start hardly ever
)
NATURAL = 1000  # tokens at least; fewer may be symbols of a task, all equally frequent


@dataclass(frozen=True)
class Limits:
    """V is the vocabulary size. The check fails if all of `rows` rows are above `times` x ln V. It
    also fails if all rows are above `held_times` x ln V for `held_rows` rows and `held_steps`
    steps since the learning rate last rose.
    """

    RENAMED: ClassVar = {"learned": "held_times"}

    rows: PositiveInt = 4
    times: PositiveFloat = MAX_RATIO
    held_times: PositiveFloat = 0.98
    held_rows: PositiveInt = 8
    held_steps: PositiveInt = 200


@check(Gate.HEALTH, Response.WARN, topic=Topic.METRIC)
def loss_above_chance(
    metrics: Metrics, history: History, prior: PriorLaunch, limits: Limits
) -> Verdict:
    least, vocab = metrics.least, vocabulary(prior.config)
    if not history.wrote(metrics) or least is None or prior.adopted:
        return not_applicable("no first rows of this plan yet")
    if vocab is None:
        return not_applicable("the config names no vocabulary size")
    chance_text = (
        f"untrained weights give {vocab.untrained_loss:.4g} (ln of {vocab.key} = {vocab.size})"
    )
    ratio, parts = least.lowest / vocab.untrained_loss, micro_batches(prior.config)
    if least.rows < limits.rows:
        return not_applicable(f"not judged before row {limits.rows}")
    if ratio > SUMMED_LOSS_RATIO:
        return not_applicable(f"a loss of {least.lowest:.4g} is no mean over tokens: {chance_text}")
    if ratio > limits.times and parts > 1 and is_untrained(least.lowest / parts, vocab):
        return not_applicable(
            f"the loss may be the sum of {count(parts, 'micro-batch', 'micro-batches')}: "
            f"{chance_text}"
        )
    lowest = f"the lowest loss of {count(least.rows, 'row')} is {least.lowest:.4g} nats"
    if ratio > limits.times:
        return failed(
            f"{lowest}, {ratio:.1f} times that of untrained weights (limit {limits.times:g}); "
            f"{chance_text}",
            subject="first rows",
        )
    if ratio < limits.held_times:
        return passed(f"{lowest}; {chance_text}")
    return _at_chance(least, vocab, lowest, chance_text, limits)


def _at_chance(
    least: LeastLoss, vocab: Vocabulary, lowest: str, chance_text: str, limits: Limits
) -> Verdict:
    """The verdict on a loss at that of untrained weights; during the warm-up such a loss is
    normal.
    """
    if vocab.size < NATURAL:
        return not_applicable(
            f"not judged: with {count(vocab.size, 'token')} such a loss may be the best possible"
        )
    if least.rate_held is None:
        return not_applicable("not judged: no learning rate is logged, so this may be the warm-up")
    if least.rate_held < limits.held_steps or least.rows < limits.held_rows:
        return not_applicable(
            f"not judged before row {limits.held_rows}, nor within "
            f"{count(limits.held_steps, 'step')} of the last rise of the learning rate, which was "
            f"{count(least.rate_held, 'step')} ago"
        )
    return failed(
        f"the run learns nothing: {lowest}, and {chance_text}; the learning rate last rose "
        f"{count(least.rate_held, 'step')} ago (limit {limits.held_steps})",
        subject="first rows",
    )
