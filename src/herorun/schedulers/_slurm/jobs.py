"""Which jobs of a run Slurm has: by name, from squeue and then sacct, for any number at once."""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Self

from herorun.core.canonical_json import digest
from herorun.core.errors import CouldNotLook, describe_error
from herorun.core.evidence import Job
from herorun.core.ports import Absent, Found, Place, Search, Unknown
from herorun.core.remote.target import SshLogin
from herorun.schedulers import _submission_record as keeping
from herorun.schedulers._slurm.client import Programs
from herorun.schedulers._slurm.files import LocalFolder, RemoteFolder, files_for
from herorun.schedulers._slurm.options import Options
from herorun.schedulers._slurm.parse import (
    SlurmRow,
    Tag,
)
from herorun.schedulers._slurm.snapshot import ByName, SlurmSnapshot, by_name, not_live
from herorun.schedulers._slurm.state import (
    Accounting,
    judge_slurm,
    live_jobs,
    needs_accounting,
    ours,
)
from herorun.schedulers._submission_record import SubmissionRecord
from herorun.schedulers._transport import Transport
from herorun.schedulers._validate import is_instance_of, must_be_instance, too_early
from herorun.system.clock import now


def login_of(options: Options) -> SshLogin:
    return SshLogin(**options.model_dump(include=set(SshLogin.model_fields)))


class SlurmReader:
    """The half of the scheduler `slurm` that only reads."""

    def __init__(self, options: Options, place: Place, transport: Transport) -> None:
        self._options = options
        timeout = options.timeout.total_seconds()
        self._slurm = Programs(transport, timeout, options.slurm_bin, options.slurm_conf)
        self._run = digest(place.output_root).removeprefix("sha256:")[
            :16
        ]  # one name may be used for two runs
        self._folder = Path(place.state).absolute() / "slurm"
        self._files: LocalFolder | RemoteFolder = files_for(
            transport=transport,
            login=login_of(options),
            state=self._folder,
            folder=options.folder,
            run=self._run,
            slug=place.slug,
            timeout=self._slurm.timeout,
        )
        self.reach = transport.reach
        self.cluster_wide = True  # until it turns out that the cluster keeps no accounting
        self.log: Callable[[str], str] | None = self._log_here if self.reach == "here" else None
        self._snapshot: SlurmSnapshot | None = None
        self._tags: dict[tuple[str, str], Tag] = {}  # so that what was shown is what is sent

    def find(self, instance: str, intended_at: datetime) -> Search:
        return self.find_all({instance: intended_at})[instance]

    def find_all(self, intents: Mapping[str, datetime]) -> Mapping[str, Search]:
        """One squeue, and one sacct if a job has ended or is missing, for any number of
        instances.
        """
        for instance in intents:
            must_be_instance(instance)
        asked_at = self._snapshot.at if self._snapshot else now()
        try:
            queue = by_name(self._queue(intents))
            own = {
                name: ours(queue.get(name, ()), name, self._run, self._submission_record(name), at)
                for name, at in intents.items()
            }
            others = [name for name in intents if needs_accounting(own[name])]
            accounting, rows_by_name = self._accounting_rows(others, intents)
        except (CouldNotLook, OSError) as error:
            return dict.fromkeys(intents, Unknown(describe_error(error)))
        return {
            name: self._answer(
                name, at, own[name], replace(accounting, rows=rows_by_name.get(name, ())), asked_at
            )
            for name, at in intents.items()
        }

    def _accounting_rows(
        self, names: Sequence[str], intents: Mapping[str, datetime]
    ) -> tuple[Accounting, ByName]:
        if not names:
            return Accounting(), {}
        if self._snapshot and self._snapshot.names.issuperset(names):
            return self._snapshot.accounting, self._snapshot.accounting_rows
        accounting = self._accounting(names, min(intents[name] for name in names))
        return accounting, by_name(accounting.rows)

    def _answer(
        self,
        instance: str,
        intended_at: datetime,
        queue: list[SlurmRow],
        accounting: Accounting,
        asked_at: datetime,
    ) -> Search:
        record = self._submission_record(instance)
        rows = ours(accounting.rows, instance, self._run, record, intended_at)
        answer = judge_slurm(instance, queue, rows, accounting, record)
        is_missing = isinstance(answer, Absent) or (
            isinstance(answer, Unknown) and answer.forgotten
        )
        early = too_early(instance, intended_at, asked_at, self._options.settle)
        if is_missing and early:
            return early
        return (
            Found(self._slurm.with_user_name(answer.job)) if isinstance(answer, Found) else answer
        )

    @property
    def cluster(self) -> Hashable:
        options = self._options
        return (
            "slurm",
            self._slurm.transport.where,
            options.port,
            options.ssh_config,
            options.slurm_conf,
            options.slurm_bin,
        )

    def snapshot(self, intents: Mapping[str, datetime]) -> SlurmSnapshot:
        """One squeue of all jobs, and at most one sacct."""
        at = now()
        queue = by_name(self._queue())
        names = not_live(queue, intents)
        accounting = (
            self._accounting(names, min(intents[name] for name in names)) if names else Accounting()
        )
        return SlurmSnapshot(
            at, queue, replace(accounting, rows=()), by_name(accounting.rows), frozenset(names)
        )

    def with_snapshot(self, snapshot: SlurmSnapshot) -> Self:
        self._note_accounting(snapshot.accounting)
        view = copy(self)
        view._snapshot = snapshot
        return view

    def live_jobs(self, slug: str) -> tuple[Job, ...]:
        """The live jobs by this cluster's controller. A job of the name without a comment counts,
        as it may be ours.
        """
        rows = [row for row in self._named_like(slug) if is_instance_of(row.name, slug)]
        records = {row.name: self._submission_record(row.name) for row in rows}
        return live_jobs(
            [
                r
                for r in rows
                if r.id == records[r.name].id or r.tag is None or r.tag.run == self._run
            ]
        )

    def other_jobs(self, slug: str) -> tuple[Job, ...]:
        """Jobs that no herorun has submitted; of all users."""
        rows = (row for row in self._named_like(slug) if row.tag is None)
        return live_jobs([row for row in rows if not is_instance_of(row.name, slug)])

    def _named_like(self, slug: str) -> tuple[SlurmRow, ...]:
        """All jobs whose name begins with the run's."""
        if self._snapshot:
            return self._snapshot.beginning_with(f"{slug}-")
        return tuple(row for row in self._queue() if row.name.startswith(f"{slug}-"))

    def _queue(self, names: Iterable[str] = ()) -> tuple[SlurmRow, ...]:
        sorted_names = sorted(names)
        return (
            self._snapshot.in_queue(sorted_names)
            if self._snapshot
            else self._slurm.queue(sorted_names)
        )

    def _accounting(self, names: Iterable[str], since: datetime) -> Accounting:
        accounting = self._slurm.accounting_of_names(names, since)
        self._note_accounting(accounting)
        return accounting

    def _note_accounting(self, accounting: Accounting) -> None:
        if accounting.is_disabled:
            self.cluster_wide = False  # only this clone remembers what it has submitted

    def _log_here(self, instance: str) -> str:
        """The log's path, if this clone submitted the job: another clone's folder is not known."""
        return self._files.log(instance) if self._submission_record(instance).is_ours else ""

    def _submission_record(self, instance: str) -> SubmissionRecord:
        return keeping.read_submission(self._folder, instance)
