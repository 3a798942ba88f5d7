"""What is known about a job that a person names: from its state file in this folder, or this
machine's journal.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from herorun.core.adhoc_jobs.spec import JobSpec
from herorun.operations.jobs.folders import known_spec
from herorun.operations.jobs.state_file import of_job


def spec_on_record(named: JobSpec, start: Path) -> JobSpec | None:
    """The state file comes first: it may be from a machine that went on with the job."""
    return of_job(start, named) or known_spec(named)


def merged(known: JobSpec, named: JobSpec, given: Mapping[str, str], start: Path) -> JobSpec:
    """Field by field: what is given now counts, and everything else stays as it is known."""
    facts = replace(known, **{each: getattr(named, each) for each in given if each != "job"})
    if "resubmit" in given:
        facts = replace(facts, secrets=(), values={}, cwd="")
    here = str(start.resolve())  # of another machine there may be no such folder
    return facts if facts.cwd and Path(facts.cwd).is_dir() else replace(facts, cwd=here)
