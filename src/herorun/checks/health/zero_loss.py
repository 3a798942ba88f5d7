"""The loss is exactly zero.

Why: overflowed half precision prints 0.0 for thousands of steps, and a rule for high losses does
not detect it.
Fix: look at the gradient norm and the loss scale before that step; roll back to a checkpoint before
it (`herorun rollback RUN --to STEP --stop-first`; STEP: see `herorun checkpoints list RUN`).
Source: two public fine-tuning runs with a loss of 0.0 and a gradient norm of nan for 6,000 and
15,000 steps. A loss that is small by nature is printed as zero now and then, so it fires after ten
rows. It fires after only two if the row before was 1 nat or more, unless the gradient norm is zero
or not finite: such a batch may have had no labels. One row of zero may be a batch without labels.
"""

from herorun.core.check import Gate, Response, Topic, check
from herorun.core.evidence import Excursion, History, Metrics
from herorun.core.finding import Verdict, count
from herorun.core.health.excursion import format_zeros, judge_excursions
from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_pydantic import PositiveInt


@dataclass(frozen=True)
class Limits:
    """Fires after `rows` consecutive rows of zero; after `sudden_rows` if the loss was 1 nat or
    more before.
    """

    rows: PositiveInt = 10
    sudden_rows: PositiveInt = 2


@check(Gate.HEALTH, Response.ESCALATE, topic=Topic.NUMERIC, vetoes_relaunch=True)
def zero_loss(metrics: Metrics, history: History, limits: Limits) -> list[Verdict]:
    def lasts(excursion: Excursion) -> bool:
        if excursion.kind == "emptied":
            return excursion.rows >= limits.sudden_rows
        return excursion.rows >= limits.rows and excursion.first_step not in begins

    begins = {excursion.first_step for excursion in metrics.of("emptied")}
    zeros = metrics.of("collapsed", "emptied")
    return judge_excursions(
        metrics,
        history,
        zeros,
        lasts,
        "no loss of zero",
        describe=format_zeros,
        limit=lambda zero: (
            f"{count(limits.sudden_rows, 'row')} after a loss of 1 or more"
            if zero.kind == "emptied"
            else count(limits.rows, "row")
        ),
    )
