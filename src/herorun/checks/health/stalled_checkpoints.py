"""No complete checkpoint has appeared for two and a half save intervals, although steps advance.

Why: a crash now discards more than two save intervals of the whole cluster.
Fix: find out why the writes fail or never complete (`herorun logs RUN`), before the job ends; the
DRI decides whether to stop it.
Source: marin-community/marin, manage-hero-run: alert before the rollback window collapses; after
two and a half save intervals, one save was certainly missed.
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

    intervals: PositiveFloat = 2.5


# The store is read in parallel with the rows, so a short job can have saved since: a second tick
# must confirm the finding.
@check(Gate.HEALTH, Response.ESCALATE, hold=Hold(ticks=2), topic=Topic.CHECKPOINTS)
def stalled_checkpoints(
    job: Job,
    contract: Contract,
    checkpoints: Checkpoints,
    metrics: Metrics,
    history: History,
    limits: Limits,
) -> Verdict:
    return overdue(job, contract, checkpoints, metrics, history, limits)
