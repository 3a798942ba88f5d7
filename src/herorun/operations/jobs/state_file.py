"""State files of watches without a contract: `scratch/<YYYYMMDD-HHMM>_monitoring_state.json`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from herorun.core.adhoc_jobs.spec import JobSpec
from herorun.core.adhoc_jobs.state_file import (
    FOLDER,
    facts_in,
    name_of,
    newest_first,
    project_state,
)
from herorun.core.errors import CouldNotLook, describe_error
from herorun.core.evidence import Job, Triage
from herorun.core.journal import Memory
from herorun.core.redaction.scrub import scrub
from herorun.core.triage.tracker_lines import tracker_runs
from herorun.core.untrusted_json import read_json
from herorun.job_kinds import with_kind_of_fields
from herorun.operations.babysit.outcome import TickOutcome
from herorun.operations.babysit.tick import run_tick
from herorun.operations.jobs.news import log_end, reported_runs
from herorun.operations.jobs.run import JobRun
from herorun.operations.jobs.scheduler import ExternalJobs
from herorun.system.clock import now
from herorun.system.files import create_atomic, hold_lock, read_regular, write_atomic

MAX_BYTES = 16 << 20  # bytes of a file that may have come with a clone
_EARLIER_KEYS = {"wandb_runs": "tracker_runs", "wandb_links": "tracker_links"}  # of older files


def newest(start: Path) -> tuple[JobSpec, Path, list[str]] | None:
    """The job of the newest readable state file, its path, and a message for each newer file that
    cannot be read. None if there is no state file; `CouldNotLook` if none can be read.
    """
    faults: list[str] = []
    for path in _all(start):
        try:
            return _read_spec(path), path, faults
        except (OSError, ValueError) as error:
            reason = (
                describe_error(error) if isinstance(error, OSError) else str(error).splitlines()[0]
            )
            faults.append(f"{path} cannot be read ({reason})")
    if faults:
        raise CouldNotLook(f"{'; '.join(faults)}: name the job with --job and --scheduler.")
    return None


def of_job(start: Path, spec: JobSpec) -> JobSpec | None:
    """The newest readable state file's description of this job; None if no file watches it. An
    empty field of `spec` matches anything.
    """
    for path in _all(start):
        try:
            facts = _read_spec(path)
        except (OSError, ValueError):
            continue
        if spec.job in (facts.job, facts.first_job) and facts.may_be(spec):
            return facts
    return None


def _read_spec(path: Path) -> JobSpec:
    """OSError, or a ValueError that says what is wrong with it."""
    return with_kind_of_fields(facts_in(read_regular(path, MAX_BYTES))[0])


def _all(start: Path) -> list[Path]:
    folder = start / FOLDER
    names = [path.name for path in folder.iterdir()] if folder.is_dir() else []
    return [folder / name for name in newest_first(names)]


def file_for(facts: JobSpec, start: Path, new_job: bool = False) -> Path:
    """The state file of this job; a new one if there is none, or with `new_job`."""
    for path in () if new_job else _all(start):
        try:
            spec = _read_spec(path)
        except (OSError, ValueError):
            continue
        same = (spec.kind, spec.where) == (facts.kind, facts.where)
        if same and {facts.job, facts.first_job} & {spec.job, spec.first_job} - {""}:
            return path
    folder = start / FOLDER
    while True:
        names = [path.name for path in folder.iterdir()] if folder.is_dir() else []
        path = folder / name_of(now(), names)
        try:
            create_atomic(path, b"{}\n")
            return path
        except FileExistsError:
            continue  # another session took it this very moment


def project(run: JobRun, more: Mapping[str, Any] | None = None) -> None:
    """Write the journal's state to the file. Keys of other programs in it stay."""
    path = run.state_file
    if path is None:
        return
    memory = run.record.memory()
    job = memory.current.job if memory.current else run.facts.job
    restarts = memory.current.number - 1 if memory.current else run.facts.restarts
    journal = {"journal": str(run.record.path)}
    with hold_lock(
        run.folder / "state-file.lock", what="another herorun that writes this state file"
    ):
        document = project_state(
            run.facts,
            job,
            restarts,
            now(),
            {_EARLIER_KEYS.get(key, key): value for key, value in _read_document(path).items()},
            {**_failure_before(memory), **(more or {}), **journal},
        )
        write_atomic(path, _encode_state(document), 0o644)


def tick_and_project(run: JobRun) -> TickOutcome:
    """Run one tick, then write its result to the state file."""
    outcome = run_tick(run)
    project(run, _signals(run.scheduler, run.record.memory(), outcome))
    return outcome


def _signals(scheduler: ExternalJobs, memory: Memory, outcome: TickOutcome) -> dict[str, Any]:
    """What the next person who monitors the job needs, next to the seed's fields."""
    job, triage = outcome.evidence.get(Job), outcome.evidence.get(Triage)
    links = tracker_runs(log_end(scheduler, job.instance)) if isinstance(job, Job) else ()
    return {
        "state": job.state.value if isinstance(job, Job) else "unknown",
        "run": outcome.tick.run.value if outcome.tick else "unknown",
        "monitor": outcome.tick.monitor.value if outcome.tick else "unknown",
        "progress": outcome.progress,
        "tracker_runs": [id for _, id in reported_runs(memory)],
        **({"tracker_links": [link for link in links if "://" in link]} if links else {}),
        **({"last_signal": signal} if (signal := _last_signal(outcome, job, triage)) else {}),
    }


def _last_signal(outcome: TickOutcome, job: object, triage: object) -> str:
    """The failure; while the job lives, what is wrong with it: lost workers, missing capacity."""
    if outcome.cause is not None:
        return str(outcome.cause)
    if isinstance(triage, Triage) and triage.excerpt:
        return f"{triage.failure_class}: {triage.excerpt}"
    alerts = outcome.tick.alerts.values() if outcome.tick else ()
    wrong = [f"{alert.check}: {alert.message}" for alert in alerts if alert.firing]
    reason = job.reason if isinstance(job, Job) else ""
    return scrub("; ".join(wrong)) or reason


def _failure_before(memory: Memory) -> dict[str, Any]:
    """How the job before the current one failed, so that a takeover does not repeat it."""
    current = memory.current.name if memory.current else ""
    before = [end for end in memory.ends.values() if end.instance != current]
    failures = [end for end in before if end.instance in memory.endings]
    if not failures:
        return {}
    ending = memory.endings[failures[-1].instance]
    return {"last_failure": {"fingerprint": ending.fingerprint, "step": failures[-1].step or 0}}


def _read_document(path: Path) -> dict[str, Any]:
    """Empty if the file is half-written: the journal has everything in it."""
    try:
        document = read_json(read_regular(path, MAX_BYTES))
    except (OSError, ValueError):
        return {}
    return document if isinstance(document, dict) else {}


def _encode_state(document: Mapping[str, Any]) -> bytes:
    import json

    return (json.dumps(document, indent=2) + "\n").encode()
