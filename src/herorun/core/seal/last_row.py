"""How many updates the last row lacks, for a trainer that does not log every one. Pure."""

from herorun.core.evidence import Metrics


def stride(metrics: Metrics | None) -> int:
    """Updates from one row to the next, as the rows of the newest attempt show it; 1 where they do
    not.
    """
    if metrics is None or metrics.attempts > 1 or metrics.rows < 2:
        return 1
    return max(1, round((metrics.step - metrics.first_step) / (metrics.rows - 1)))


def missing_updates(last_step: int, final: int, metrics: Metrics | None) -> int:
    """Updates without a row, beyond those that a trainer which logs every k-th one leaves out at
    the end.
    """
    missing = final - last_step
    return missing if missing >= stride(metrics) else 0
