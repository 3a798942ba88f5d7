"""A snapshot of Ray: each request is made at most once, and only if something needs it."""

import re
from dataclasses import field
from datetime import datetime
from functools import cached_property
from typing import Any
from urllib.parse import quote, urlencode

from herorun.core.errors import CouldNotLook
from herorun.core.evidence import Job, JobState
from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_regex import lazy_regex
from herorun.schedulers._ray.client import Dashboard
from herorun.schedulers._ray.cluster import Node, demand_of, describe_unplaced, lost_node, nodes_of
from herorun.schedulers._ray.parse import (
    RayJob,
    RayStop,
    job_of,
    ray_state_of,
    record_of,
    records_of,
    supervisor_lost,
)
from herorun.schedulers._ray.worker_failures import (
    MAY_BE_LOST,
    WorkerFailure,
    asks_for_losses,
    loss_of,
    with_loss,
)
from herorun.system.clock import now

MAX_ENTRIES = 10_000  # entries: the most that Ray's state API gives at once
_NO_JOB = lazy_regex(r"job .* does not exist", re.IGNORECASE)


@dataclass
class RaySnapshot:
    """A cluster's present answers. Everything raises `CouldNotLook` without an answer."""

    dashboard: Dashboard
    at: datetime = field(default_factory=now)  # when it began

    @cached_property
    def session(self) -> str:
        """The name of the cluster's session: a restarted head, which remembers nothing, has
        another.
        """
        version = self.dashboard.read("/api/version")
        if (
            not isinstance(version, dict)
            or not version.get("session_name")
            or "ray_version" not in version
        ):
            raise CouldNotLook(
                f"{self.dashboard.address} is not the dashboard of Ray 2.9 or newer, which "
                "herorun needs: check [scheduler] address."
            )
        return str(version["session_name"])

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        return nodes_of(self.dashboard.read(f"/api/v0/nodes?detail=1&limit={MAX_ENTRIES}"))

    @cached_property
    def records(self) -> tuple[RayJob, ...]:
        return records_of(self.dashboard.read("/api/jobs/"))

    @cached_property
    def demand(self) -> str:
        """What waits for room; empty also where it could not be read, for then the wait itself is
        still known.
        """
        try:
            return demand_of(self.dashboard.read("/api/cluster_status"))
        except CouldNotLook:
            return ""

    @cached_property
    def _groups(self) -> Any:
        try:
            return self.dashboard.read(f"/api/v0/placement_groups?limit={MAX_ENTRIES}")
        except CouldNotLook:
            return None

    def record(self, name: str) -> RayJob | None:
        """One job by its submission id; None only if the Jobs API itself says that there is
        none.
        """
        path = f"/api/jobs/{quote(name, safe='')}"
        answer = self.dashboard.ask("GET", path, ok=(200, 404))
        if answer.status == 404:
            if not _NO_JOB.search(answer.text):
                raise CouldNotLook(
                    f"{self.dashboard.address} has no Ray Jobs API (HTTP 404): is this Ray's "
                    "dashboard?"
                )
            return None
        record = record_of(self.dashboard.json(answer, path))
        return record if record and record.name == name else None

    def job(self, record: RayJob, instance: str, stop: RayStop | None) -> Job:
        """The job, with what the cluster adds to its record: a dead node, a demand that is not
        met.
        """
        state = ray_state_of(record)
        dead_node = (
            lost_node(self.nodes, record.node) if supervisor_lost(record) and record.node else ""
        )
        why = ""
        if state is JobState.PENDING:
            why = self.demand
        if state is JobState.RUNNING and record.driver:
            why = describe_unplaced(self._groups, record.driver)
        job = job_of(record, instance, stop, dead_node, why)
        if job.state not in MAY_BE_LOST or not asks_for_losses(record):
            return job
        loss = self._loss(record)
        return with_loss(job, loss, lost_node(self.nodes, loss.node) if loss else "")

    def _loss(self, record: RayJob) -> WorkerFailure | None:
        """None also if it could not be read: that the job failed is known anyway."""
        try:
            tasks, actors = (self.dashboard.read(each) for each in _of_driver(record.driver))
        except CouldNotLook:
            return None
        return loss_of(record, tasks, actors)


def _of_driver(driver: str) -> tuple[str, str]:
    """One driver's failed tasks and dead actors."""
    paths = []
    for kind, state in (("tasks", "FAILED"), ("actors", "DEAD")):
        filters = [("job_id", driver), ("state", state)]
        pairs = [pair for key, value in filters for pair in _filter(key, value)]
        paths.append(
            f"/api/v0/{kind}?{urlencode([('detail', '1'), ('limit', str(MAX_ENTRIES)), *pairs])}"
        )
    return paths[0], paths[1]


def _filter(key: str, value: str) -> list[tuple[str, str]]:
    return [("filter_keys", key), ("filter_predicates", "="), ("filter_values", value)]
