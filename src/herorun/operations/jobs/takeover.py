"""What is known about a job that a person names: from its state file in this folder, or this
machine's journal.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from herorun.core.adhoc_jobs.spec import JobSpec
from herorun.operations.jobs.folders import known_spec
from herorun.operations.jobs.state_file import of_job


def spec_on_record(spec: JobSpec, start: Path) -> JobSpec | None:
    """The state file comes first: it may be from a machine that continued the job."""
    return of_job(start, spec) or known_spec(spec)


def merge_specs(base: JobSpec, spec: JobSpec, options: Mapping[str, str], start: Path) -> JobSpec:
    """Field by field: what is given now counts, and everything else stays as it is known."""
    facts = replace(base, **{each: getattr(spec, each) for each in options if each != "job"})
    if "resubmit" in options:
        facts = replace(facts, secrets=(), values={}, cwd="")
    current = str(start.resolve())  # of another machine there may be no such folder
    return facts if facts.cwd and Path(facts.cwd).is_dir() else replace(facts, cwd=current)
