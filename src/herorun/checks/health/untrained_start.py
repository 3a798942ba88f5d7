"""A run that starts from another run's checkpoint begins at the loss of untrained weights, or far
above the other run's loss.

Why: a launch that should have loaded weights and loaded none repeats work that was paid for; if the
trainer's log does not say so, only the level of the first rows shows it.
Fix: read in the job's log what was loaded (`herorun logs RUN`); if nothing was, stop the job
(`herorun stop RUN`) and launch it again. A new vocabulary or new data may explain it: then
acknowledge it (`herorun ack RUN`).
Source: an untrained model gives each of V tokens the same probability, so its loss is ln V.
"""

from herorun.core.check import Gate, Response, Topic, check
from herorun.core.evidence import History, Metrics, Nothing, PriorLaunch, SourceLoss, Unavailable
from herorun.core.finding import Verdict, failed, not_applicable
from herorun.core.health.first_losses import is_untrained, opening_of, vocabulary, weights_of
from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_pydantic import PositiveFloat
from herorun.core.lazy_statistics import fmean
from herorun.core.notify.escalation import EscalationReason


@dataclass(frozen=True)
class Limits:
    """The first rows may have up to `times` the loss of the run that they start from, because
    different data also change the loss.
    """

    times: PositiveFloat = 1.5


@check(Gate.HEALTH, Response.WARN, topic=Topic.LINEAGE, asks=EscalationReason.LINEAGE)
def untrained_start(
    metrics: Metrics,
    history: History,
    prior: PriorLaunch,
    source: SourceLoss | Nothing | Unavailable,
    limits: Limits,
) -> Verdict:
    """The check never passes: a low loss does not prove what was loaded."""
    start = weights_of(prior, history)
    if not start:
        return not_applicable("the run starts from scratch, or from its own checkpoint")
    opening = opening_of(metrics, history)
    if not opening:
        return not_applicable("too few first rows")
    level = fmean(opening)
    before = source.level if isinstance(source, SourceLoss) else None
    message = f"the first rows' loss is {level:.4g}"
    if vocab := vocabulary(prior.config):
        chance_loss = (
            f"untrained weights give {vocab.untrained_loss:.4g} (ln of {vocab.key} = {vocab.size})"
        )
        if is_untrained(level, vocab) and not (before and is_untrained(before, vocab)):
            return failed(
                f"{message}, and {chance_loss}; the plan starts from {start}", subject="first rows"
            )
    if isinstance(source, SourceLoss) and before and level > limits.times * before:
        save_text = f"{source.slug} was at {before:.4g} when it saved {start}"
        return failed(
            f"{message}, and {save_text}: {level / before - 1:+.0%}; the limit is "
            f"{limits.times - 1:+.0%}",
            subject="first rows",
        )
    return not_applicable(f"{message}, which does not show whether {start} was loaded")
