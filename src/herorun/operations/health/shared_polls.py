"""One query of a scheduler for all runs that are monitored together, if its adapter can
(`ManyRuns`).

A run never gets an answer that it had before, nor one from before its newest launch, nor one older
than half its cadence. So a round of ticks costs one query, however many runs take part.
"""

import contextlib
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import field
from datetime import datetime, timedelta
from pathlib import Path
from threading import Lock
from typing import Any, TypeAlias

from herorun.core.errors import UNFORESEEN, CouldNotLook, describe_error
from herorun.core.journal import Memory
from herorun.core.lazy_dataclass import dataclass
from herorun.core.ports import Scheduler, Search, Unknown
from herorun.runs import MonitoredRun, watched_run
from herorun.system.clock import now

Intent: TypeAlias = tuple[str, datetime]  # an instance, and when it was intended
# a cluster, and a run's key with its intent
ClusterIntent: TypeAlias = tuple[Hashable, str, Intent]
# when a cluster's newest poll began, its answer, and why it failed
ClusterPoll: TypeAlias = tuple[datetime, Any, str]


@dataclass
class _Cluster:
    """The shared poll of one cluster. A thread that needs it during a poll waits for that poll."""

    alone: Lock = field(default_factory=Lock)
    intents: dict[str, Intent] = field(default_factory=dict)  # by run
    at: datetime | None = None  # when the newest poll began
    snapshot: Any = None
    error: str = ""  # why the newest poll failed
    had: dict[str, datetime] = field(default_factory=dict)  # by run: the poll it used last


class SharedPolls:
    """The polls of one process."""

    def __init__(self) -> None:
        self._clusters: dict[Hashable, _Cluster] = {}
        self._lock = Lock()

    def expect(self, names: Iterable[str], start: Path) -> "SharedPolls":
        """Note what these runs will need, so that the first poll covers all of them. A run that
        cannot be opened is reported by its tick.
        """
        for name in names:
            with contextlib.suppress(*UNFORESEEN):  # its tick tells it
                self.expect_of(watched_run(name, start)[0])
        return self

    def expect_of(self, run: MonitoredRun) -> ClusterIntent | None:
        """The same for one open run: returns what was noted. Of a sealed run nothing is read."""
        with contextlib.suppress(*UNFORESEEN):  # an adapter's: the run itself tells it
            scheduler: Any = run.scheduler
            key, memory = str(run.state), run.record.memory()
            if memory.sealed or not hasattr(scheduler, "snapshot"):
                return None
            if intent := newest_intent(memory):
                self.note_intent(key, scheduler, intent)
                return scheduler.cluster, key, intent
        return None

    def poll(self, scheduler: Any, intents: Mapping[str, Intent]) -> None:
        """Query the cluster of this scheduler for all of these runs."""
        cluster = self._cluster(scheduler)
        with cluster.alone:
            cluster.intents |= intents
            _poll_cluster(cluster, scheduler)

    def answers(self) -> dict[Hashable, ClusterPoll]:
        """The newest poll of each cluster."""
        return {
            key: (each.at, each.snapshot, each.error)
            for key, each in self._clusters.items()
            if each.at
        }

    def adopt(self, answers: Mapping[Hashable, ClusterPoll]) -> None:
        """Use what another process polled, where there is no newer poll."""
        for key, (at, snapshot, error) in answers.items():
            cluster = self._clusters.setdefault(key, _Cluster())
            if cluster.at is None or cluster.at < at:
                cluster.at, cluster.snapshot, cluster.error = at, snapshot, error

    def note_intent(self, run: str, scheduler: Scheduler, intent: Intent | None) -> None:
        if intent and hasattr(scheduler, "snapshot"):
            self._cluster(scheduler).intents[run] = intent

    def of(self, run: MonitoredRun, memory: Memory) -> Scheduler:
        """The run's scheduler, with the answers of a poll that other runs may share."""
        return self.share(
            str(run.state), run.scheduler, newest_intent(memory), run.contract.babysit.cadence / 2
        )

    def share(
        self, run: str, scheduler: Any, intent: Intent | None, oldest: timedelta
    ) -> Scheduler:
        """The same, by the run's key and the greatest allowed age of a poll."""
        alone: Scheduler = scheduler
        if intent is None or not hasattr(scheduler, "snapshot"):
            return alone
        cluster = self._cluster(scheduler)
        with cluster.alone:
            cluster.intents[run] = intent
            if not _serves(cluster, run, intent, oldest):
                _poll_cluster(cluster, scheduler)
            cluster.had[run] = cluster.at or now()
            if cluster.error:
                return _FailedPoll(scheduler, cluster.error)
            view: Scheduler = scheduler.with_snapshot(cluster.snapshot)
            return view

    def _cluster(self, scheduler: Any) -> _Cluster:
        with self._lock:
            return self._clusters.setdefault(scheduler.cluster, _Cluster())


def newest_intent(memory: Memory) -> Intent | None:
    """The current instance and its intent's time; None before the first one."""
    current = memory.history.current
    return (current.name, current.since) if current else None


def _serves(cluster: _Cluster, run: str, intent: Intent, oldest: timedelta) -> bool:
    """Whether the newest poll is new enough for the run. A failed poll counts too: a back end that
    is down is not queried by each run in turn.
    """
    if cluster.at is None or cluster.had.get(run) == cluster.at:
        return False
    return cluster.at > intent[1] and now() - cluster.at <= oldest


def _poll_cluster(cluster: _Cluster, scheduler: Any) -> None:
    cluster.at, cluster.error, cluster.snapshot = now(), "", None
    try:
        # a list: a run that is opened now adds its own, and waits for no poll
        cluster.snapshot = scheduler.snapshot(_earliest(list(cluster.intents.values())))
    except (CouldNotLook, OSError) as error:
        cluster.error = describe_error(error)
    except BaseException:  # the next run polls again
        cluster.at = None
        raise


def _earliest(intents: Iterable[Intent]) -> dict[str, datetime]:
    """The intents by instance; of two runs with the same instance name, the earlier one."""
    by_instance: dict[str, datetime] = {}
    for name, at in intents:
        by_instance[name] = min(at, by_instance.get(name, at))
    return by_instance


class _FailedPoll:
    """A scheduler whose shared poll failed."""

    def __init__(self, scheduler: Scheduler, why: str) -> None:
        self._scheduler, self._why = scheduler, why

    def find(self, instance: str, intended_at: datetime) -> Search:
        return Unknown(self._why)

    def live_jobs(self, slug: str) -> Any:
        raise CouldNotLook(self._why)

    def other_jobs(self, slug: str) -> Any:
        raise CouldNotLook(self._why)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._scheduler, name)
