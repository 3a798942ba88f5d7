"""A snapshot of the launcher, for all the runs that share it. Pure."""

import re
from collections.abc import Iterable, Mapping
from datetime import datetime

from herorun.core.evidence import Job
from herorun.core.lazy_dataclass import dataclass
from herorun.schedulers._nel.parse import NelTask


@dataclass(frozen=True)
class NelSnapshot:
    """The launcher's list, and the states that it and Slurm report for some of its jobs."""

    at: datetime  # when it began
    entries: tuple[NelTask, ...]
    invocations: frozenset[str]  # that were asked for
    statuses: Mapping[str, str]  # nel's, by job
    slurm: Mapping[str, Job | str]  # by job, of those of its Slurm executor

    def covers(self, jobs: Iterable[NelTask]) -> bool:
        return self.invocations.issuperset(job.invocation for job in jobs)


def of_runs(tasks: Iterable[NelTask], instances: Iterable[str]) -> tuple[NelTask, ...]:
    """The jobs of all instances of these runs: each may write below another folder."""
    slugs = "|".join(re.escape(name.rpartition("-")[0]) for name in instances)
    theirs = re.compile(rf".*/(?:{slugs})-[0-9]+/?", re.DOTALL)
    return tuple(entry for entry in tasks if theirs.fullmatch(entry.output))
