"""Which jobs of a run a Ray cluster has: from one list, for any number of jobs at once."""

import os
import re
from collections.abc import Hashable, Mapping
from copy import copy
from datetime import datetime
from typing import Self

from herorun.core.errors import CouldNotLook
from herorun.core.evidence import Job
from herorun.core.ports import Absent, Found, Search, Unknown
from herorun.schedulers._ray.client import Dashboard
from herorun.schedulers._ray.cluster import began
from herorun.schedulers._ray.local_state import SubmissionFiles
from herorun.schedulers._ray.options import Options
from herorun.schedulers._ray.parse import RayJob, ray_state_of
from herorun.schedulers._ray.snapshot import RaySnapshot
from herorun.schedulers._validate import must_be_instance, too_early


def _headers(options: Options) -> dict[str, str]:
    names = dict(options.header_env) | (
        {"Authorization": options.token_env} if options.token_env else {}
    )
    missing = [name for name in names.values() if not os.environ.get(name)]
    if missing:
        raise CouldNotLook(
            f"{', '.join(missing)} is not set, and [scheduler] token_env or header_env needs it "
            f"for {options.address}: export it."
        )
    values = {header: os.environ[name].strip() for header, name in names.items()}
    if options.token_env:
        values["Authorization"] = f"Bearer {values['Authorization']}"
    return values


class RayReader:
    """The half of the scheduler `ray` that only reads."""

    def __init__(self, options: Options, notes: SubmissionFiles) -> None:
        self._options = options
        self._notes = notes
        self._shared_snapshot: RaySnapshot | None = None
        self.secrets_vouched = options.secrets == "on-cluster"

    def find(self, instance: str, intended_at: datetime) -> Search:
        if self._shared_snapshot:
            return self.find_all({instance: intended_at})[instance]
        try:
            snapshot = self._take_snapshot()
            return self._search(
                snapshot, instance, snapshot.record(self._name(instance)), intended_at
            )
        except CouldNotLook as error:
            return Unknown(str(error))

    def find_all(self, intents: Mapping[str, datetime]) -> Mapping[str, Search]:
        """One request lists all jobs."""
        try:
            snapshot = self._take_snapshot()
            by_name = {record.name: record for record in snapshot.records}
        except CouldNotLook as error:
            return {instance: Unknown(str(error)) for instance in intents}
        return {each: self._found_in(snapshot, by_name, each, at) for each, at in intents.items()}

    @property
    def cluster(self) -> Hashable:
        options = self._options
        return ("ray", options.address, options.token_env, *sorted(options.header_env.items()))

    def snapshot(self, intents: Mapping[str, datetime]) -> RaySnapshot:
        """One request lists all jobs; what only some of them need is requested once."""
        snapshot = self._take_snapshot()
        _ = snapshot.records
        return snapshot

    def with_snapshot(self, snapshot: RaySnapshot) -> Self:
        view = copy(self)
        view._shared_snapshot = snapshot
        return view

    def _found_in(
        self, snapshot: RaySnapshot, by_name: Mapping[str, RayJob], instance: str, at: datetime
    ) -> Search:
        try:
            return self._search(snapshot, instance, by_name.get(self._name(instance)), at)
        except CouldNotLook as error:
            return Unknown(str(error))

    def _search(
        self, snapshot: RaySnapshot, instance: str, record: RayJob | None, intended_at: datetime
    ) -> Search:
        if record is None:
            return self._absent(snapshot, instance, intended_at)
        if record.instance != instance:
            return Unknown(f"a job called {record.name} is there that herorun did not submit")
        if record.submitted is None:
            return Unknown(
                f"{record.name} was deleted, and Ray stored an incomplete entry again: its state "
                "is unknown"
            )
        return Found(snapshot.job(record, instance, self._notes.stop(instance)))

    def _absent(self, snapshot: RaySnapshot, instance: str, intended_at: datetime) -> Search:
        """A restarted head has forgotten every job, so a missing job counts only for the head's own
        time.
        """
        if early := too_early(instance, intended_at, snapshot.at, self._options.settle):
            return early
        note = self._notes.submission(instance)
        if note and note.cluster == snapshot.session:
            return Absent()
        if note:
            return Unknown(
                f"{instance} was submitted to Ray's {note.cluster}, and {self._options.address} "
                f"is {snapshot.session} now, which has forgotten what ran before",
                forgotten=True,
            )
        since = began(snapshot.nodes, ())
        if since is None or since > intended_at:
            since = began(snapshot.nodes, snapshot.records)
        if since is None or since > intended_at:
            return Unknown(
                f"the Ray cluster was started after {instance} was to be submitted", forgotten=True
            )
        return Absent()

    def live_jobs(self, slug: str) -> tuple[Job, ...]:
        """Found by their exact name; `CouldNotLook` for a job that cannot be read."""
        ours = re.compile(rf"{re.escape(self._options.prefix)}({re.escape(slug)}-[0-9]+)")
        snapshot = self._take_snapshot()
        jobs = [
            snapshot.job(record, match[1], self._notes.stop(match[1]))
            for record in snapshot.records
            if record.submitted
            and (match := ours.fullmatch(record.name))
            and not ray_state_of(record).is_final
        ]
        return tuple(sorted(jobs, key=lambda job: (len(job.instance), job.instance)))

    def other_jobs(self, slug: str) -> tuple[Job, ...]:
        """Jobs that no herorun has submitted."""
        name, snapshot = f"{self._options.prefix}{slug}-", self._take_snapshot()
        others = [
            r
            for r in snapshot.records
            if r.name.startswith(name) and not (r.instance or ray_state_of(r).is_final)
        ]
        jobs = (
            snapshot.job(each, each.name, None)
            for each in others
            if not each.name.removeprefix(name).isdigit()
        )
        return tuple(sorted(jobs, key=lambda job: job.instance))

    def _name(self, instance: str) -> str:
        must_be_instance(instance)
        return f"{self._options.prefix}{instance}"

    def _take_snapshot(self) -> RaySnapshot:
        if self._shared_snapshot:
            return self._shared_snapshot
        options = self._options
        return RaySnapshot(
            Dashboard(
                options.address, _headers(options), options.timeout.total_seconds(), options.ca_file
            )
        )
