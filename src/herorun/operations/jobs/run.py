"""A job without a contract: a contract in memory, a plain journal in the user's state folder, and
the one engine.

`JobRun` is monitored as a `Run` is, without a repository. Evidence that needs a repository is
`Nothing`; the contract permits no relaunch unless a person gave the command for it.
"""

import contextlib
import os
import shlex
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from functools import cached_property
from pathlib import Path
from typing import Any

from herorun import discover
from herorun.core import evidence as kinds
from herorun.core.adhoc_jobs.cause import JobCause
from herorun.core.adhoc_jobs.log_parser import progress_in
from herorun.core.adhoc_jobs.resubmit_command import split_command
from herorun.core.adhoc_jobs.spec import JobSpec
from herorun.core.adhoc_jobs.state_file import project_state
from herorun.core.adhoc_jobs.stored_command import without_secrets
from herorun.core.adhoc_jobs.tasks import memory_asked
from herorun.core.babysit.action_key import Verb, write_key
from herorun.core.babysit.actions import Tell
from herorun.core.canonical_json import canonical
from herorun.core.check import Check, Gate
from herorun.core.contract import (
    Contract,
    ContractFile,
)
from herorun.core.errors import HerorunError, describe_error
from herorun.core.event import Launched
from herorun.core.evidence import Evidence, FinalStep, Instance, Launcher, Nothing, Unavailable
from herorun.core.finding import Waiver
from herorun.core.health.liveness import RowPatience
from herorun.core.journal import Memory
from herorun.core.notify.escalation import Option
from herorun.core.ports import Layout, Place, Post, Search, Tracker
from herorun.core.proposed_commands import herorun_argv
from herorun.core.redaction.scrub import scrub
from herorun.job_kinds import must_be_complete
from herorun.operations.jobs.file_journal import Journal
from herorun.operations.jobs.folders import FACTS, folder_of
from herorun.operations.jobs.job_contract import CADENCE, contract_for
from herorun.operations.jobs.news import cause_of, job_doubts, job_news
from herorun.operations.jobs.scheduler import LINES, ExternalJobs, JobLogTracker, adapter_for
from herorun.runs import MonitoredRun
from herorun.system import host
from herorun.system.clock import now
from herorun.system.files import make_folders, write_atomic
from herorun.system.git import Repository

NO_CONTRACT = Nothing("the job has no contract")
# What can be asked of a job by its scheduler and its log alone. The others need a contract, a
# tracker or a store.
_CHECKS = (
    "monitor-blind buffered-output crashed host-contention error-in-log failing-log late-tick "
    "missing-channel partial-allocation pending-too-long repeated-crash stale-monitor "
    "stalled-steps stopped-by-hand undelivered-escalation unfinished-action "
    "stalled-by-infrastructure"
)
LOG_AND_SCHEDULER_CHECKS = frozenset(_CHECKS.split())
# Of these nothing is known without a repository, a tracker of its own, or an output root.
_UNKNOWN_KINDS = (
    kinds.Checkpoints,
    kinds.ContractDrift,
    kinds.IssuePage,
    kinds.PriorLaunch,
    kinds.Receipt,
    kinds.RecordLease,
    kinds.SourceRun,
    kinds.TrackerIdentity,
)


class JobRun(MonitoredRun):
    """One job without a contract. See `open_job`."""

    def __init__(
        self, facts: JobSpec, folder: Path, contract: Contract, state_file: Path | None = None
    ) -> None:
        self.facts, self.folder, self.contract = facts, folder, contract
        self.file = ContractFile("", "")
        self.state_file = state_file  # None: it is only queried, and nothing is written

    @cached_property
    def state(self) -> Path:
        return self.folder

    @cached_property
    def place(self) -> Place:
        return Place(self.slug, str(self.folder), str(self.folder), str(self.folder))

    @cached_property
    def record(self) -> Journal:
        return Journal(self.folder / "journal.jsonl", self.slug)

    @cached_property
    def scheduler(self) -> ExternalJobs:
        command = self.facts.resubmit
        limit = memory_asked(split_command(command)) if command else None
        return ExternalJobs(adapter_for(self.facts, self.folder), self.record, self.folder, limit)

    @cached_property
    def waivers(self) -> tuple[Waiver, ...]:
        return ()

    @property
    def health_checks(self) -> tuple[Check, ...]:
        return tuple(
            check
            for check in discover.checks(Gate.HEALTH)
            if check.name in LOG_AND_SCHEDULER_CHECKS
        )

    def lock(self, name: str) -> Path:
        return self.folder / f"{name}.lock"

    @cached_property
    def launcher(self) -> Launcher:
        return Launcher(host.owner(), host.user(), host.temporary_folder())

    @property
    def dri(self) -> str:
        return f"{host.user() or 'unknown'} (inferred: the user who started the babysitter)"

    def submit_again(self, instance: str, why: str) -> str:
        """By the command that a person gave."""
        from herorun.operations.jobs.resubmit import resubmit

        return resubmit(self, instance, why)

    @property
    def status_command(self) -> str:
        job = self.current.job if self.current else self.facts.job
        return shlex.join(herorun_argv(self.facts.cwd, ["status", "--job", job]))

    def answers(self, ways: Sequence[Option], about: str = "") -> str:
        """There is no contract to relaunch under, but perhaps the command that a person gave."""
        job = self.current.job if self.current else self.facts.job
        live = Option.STOP in ways  # it was not seen to end
        relaunch = ["relaunch", "--job", job, *(["--stop-first"] if live else [])]
        again = shlex.join(herorun_argv(self.facts.cwd, relaunch))
        stop = shlex.join(herorun_argv(self.facts.cwd, ["stop", "--job", job]))
        return "\n".join(
            [
                (
                    f"- `{again}`: {'stop it and ' if live else ''}submit it again by its "
                    "command, after the cause is fixed"
                )
                if self.facts.resubmit
                else (
                    "- submit it again yourself, then `herorun babysit --job NEW --scheduler "
                    f"{self.facts.kind}`"
                ),
                *([f"- `{stop}`: stop it"] if live else []),
                f"- or leave it: nothing more is done about {job}",
            ]
        )

    @property
    def ends_with_job(self) -> bool:
        return True

    def own_news(self, evidence: Evidence, cause: JobCause | None) -> list[Tell]:
        return job_news(self.scheduler, self.record.memory(), evidence, cause)

    def own_doubts(self, evidence: Evidence) -> list[str]:
        return job_doubts(self.scheduler, self.facts, evidence)

    def cause(self, evidence: Evidence) -> JobCause | None:
        return cause_of(self.scheduler, evidence)

    def furthest_before(self, step: int | None) -> int | None:
        """Kept next to the journal."""
        path, furthest = self.folder / "furthest-step", None
        with contextlib.suppress(OSError, ValueError):
            furthest = int(path.read_text("utf-8"))
        if step is not None and (furthest is None or step > furthest):
            with contextlib.suppress(OSError):
                write_atomic(path, str(step).encode())
        return furthest

    @property
    def current(self) -> Instance | None:
        return self.record.memory().current

    @property
    def job_id(self) -> str:
        """The id of the newest job."""
        return self.current.job if self.current else self.facts.job

    def base_evidence(self, memory: Memory) -> dict[Any, Any]:
        """All that is known without a query; what only a contract could state is `Nothing`."""
        return {
            **super().base_evidence(memory),
            **dict.fromkeys((*_UNKNOWN_KINDS, Repository, Layout), NO_CONTRACT),
            FinalStep: self._final(memory),
            Tracker: JobLogTracker(
                self.scheduler,
                memory.current.name if memory.current else "",
                max(RowPatience().idle, 2 * self.contract.babysit.cadence),
            ),
        }

    def _final(self, memory: Memory) -> FinalStep | Nothing | Unavailable:
        """As its log prints it, if exactly; the log's end that is read for it serves the whole
        tick.
        """
        if memory.current is None:
            return NO_CONTRACT
        try:
            progress = progress_in(self.scheduler.tail(memory.current.name, LINES))
        except FileNotFoundError:
            return Nothing("it has no log yet, or none was named (--log)")
        except (HerorunError, OSError) as error:
            return Unavailable(scrub(f"its log could not be read: {describe_error(error)}"))
        return (
            FinalStep(progress.most, "its log")
            if progress and progress.most
            else Nothing("its log shows no end")
        )

    def prepare(self) -> None:
        make_folders(self.folder)

    def find_job(self) -> Search:
        """The job as it was named, before anything is written down."""
        answer: Search = adapter_for(self.facts, self.folder).find_job(self.facts.job)
        return answer

    def record_first(self) -> None:
        """Write the job down as the first instance, and open the page that gets the news; each
        once.
        """
        self.prepare()
        memory, job = self.record.memory(), self.facts.job
        if memory.current is None:
            why = "as its state file names it" if self.facts.first_job else "as a person named it"
            self.record.append(self.instance(job, why))
        elif job not in [each.job for each in memory.instances]:
            why = "from its state file, which another machine updated"
            self.record.append(self.instance(job, why, after=memory.current.name))
        keep_facts(self)
        key, title = write_key(Verb.ISSUE, self.slug), f"Job {self.facts.job}"
        self.issue.open(Post(key, title, "A job without a contract."), ())

    def instance(self, job: str, why: str, after: str = "") -> Launched:
        current = self.current
        number = max((current.number if current else 0) + 1, self.facts.restarts + 1)
        entry = {"Job": job, "Why": why}
        return Launched(
            at=now(),
            instance=f"{self.slug}-{number}",
            number=number,
            job=job,
            plan_digest="",
            output_root=str(self.folder),
            commit="",
            entry=entry,
            relaunch_of=after,
        )


def open_job(facts: JobSpec, every: timedelta = CADENCE, state_file: Path | None = None) -> JobRun:
    """The job's run on this machine: a new one, or the one that has followed it since an earlier
    id.

    `WrongUse` where something that its kind of job needs is missing or has the wrong form.
    """
    must_be_complete(facts)
    facts = _with_named_secrets(facts)
    folder = folder_of(facts)
    return JobRun(facts, folder, contract_for(facts, folder, every), state_file)


def _with_named_secrets(facts: JobSpec) -> JobSpec:
    """Their values stay in memory: what is written down has their names."""
    command, values = without_secrets(facts.resubmit, os.environ)
    names = tuple(dict.fromkeys((*facts.secrets, *values)))
    return replace(facts, resubmit=command, secrets=names, values={**facts.values, **values})


def keep_facts(run: "JobRun") -> None:
    """Which jobs this folder is about, so that it is found again by any of them."""
    jobs = [instance.job for instance in run.record.memory().instances]
    own_facts = {"kind": run.facts.kind, "where": run.facts.where, "jobs": jobs}
    restarts = run.current.number - 1 if run.current else 0
    state = project_state(run.facts, jobs[-1], restarts, now(), {}, {})
    write_atomic(run.folder / FACTS, (canonical({**state, **own_facts}) + "\n").encode())
