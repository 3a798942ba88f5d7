"""The loss is at the maximum that a clipped probability allows.

Why: the probability of the right class is rounded to zero for every example. The loss is then -ln
of the smallest float, 87.3365, or of the program's own clip, and its gradient is zero or not
finite; where the probability is not clipped, the same weights give NaN.
Fix: roll back to a checkpoint before it (`herorun rollback RUN --to STEP --stop-first`; STEP: see
`herorun checkpoints list RUN`), or begin again with a lower learning rate; check the labels and the
scale of the inputs.
Source: 126 ln 2, the largest loss in single precision, to four decimals (`core.detectors.loss`): no
mean over real predictions comes so near to it. Public Caffe runs never left it once they had
reached it. Programs that clip probabilities themselves have -ln(1e-8) to -ln(1e-16) as largest
loss, and Keras 23 ln 2; these count in three equal rows.
"""

from herorun.core.check import Gate, Response, Topic, check
from herorun.core.evidence import Excursion, History, Metrics
from herorun.core.finding import Verdict, count
from herorun.core.health.excursion import judge_excursions, state
from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_pydantic import PositiveInt


@dataclass(frozen=True)
class Limits:
    """How many consecutive rows."""

    rows: PositiveInt = 1


@check(Gate.HEALTH, Response.ESCALATE, topic=Topic.NUMERIC, vetoes_relaunch=True)
def saturated_loss(metrics: Metrics, history: History, limits: Limits) -> list[Verdict]:
    def lasts(excursion: Excursion) -> bool:
        return excursion.rows >= limits.rows

    return judge_excursions(
        metrics,
        history,
        metrics.of("saturated"),
        lasts,
        "no saturated loss",
        describe=_describe,
    )


def _describe(excursion: Excursion) -> str:
    return (
        f"{excursion.metric} is {excursion.expected:.6g}, the largest that a clipped probability "
        f"gives, for {count(excursion.rows, 'row')} from step {excursion.first_step}, "
        f"{state(excursion)}: every probability of a right class is zero"
    )
