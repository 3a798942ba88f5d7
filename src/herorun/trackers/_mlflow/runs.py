"""What MLflow's server reports about a run. Pure: JSON in, a run out; one of the usual errors of an
answer of another form.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from herorun.core.evidence import TrackerState
from herorun.core.lazy_dataclass import dataclass
from herorun.trackers._mlflow.history import is_own, utc

_STATES = {
    "SCHEDULED": TrackerState.RUNNING,
    "RUNNING": TrackerState.RUNNING,
    "FINISHED": TrackerState.FINISHED,
    "FAILED": TrackerState.FAILED,
    "KILLED": TrackerState.FAILED,
}


@dataclass(frozen=True, kw_only=True)
class MlflowRun:
    """One run as the server reports it."""

    id: str
    name: str
    experiment: str
    state: TrackerState
    status: str
    started: Any  # milliseconds
    metrics: Mapping[str, tuple[int, int]]  # the last step and its time, of each metric
    params: Mapping[str, str]

    @property
    def last_step(self) -> int | None:
        return max((step for step, _ in self.metrics.values()), default=None)

    @property
    def newest(self) -> datetime | None:
        """When the values of the highest steps were logged; the start before the first."""
        times = [time for _, time in self.metrics.values()]
        return utc(max(times)) if times else utc(self.started)


def run_of(document: Mapping[str, Any]) -> MlflowRun:
    info, data = document["info"], document.get("data") or {}
    metrics = {
        str(each["key"]): (int(each.get("step") or 0), int(each.get("timestamp") or 0))
        for each in data.get("metrics") or []
        if not is_own(str(each["key"]))
    }
    is_deleted = info.get("lifecycle_stage") == "deleted"
    status = str(info["status"])
    return MlflowRun(
        id=str(info["run_id"]),
        name=str(info.get("run_name") or ""),
        experiment=str(info["experiment_id"]),
        state=TrackerState.DELETED if is_deleted else _STATES.get(status, TrackerState.UNREACHABLE),
        status=status,
        started=info.get("start_time"),
        metrics=metrics,
        params={str(each["key"]): str(each.get("value", "")) for each in data.get("params") or []},
    )


def ids_of(runs: Sequence[MlflowRun]) -> tuple[str, ...]:
    return tuple(sorted(run.id for run in runs))


def plain_parameter(value: str) -> int | float | str:
    """MLflow keeps every parameter as text."""
    for kind in (int, float):
        try:
            return kind(value)
        except ValueError:
            continue
    return value
