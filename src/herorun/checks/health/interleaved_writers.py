"""Two writers alternate in one history of metrics.

Why: a second trainer under the same name mixes its rows with the first one's, and overwrites its
checkpoints; each jump back looks like a wrong resume.
Fix: find both jobs, and stop the wrong one; then find out which rows and checkpoints belong to
which.
Source: marin-community/marin: a second submission would compete for the same tree. It fires after
six alternations in a row, in each of which a writer continues where it stopped: a restart goes back
only once, and a crash loop never jumps ahead again.
"""

from herorun.core.check import Gate, Response, Topic, check
from herorun.core.evidence import Excursion, History, Metrics
from herorun.core.finding import Verdict, failed, not_applicable, passed
from herorun.core.health.excursion import state
from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_pydantic import PositiveInt
from herorun.core.notify.escalation import EscalationReason


@dataclass(frozen=True)
class Limits:
    """Fires after 5 + `turns` alternations."""

    turns: PositiveInt = 1


@check(
    Gate.HEALTH,
    Response.ESCALATE,
    topic=Topic.JOB,
    vetoes_relaunch=True,
    asks=EscalationReason.LINEAGE,
)
def interleaved_writers(metrics: Metrics, history: History, limits: Limits) -> list[Verdict]:
    """One verdict, even if the alternation stopped and began again."""
    if not history.wrote(metrics):
        return [not_applicable("no row of this instance yet")]
    excursions = [e for e in metrics.of("mixed") if e.rows >= limits.turns]
    return (
        [_report_mixed_rows(metrics, excursions[-1])]
        if excursions
        else [passed(f"one writer up to step {metrics.logged_step(metrics.step)}")]
    )


def _report_mixed_rows(metrics: Metrics, excursion: Excursion) -> Verdict:
    steps = sorted((excursion.first_step, round(excursion.expected)))
    first, second = map(metrics.logged_step, steps)
    return failed(
        f"the rows alternate between two writers, one near step {first} and one near step "
        f"{second}, {state(metrics.as_logged(excursion))}",
        subject="rows",
    )
