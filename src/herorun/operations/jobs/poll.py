"""One poll of a registered job by its own source: its state, new events, and result once ended."""

import contextlib
from pathlib import Path
from typing import Any

from herorun import signatures
from herorun.core.adhoc_jobs.cause import JobCause
from herorun.core.adhoc_jobs.registry import (
    Entry,
    describe_entry,
    key_of,
    raw_state_of,
)
from herorun.core.adhoc_jobs.spec import JobSpec
from herorun.core.adhoc_jobs.tasks import summary
from herorun.core.canonical_json import canonical, digest
from herorun.core.errors import HerorunError, describe_error
from herorun.core.evidence import Job, JobState
from herorun.core.lazy_dataclass import dataclass
from herorun.core.ports import Absent, Found
from herorun.core.redaction.scrub import scrub
from herorun.core.triage.classes import QUIET
from herorun.core.triage.incremental import OwnLog, follow, verdict_of_log
from herorun.core.untrusted_json import read_json
from herorun.job_kinds import job_kind
from herorun.operations.jobs.not_found_grace import not_found, reset_not_found
from herorun.operations.jobs.scheduler import LINES, adapter_for
from herorun.system.files import make_folders, write_atomic
from herorun.system.process_registry import state_home

NOT_FOUND_STATE = "NOT FOUND"  # nel's own word, for what any source does not know


@dataclass(frozen=True)
class JobStatus:
    """One poll of one job. `state` is UNKNOWN if it could not be read, and `why` says
    so.
    """

    entry: Entry
    state: JobState
    word: str
    why: str = ""
    result: str = ""  # of an ended one
    events: tuple[str, ...] = ()  # of its launcher, not reported before

    @property
    def has_ended(self) -> bool:
        return self.state.is_final

    @property
    def code(self) -> int:
        """1 for a failure; 3 where it is unknown."""
        return (
            0
            if self.state.live or self.state is JobState.SUCCEEDED
            else 3
            if self.state.in_doubt
            else 1
        )

    @property
    def changed(self) -> bool:
        return bool(self.events) or self.word != str(self.entry.get("last_status") or "")

    @property
    def line(self) -> str:
        """`slurm 4711: PENDING -> RUNNING (calibration)`."""
        before = str(self.entry.get("last_status") or "")
        about = f" ({self.entry['description']})" if self.entry.get("description") else ""
        change = (
            f"{before} -> {self.word or 'unknown'}"
            if before and before != self.word
            else self.word or "not seen"
        )
        details = self.why if self.state.in_doubt else self.result or self.why
        details = "; ".join(part for part in (*self.events, details) if part)
        more = f": {details}" if details else ""
        return f"{describe_entry(self.entry)}: {change}{about}{more}"


def poll_entry(entry: Entry) -> JobStatus:
    """By the vocabulary of its own source. What could not be read is no state and no change."""
    before = str(entry.get("last_status") or "")
    try:
        jobs = adapter_for(_spec_of_entry(entry), memory_path(entry))
        answer = jobs.find_job(str(entry["id"]))
    except (HerorunError, OSError) as error:
        return JobStatus(entry, JobState.UNKNOWN, before, scrub(describe_error(error)))
    if isinstance(answer, Absent):
        return _status_of_missing(entry, before)
    if not isinstance(answer, Found):
        return JobStatus(entry, JobState.UNKNOWN, before, scrub(answer.why))
    reset_not_found(memory_path(entry))
    job = answer.job
    result = result_of(jobs, job) if job.state.is_final else ""
    events = _new_events(entry, jobs, job)
    return JobStatus(
        entry,
        job.state,
        raw_state_of(job.raw or job.state.value),
        scrub(job.reason),
        result,
        events,
    )


def memory_path(entry: Entry) -> Path:
    """What the polls of one registration remember of each other: a process number may be another
    job's the next time.
    """
    key = [*key_of(entry), str(entry.get("submitted") or "")]
    return state_home() / "registered" / digest(key).removeprefix("sha256:")[:12]


def _status_of_missing(entry: Entry, before: str) -> JobStatus:
    """What a list that is whole lacks at the second poll too is no longer watched; other
    sources are asked for an hour, see `not_found`.
    """
    why = job_kind(str(entry["type"])).missing_twice
    if why and before == NOT_FOUND_STATE:
        return JobStatus(entry, JobState.GONE, NOT_FOUND_STATE, why)
    has_expired, why = not_found(memory_path(entry))
    return JobStatus(
        entry, JobState.GONE if has_expired else JobState.UNKNOWN, NOT_FOUND_STATE, why
    )


def _spec_of_entry(entry: Entry) -> JobSpec:
    fields = {
        name: str(entry.get(name) or "") for name in ("cluster", "config", "host", "user", "log")
    }
    return JobSpec.of({"job": str(entry["id"]), "kind": str(entry["type"]), **fields})


def _new_events(entry: Entry, jobs: Any, job: Job) -> tuple[str, ...]:
    """Key events in words, such as a calibration's end, each reported once."""
    if not hasattr(jobs, "events"):
        return ()
    path, old_events = memory_path(entry) / "events.json", ()
    with contextlib.suppress(OSError, ValueError):
        old_events = tuple(read_json(path.read_bytes()))
    with contextlib.suppress(HerorunError, OSError):
        events = tuple(scrub(event) for event in jobs.events(job.id))
        make_folders(path.parent)
        write_atomic(path, (canonical(events) + "\n").encode())
        return tuple(event for event in events if event not in old_events)
    return ()


def result_of(jobs: Any, job: Job) -> str:
    """Its own results, and of a failure the root by triage of its own log, with how its tasks
    ended.
    """
    results: list[str] = []
    with contextlib.suppress(HerorunError, OSError):
        results += [jobs.results(job.id)] if hasattr(jobs, "results") else []
    if job.state is JobState.SUCCEEDED:
        return "; ".join(part for part in results if part)
    with contextlib.suppress(HerorunError, OSError):
        results += [summary(jobs.tasks(job.id))] if hasattr(jobs, "tasks") else []
    return "; ".join(part for part in (*results, diagnosis(jobs, job)) if part)


def diagnosis(jobs: Any, job: Job) -> str:
    """The root of the failure in the end of its log."""
    try:
        text = jobs.tail(job.id, LINES)
    except (HerorunError, OSError) as error:
        return f"its log could not be read: {scrub(describe_error(error))}"
    signature_set = signatures.with_own()
    verdict = verdict_of_log(
        signature_set,
        follow(signature_set, OwnLog(instance=job.id), text.encode("utf-8", "replace")),
        job.exit_code,
    )
    if verdict.failure in QUIET:
        return "its log does not say why"
    cause = JobCause(
        failure=verdict.failure.value,
        file=verdict.where.file if verdict.where else "",
        line=verdict.where.line if verdict.where else None,
        excerpt=verdict.excerpt,
        advice=verdict.advice,
    )
    return scrub(str(cause))
