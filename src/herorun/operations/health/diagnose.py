"""`herorun triage` of a run: diagnoses its newest instance from evidence that is read now."""

from pathlib import Path

from herorun.core.errors import HerorunError
from herorun.core.evidence import Job
from herorun.core.recovery.classify import Ending
from herorun.core.redaction.scrub import scrub
from herorun.core.triage.classes import FailureClass
from herorun.operations.health.evaluate import evaluate
from herorun.runs import known_slugs, watched_run
from herorun.schemas.evaluations import Failure
from herorun.system.git import find_repository


def names_run(name: str, start: Path) -> bool:
    """Whether the name is that of a run of this repository, and not of a file."""
    if name == "-" or (start / name).exists():
        return False
    try:
        return name in known_slugs(find_repository(start))
    except HerorunError:
        return False


def log_diagnosed(name: str, start: Path, checked_in: str) -> Failure | None:
    """The diagnosis of the instance that a log belongs to, the same as all other outputs show. The
    instance is known by the log's place in the run's own folder, or by the newest check-in in the
    log.

    None for any other file, and if only the log can show the cause.
    """
    parts = (start / name).resolve().parts
    at = parts.index(".herorun") if ".herorun" in parts[:-4] else None
    slug, instance = (
        (checked_in.rpartition("-")[0], checked_in)
        if at is None
        else (parts[at + 1], parts[at + 3])
    )
    try:
        top = Path(*parts[:at]) if at is not None else start
        if at is None and slug not in known_slugs(find_repository(start)):
            return None
        return _instance_diagnosed(name, slug, instance, top)
    except (HerorunError, OSError):
        return None


def _instance_diagnosed(name: str, slug: str, instance: str, top: Path) -> Failure | None:
    run, _ = watched_run(slug, top)
    memory = run.record.memory()
    if memory.current is not None and memory.current.name == instance:
        failure = run_diagnosed(slug, top)
        return Failure.of(failure, file=name) if failure.role == "root" else None
    ending = memory.endings.get(instance)
    number = next((each.number for each in memory.instances if each.name == instance), 1)
    return _failure(name, ending.seen, ending.why, number, ending) if ending else None


def run_diagnosed(name: str, start: Path) -> Failure:
    """The diagnosis of the newest instance, in the form of a triaged log; the excerpt is the
    diagnosis.
    """
    run, _ = watched_run(name, start)
    memory = run.record.memory()
    current = memory.current
    if current is None:
        return _failure(name, FailureClass.NOT_A_FAILURE, f"{name} has not been launched", 1)
    ending, message = memory.endings.get(current.name), f"how {current.name} ended is not known"
    if not (run.closed_reason or memory.sealed):
        result, evidence = evaluate(run, memory=memory)
        job = evidence.get(Job)
        ending = result.ending
        message = (
            f"{current.name} {job.state.predicate}: it did not fail"
            if isinstance(job, Job)
            else message
        )
    elif memory.sealed and ending is None:
        message += f": {name} is sealed, so its scheduler is no longer queried"
    if ending is None:
        kind = FailureClass.UNKNOWN if "not known" in message else FailureClass.NOT_A_FAILURE
        return _failure(name, kind, message, current.number)
    return _failure(name, ending.seen, ending.why, current.number, ending)


def _failure(
    name: str, kind: str, message: str, number: int, ending: Ending | None = None
) -> Failure:
    return Failure(
        file=name,
        class_=str(kind),
        role="root" if ending else "cascade",
        line=None,
        excerpt=scrub(message),
        fingerprint=ending.fingerprint if ending else "",
        advice=ending.advice if ending else "",
        signature=None,
        frame=ending.place or None if ending else None,
        needs_person=ending.needs_person if ending else False,
        attempt=number,
    )
