"""What a person names by a relative path, in full: another process looks at it from another
folder.
"""

from dataclasses import replace
from pathlib import Path

from herorun.core.adhoc_jobs.spec import JobSpec


def placed(facts: JobSpec, start: Path) -> JobSpec:
    """The log, and of a launcher the output file that is its id. On another host they are paths of
    that host.
    """
    if facts.host:
        return facts
    log = str((start / facts.log).resolve()) if facts.log else ""
    job = (
        str((start / facts.job).resolve()) if facts.kind == "launcher" and facts.job else facts.job
    )
    return replace(facts, log=log, job=job)
