"""The newest complete checkpoint is more than one and a half save intervals old.

Why: the next crash loses every step since the newest complete checkpoint, and a stuck write gives
no message.
Fix: check in the job's log (`herorun logs RUN`) and in the store whether a save is in progress,
whether there is space, and whether the job may write there.
Source: one and a half save intervals allow for a slow write, but not for a missing one.
"""

from herorun.core.check import Gate, Hold, Response, Topic, check
from herorun.core.contract import Contract
from herorun.core.evidence import Checkpoints, History, Job, Metrics
from herorun.core.finding import Verdict
from herorun.core.health.checkpoint_lag import CheckpointPatience, overdue
from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_pydantic import PositiveFloat


@dataclass(frozen=True)
class Limits(CheckpointPatience):
    """How many save intervals may pass without a complete checkpoint; a save may take `grace`, and
    a start `startup`.
    """

    intervals: PositiveFloat = 1.5


# The store is read in parallel with the rows, so a short job can have saved since: a second tick
# must confirm the finding.
@check(
    Gate.HEALTH,
    Response.WARN,
    hold=Hold(ticks=2),
    topic=Topic.CHECKPOINTS,
    inhibited_by=("nothing-saved", "stalled-checkpoints"),
)
def late_checkpoints(
    job: Job,
    contract: Contract,
    checkpoints: Checkpoints,
    metrics: Metrics,
    history: History,
    limits: Limits,
) -> Verdict:
    return overdue(job, contract, checkpoints, metrics, history, limits)
