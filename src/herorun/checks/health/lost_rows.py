"""Rows of the tracker are missing.

Why: missing rows are never judged, and a comparison across the gap would report problems that the
training never had.
Fix: find what cut the file (log rotation, a full disk, a killed writer that buffers its rows); the
training itself is not affected.
Source: a gap of more than five times the usual distance between rows, with rows as dense as before
after it.
"""

from herorun.core.check import Gate, Response, Topic, check
from herorun.core.contract import Contract
from herorun.core.detectors.gaps import FAR
from herorun.core.detectors.reorder import WAITING
from herorun.core.evidence import History, Metrics
from herorun.core.finding import Verdict, failed, not_applicable, passed


@check(Gate.HEALTH, Response.WARN, topic=Topic.MONITOR)
def lost_rows(metrics: Metrics, history: History, contract: Contract) -> list[Verdict]:
    """One verdict for each gap, and one if the rows begin long after the run did."""
    if not history.instances:
        return [not_applicable("nothing was launched yet")]
    offset = contract.tracker.first_step - 1  # from completed updates to the steps as logged
    verdicts = [
        failed(
            f"the tracker's rows begin at step {first + offset}: those before it were lost",
            subject=f"step {first + offset}",
        )
        for first in _first_of_a_cut_file(metrics, history)
    ]
    verdicts += [
        failed(
            f"the tracker has no rows between steps {after + offset} and {until + offset}: they "
            "were lost",
            subject=f"step {until + offset}",
        )
        for after, until in metrics.lost
    ]
    return verdicts or [passed(f"no rows are missing up to step {metrics.step + offset}")]


def _first_of_a_cut_file(metrics: Metrics, history: History) -> list[int]:
    """The first row's step, if earlier rows are missing: a rotated file begins at the rotation.
    Only a run's first attempt shows that.
    """
    began = history.instances[0].start
    if began is None or metrics.attempts > 1 or not metrics.stride:
        return []
    missing = metrics.first_step - began > max(WAITING, FAR * metrics.stride)
    return [metrics.first_step] if missing else []
