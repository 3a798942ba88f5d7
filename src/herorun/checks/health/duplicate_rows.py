"""Each step is reported twice, with two different losses.

Why: a second trainer from the same checkpoint looks like this, and so do ranks that all log; only
the first loss of each step is judged.
Fix: look for a second job under this name and stop it; otherwise let only one rank log.
Source: marin-community/marin: a second submission would compete for the same tree. It fires after
ten repeated steps close to each other, because the first steps after a restart repeat.
"""

from herorun.core.check import Gate, Response, Topic, check
from herorun.core.evidence import History, Metrics
from herorun.core.finding import Verdict, failed, not_applicable, passed
from herorun.core.health.excursion import state
from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_pydantic import PositiveInt


@dataclass(frozen=True)
class Limits:
    """Fires after 9 + `steps` steps that are reported twice."""

    steps: PositiveInt = 1


@check(Gate.HEALTH, Response.WARN, topic=Topic.MONITOR)
def duplicate_rows(metrics: Metrics, history: History, limits: Limits) -> list[Verdict]:
    """One verdict, even if the duplicates stopped and began again."""
    if not history.wrote(metrics):
        return [not_applicable("no row of this instance yet")]
    excursions = [e for e in metrics.of("doubled") if e.rows >= limits.steps]
    if not excursions:
        return [
            passed(f"each step is reported once up to step {metrics.logged_step(metrics.step)}")
        ]
    first = metrics.logged_step(min(excursion.first_step for excursion in excursions))
    message = (
        f"each step is reported twice from about step {first} on, with different losses, "
        f"{state(metrics.as_logged(excursions[-1]))}; "
        "check whether two trainers run or every rank logs"
    )
    return [failed(message, subject="rows")]
