"""Removes unfinished receipts of interrupted check-ins, once no process of the job can still
write.
"""

from collections.abc import Sequence

from herorun.core.errors import HerorunError
from herorun.core.evidence import Evidence, History, Job
from herorun.core.ports import Store
from herorun.receipt_file import TEMPORARY_NAME
from herorun.runs import MonitoredRun


def sweep_receipts(run: MonitoredRun, evidence: Evidence) -> None:
    """The next check-in would also remove them, but after the last one only this does. An
    unreachable root is left for a later tick.
    """
    job, history = evidence.get(Job), evidence.get(History)
    root = run.contract.output.root.rstrip("/")
    has_ended = isinstance(job, Job) and job.state.is_final and not job.state.in_doubt
    # check-ins write no receipts into object stores
    if not has_ended or not isinstance(history, History) or "://" in root:
        return
    try:
        _sweep(run.store, f"{root}/_herorun/receipts", [each.name for each in history.instances])
    except (HerorunError, OSError):
        return


def _sweep(store: Store, folder: str, ended_names: Sequence[str]) -> None:
    """Only those of ended instances: an instance that this tick started may be writing its own."""
    for name in store.names(folder):
        if TEMPORARY_NAME.fullmatch(name) and any(
            name.startswith(f"{each}.") for each in ended_names
        ):
            store.delete(f"{folder}/{name}")
