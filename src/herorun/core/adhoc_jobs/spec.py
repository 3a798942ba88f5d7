"""What a person states about a job without a contract."""

import re
from collections.abc import Mapping
from dataclasses import field, replace
from typing import Any

from herorun.core.canonical_json import digest
from herorun.core.contract import SLUG
from herorun.core.lazy_dataclass import dataclass
from herorun.core.redaction.scrub import scrub

_MAX_NAME_LENGTH = 40  # characters of a name in a slug


@dataclass(frozen=True, kw_only=True)
class JobSpec:
    """One job, as a person names it. An empty field was not given."""

    job: str
    kind: str  # of scheduler
    cluster: str = ""
    config: str = ""
    experiment: str = ""
    host: str = ""
    user: str = ""
    resubmit: str = ""
    log: str = ""
    cwd: str = ""  # where the resubmit command runs
    # names of the variables that hold channels' addresses, with commas between them
    notify: str = ""
    bad_node_zone: str = ""  # where the machine of a bad TPU is deleted before a resubmission
    # of a watch that resumes from its state file: the job it began with, and how often it restarted
    first_job: str = ""
    restarts: int = 0
    last_signal: str = ""
    names_no_command: bool = False  # its state file is another program's, which has no such field
    last_failure: tuple[str, int] = ("", 0)  # of the job before: its fingerprint and its step
    secrets: tuple[str, ...] = ()  # variables that `resubmit` refers to as `${NAME}`
    # their values as they were typed; in memory alone
    values: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of(cls, texts: Mapping[str, str]) -> "JobSpec":
        """From options as they are typed, by field; those that are missing are empty."""
        fields: dict[str, Any] = {"job": "", "kind": "", **texts}
        return cls(**fields)

    def having(self, texts: Mapping[str, str]) -> "JobSpec":
        fields: dict[str, Any] = dict(texts)
        return replace(self, **fields)

    @property
    def where(self) -> str:
        """What tells two jobs of one id apart: the cluster that knows it."""
        return (
            self.config or self.cluster or (f"{self.user}@{self.host}" if self.user else self.host)
        )

    def may_be(self, other: "JobSpec") -> bool:
        """Whether nothing that the other one states contradicts this one."""
        names = ("kind", "cluster", "config", "host", "user")
        return all(getattr(other, each) in ("", getattr(self, each)) for each in names)

    @property
    def options(self) -> list[str]:
        """As they are typed for another job of the same kind and place."""
        names = ("kind", "config", "cluster", "experiment")
        values = {OPTIONS[each]: getattr(self, each) for each in names}
        values |= {"--host": self.host, "--user": self.user}
        return [word for option, value in values.items() if value for word in (option, value)]

    @property
    def slug(self) -> str:
        """Short, stable, and another one for each job and cluster.

        >>> JobSpec(job="4711", kind="slurm", host="login").slug
        'slurm-4711-1e68d2'
        """
        suffix = digest([self.kind, self.where, self.job]).removeprefix("sha256:")[:6]
        name = re.sub(r"[^a-z0-9]+", "-", f"{self.kind}-{self.job}".lower()).strip("-")
        if len(name) > _MAX_NAME_LENGTH:  # the end of a name is mostly its date
            name = f"{name[:24].rstrip('-')}-{name[-15:].lstrip('-')}"
        slug = f"{name}-{suffix}"
        instance = f"{slug}-1"
        if scrub(instance) != instance:  # it reads like a secret, and would be masked everywhere
            slug = f"{self.kind}-job-{suffix}"
        return slug


OPTIONS = {
    "job": "--job",
    "kind": "--scheduler",
    "config": "--config",
    "cluster": "--cluster",
    "experiment": "--experiment",
    "host": "--host",
}


assert SLUG.fullmatch(JobSpec(job="/Ada/x_1", kind="queue", config="c").slug)
