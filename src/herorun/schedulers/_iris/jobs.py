"""Finds the jobs of a run in Iris, with one list for any number of jobs."""

import re
from collections.abc import Hashable, Mapping
from copy import copy
from datetime import UTC, datetime
from pathlib import Path
from typing import Self

from herorun.core.errors import CouldNotLook, describe_error
from herorun.core.evidence import Job
from herorun.core.lazy_dataclass import dataclass
from herorun.core.ports import Absent, Found, Search, Unknown
from herorun.schedulers import _submission_record as keeping
from herorun.schedulers._iris.argv import beginning_of
from herorun.schedulers._iris.client import CommandLine
from herorun.schedulers._iris.options import Options
from herorun.schedulers._iris.parse import IrisListing, IrisRow
from herorun.schedulers._iris.state import gang_of, judge_iris, root_of
from herorun.schedulers._iris.state_names import iris_state_of
from herorun.schedulers._iris.submit import selector
from herorun.schedulers._submission_record import SubmissionRecord
from herorun.schedulers._validate import must_be_instance, too_early
from herorun.system.clock import now

_EVER = datetime(1970, 1, 2, tzinfo=UTC)


@dataclass(frozen=True)
class IrisSnapshot:
    """One list of jobs, for all the runs that share it."""

    at: datetime  # when it was queried
    beginning: str  # the common prefix of the names in it
    listing: IrisListing


class IrisReader:
    """The read-only part of the scheduler `iris`."""

    def __init__(self, options: Options, folder: Path) -> None:
        self._options, self._folder = options, folder
        self._iris = CommandLine(
            options.program, selector(options), options.timeout.total_seconds()
        )
        self._snapshot: IrisSnapshot | None = None
        self.secrets_vouched = options.secrets == "on-cluster"

    def find(self, instance: str, intended_at: datetime) -> Search:
        return self.find_all({instance: intended_at})[instance]

    def find_all(self, intents: Mapping[str, datetime]) -> Mapping[str, Search]:
        """One list for any number of instances, and if it has no tasks or exit codes, one
        answer for each that needs them.
        """
        for instance in intents:
            must_be_instance(instance)
        asked_at = self._snapshot.at if self._snapshot else now()
        try:
            listing = self._list(beginning_of(intents), is_full_name=len(intents) == 1)
        except (CouldNotLook, OSError) as error:
            return dict.fromkeys(intents, Unknown(describe_error(error)))
        return {name: self._search(listing, name, at, asked_at) for name, at in intents.items()}

    @property
    def cluster(self) -> Hashable:
        return ("iris", self._options.user, *self._iris.program)

    def snapshot(self, intents: Mapping[str, datetime]) -> "IrisSnapshot":
        """One list of all jobs with their common name prefix."""
        name_prefix = beginning_of([f"{name.rpartition('-')[0]}-" for name in intents])
        return IrisSnapshot(now(), name_prefix, self._list(name_prefix))

    def with_snapshot(self, snapshot: IrisSnapshot) -> Self:
        """The adapter with the snapshot. An incomplete one shows nothing about a missing job: then
        each run queries its own.
        """
        view = copy(self)
        view._snapshot = None if snapshot.listing.partial else snapshot
        return view

    def _search(
        self, listing: IrisListing, instance: str, intended_at: datetime, asked_at: datetime
    ) -> Search:
        try:
            record = keeping.read_submission(self._folder, instance)
            root = root_of(listing.rows, self._id(instance))
            if root is None:
                return self._not_found(listing, instance, intended_at, asked_at, record)
            return judge_in_detail(
                self._iris,
                listing,
                instance,
                root,
                record=record,
                intended_at=intended_at,
                gang_name=self._options.gang,
            )
        except (CouldNotLook, OSError) as error:
            return Unknown(describe_error(error))

    def _not_found(
        self,
        listing: IrisListing,
        instance: str,
        intended_at: datetime,
        asked_at: datetime,
        record: SubmissionRecord,
    ) -> Search:
        job = self._id(instance)
        if listing.partial:
            return Unknown(
                f"Iris does not list {job}, and its list is incomplete: {listing.partial}"
            )
        if early := too_early(instance, intended_at, asked_at, self._options.settle):
            return early
        if record.id:
            return Unknown(
                f"Iris does not list {job}, which was submitted from here: it forgets ended jobs "
                "after a while",
                forgotten=True,
            )
        if asked_at - intended_at > self._options.job_retention:
            return Unknown(
                f"Iris does not list {job}, and may have forgotten it: see [scheduler] "
                "job_retention",
                forgotten=True,
            )
        return Absent()

    def live_jobs(self, slug: str) -> tuple[Job, ...]:
        """Live jobs with the name of an instance of the run; other jobs with the same prefix, such
        as diagnostics, do not count.
        """
        name_pattern = re.compile(rf"/{re.escape(self._options.user)}/({re.escape(slug)}-[0-9]+)")
        listing = self._list(f"{slug}-")
        if listing.partial:
            raise CouldNotLook(f"Iris' list of jobs is incomplete: {listing.partial}")
        rows = (
            (row, match[1]) for row in listing.rows if (match := name_pattern.fullmatch(row.id))
        )
        jobs = []
        for row, name in sorted(rows, key=lambda each: (len(each[1]), each[1])):
            gang = gang_of(listing.rows, row.id, self._options.gang)
            record = keeping.read_submission(self._folder, name)
            answer = judge_iris(name, row, gang, record, _EVER, self._options.gang)
            jobs += (
                [answer.job] if isinstance(answer, Found) and not answer.job.state.is_final else []
            )
        return tuple(jobs)

    def other_jobs(self, slug: str) -> tuple[Job, ...]:
        """Jobs of the same user, their children left out."""
        other = re.compile(
            rf"/{re.escape(self._options.user)}/({re.escape(slug)}-(?![0-9]+$)[^/]+)"
        )
        rows = (
            (row, match[1])
            for row in self._list(f"{slug}-").rows
            if (match := other.fullmatch(row.id))
        )
        jobs = (
            Job(id=row.id, instance=name, state=iris_state_of(row.word), raw=row.word)
            for row, name in rows
        )
        return tuple(
            sorted((job for job in jobs if not job.state.is_final), key=lambda job: job.instance)
        )

    def _list(self, name_prefix: str, is_full_name: bool = False) -> IrisListing:
        if self._snapshot and name_prefix.startswith(self._snapshot.beginning):
            return self._snapshot.listing
        return self._iris.list(self._options.user, name_prefix, is_full_name)

    def _id(self, instance: str) -> str:
        return f"/{self._options.user}/{instance}"


def judge_in_detail(
    iris: CommandLine,
    listing: IrisListing,
    instance: str,
    root: IrisRow,
    *,
    record: SubmissionRecord,
    intended_at: datetime,
    gang_name: str | None,
) -> Search:
    """`judge_iris`, after a query for each job that the list shows without what it needs."""
    gang = gang_of(listing.rows, root.id, gang_name)
    live = [row for row in gang if iris_state_of(row.word).live]
    if not iris_state_of(root.word).live or not live:
        root = iris.in_detail(root)
    gang = [iris.in_detail(row) if row in live else row for row in gang]
    return judge_iris(instance, root, gang, record, intended_at, gang_name)
