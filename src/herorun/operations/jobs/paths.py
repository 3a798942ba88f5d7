"""Makes relative paths absolute: another process reads them from another folder."""

from dataclasses import replace
from pathlib import Path

from herorun.core.adhoc_jobs.spec import JobSpec
from herorun.job_kinds import job_kind


def with_absolute_paths(facts: JobSpec, start: Path) -> JobSpec:
    """The log, and of a launcher the output file that is its id. On another host they are paths of
    that host.
    """
    if facts.host:
        return facts
    log = str((start / facts.log).resolve()) if facts.log else ""
    is_path = bool(facts.job and facts.kind) and job_kind(facts.kind).id_is_path
    job = str((start / facts.job).resolve()) if is_path else facts.job
    return replace(facts, log=log, job=job)
