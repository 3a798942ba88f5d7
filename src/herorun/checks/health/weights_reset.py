"""The loss repeats the first rows of the run, or of the run that it starts from: training began
from untrained weights.

Why: a start that loads nothing looks like a continued run, and overwrites good checkpoints with bad
ones.
Fix: stop the job before it overwrites a checkpoint, and go back to the newest one from before the
reset (`herorun rollback RUN --to STEP --stop-first`; STEP: see `herorun checkpoints list RUN`).
Source: public tuning runs that began again unnoticed. Four rows are within 10 % of the first four,
after the loss had fallen to half; then the loss stays high for three quarters of the rows that its
first descent took, at most for 100. If the step counter begins again too, four rows within 40 % are
enough; fewer if the run had fewer rows by then, but at least two.
"""

from herorun.core.check import Gate, Response, Topic, check
from herorun.core.evidence import (
    Excursion,
    History,
    Metrics,
    Nothing,
    PriorLaunch,
    SourceLoss,
    Unavailable,
)
from herorun.core.finding import Verdict, failed
from herorun.core.health.excursion import duration, judge_excursions
from herorun.core.health.first_losses import opening_of, repeats, weights_of
from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_pydantic import PositiveInt
from herorun.core.notify.escalation import EscalationReason


@dataclass(frozen=True)
class Limits:
    """Fires `rows` rows after the three quarters."""

    rows: PositiveInt = 1


@check(
    Gate.HEALTH,
    Response.ESCALATE,
    topic=Topic.LINEAGE,
    vetoes_relaunch=True,
    asks=EscalationReason.LINEAGE,
)
def weights_reset(
    metrics: Metrics,
    history: History,
    prior: PriorLaunch | Nothing | Unavailable,
    source: SourceLoss | Nothing | Unavailable,
    limits: Limits,
) -> list[Verdict]:
    """If the run starts from another run's checkpoint, its rows are also compared with that run's
    first rows.
    """

    def lasts(excursion: Excursion) -> bool:
        return excursion.rows >= limits.rows

    if isinstance(prior, PriorLaunch) and isinstance(source, SourceLoss):
        start, opening = weights_of(prior, history), opening_of(metrics, history)
        if start and repeats(opening, source):
            return [failed(_describe_repeated_losses(start, opening, source), subject="first rows")]
    excursions = metrics.of("untrained")
    return judge_excursions(
        metrics, history, excursions, lasts, "no return to the beginning", describe=_began_again
    )


def _began_again(excursion: Excursion) -> str:
    return (
        "training began again from untrained weights: the loss had come down to "
        f"{excursion.expected:.4g}, and was that of the first rows again, "
        f"{excursion.expected * excursion.usual:.4g}, for {duration(excursion)}"
    )


def _describe_repeated_losses(start: str, opening: tuple[float, ...], source: SourceLoss) -> str:
    saved_text = (
        f"; it was saved at a loss of {source.level:.4g}" if source.level is not None else ""
    )
    return (
        f"the weights of {start} were not loaded: the first losses "
        f"({', '.join(f'{loss:.4g}' for loss in opening)}) are the first losses of "
        f"{source.slug}{saved_text}"
    )
