"""The trainer's step differs from the step of its rows in the tracker.

Why: a tracker counts calls if the trainer gives it no step, and refuses steps below its own counter
after a rollback; progress, final step and resumes are then judged by the wrong number.
Fix: log with the trainer's step (`wandb.log(..., step=global_step)`); if the tracker refuses rows
after a rollback, fork the run instead (`herorun fork RUN NEW --from STEP`), and never use W&B's
rewind.
Source: marin-community/marin, manage-hero-run: `global_step` is validated against the tracker's
state and time.
"""

from typing import ClassVar

from herorun.core.check import Gate, Hold, Response, Topic, check
from herorun.core.contract import Contract
from herorun.core.evidence import History, Metrics
from herorun.core.finding import Verdict, failed, not_applicable, passed
from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_pydantic import PositiveInt

COUNTERS = ("global_step", "train/global_step", "trainer/global_step")


@dataclass(frozen=True)
class Limits:
    """The two may differ by `max_step_difference` steps: one may count from 0 and the other
    from 1.
    """

    RENAMED: ClassVar = {"apart": "max_step_difference"}

    max_step_difference: PositiveInt = 1


@check(Gate.HEALTH, Response.WARN, hold=Hold(ticks=2), topic=Topic.MONITOR)
def differing_step_counters(
    metrics: Metrics, contract: Contract, history: History, limits: Limits
) -> list[Verdict]:
    if not history.wrote(metrics):
        return [not_applicable("there is no row of this instance yet")]
    last_logged = metrics.step - 1 + contract.tracker.first_step
    own = {name: value for name, value in (metrics.last or {}).items() if name in COUNTERS}
    differing = [
        failed(
            f"the newest row has {name} = {value:g}, but is logged under step {last_logged}",
            subject=name,
        )
        for name, value in own.items()
        if not abs(value - last_logged) <= limits.max_step_difference
    ]
    if not own:
        return [not_applicable(f"the newest row has none of {', '.join(COUNTERS)}")]
    counters = ", ".join(f"{name} = {value:g}" for name, value in own.items())
    return differing or [
        passed(f"the newest row has {counters} and is logged under step {last_logged}")
    ]
