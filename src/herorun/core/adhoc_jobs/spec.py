"""What a person says of a job that has no contract, what must not be missing, and the form of its
id.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from herorun.core.canonical_json import digest
from herorun.core.contract import SLUG
from herorun.core.errors import WrongUse

_LONGEST = 40  # characters of a name in a slug


@dataclass(frozen=True, kw_only=True)
class JobSpec:
    """One job, as a person names it. Empty is not said."""

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
    # of a watch that goes on from its state file: the job it began with, and how often it restarted
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

    def may_be(self, named: "JobSpec") -> bool:
        """Whether nothing that is said of the other one contradicts this one."""
        names = ("kind", "cluster", "config", "host", "user")
        return all(getattr(named, each) in ("", getattr(self, each)) for each in names)

    @property
    def options(self) -> list[str]:
        """As they are typed for another job of the same kind and place."""
        names = ("kind", "config", "cluster", "experiment")
        told = {OPTIONS[each]: getattr(self, each) for each in names}
        told |= {"--host": self.host, "--user": self.user}
        return [word for option, value in told.items() if value for word in (option, value)]

    @property
    def slug(self) -> str:
        """Short, stable, and another one for each job and cluster.

        >>> Facts("4711", "slurm", host="login").slug
        'slurm-4711-1e68d2'
        """
        told = digest([self.kind, self.where, self.job]).removeprefix("sha256:")[:6]
        words = re.sub(r"[^a-z0-9]+", "-", f"{self.kind}-{self.job}".lower()).strip("-")
        if len(words) > _LONGEST:  # the end of a name is mostly its date
            words = f"{words[:24].rstrip('-')}-{words[-15:].lstrip('-')}"
        return f"{words}-{told}"


@dataclass(frozen=True)
class Form:
    """What an id of one scheduler looks like."""

    pattern: re.Pattern[str]
    words: str
    needs: tuple[str, ...] = ()  # fields of `JobSpec` that the seed's loop cannot do without
    article: str = "a"
    absent: str = "look at its id, and at the cluster"  # what to do where nobody knows the id


# Source: the babysitting loops for Iris and Ray and the job monitor for Slurm and nel that herorun
# was asked to cover.
FORMS: Mapping[str, Form] = {
    "iris": Form(
        re.compile(r"/[A-Za-z0-9_][A-Za-z0-9_.@-]*(?:/[A-Za-z0-9_][A-Za-z0-9_.@-]*)+"),
        "the canonical name /<user>/<job>, such as /dlwh/train-tiny-20260302-185630",
        ("config",),
        article="an",
    ),
    "ray": Form(
        re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*"),
        "a submission id, such as ray-run-held-isoflop_sweep-20260131-051716",
        ("cluster", "experiment"),
    ),
    "slurm": Form(
        re.compile(r"[0-9]{1,15}(?:_[0-9]{1,15}|\+[0-9]{1,15})?"),
        "a number, such as 4711 or 4711_3 of an array",
    ),
    "nel": Form(re.compile(r"[0-9a-f]{6,32}(?:\.[0-9]+)?"), "an invocation id, such as 15be12f8"),
    "launcher": Form(re.compile(r"[^\0\n]+"), "the path of the launcher's output file"),
    "local": Form(
        re.compile(r"[1-9][0-9]{0,9}|/[^\0\n]+"),
        "a process number, or the folder of a job that herorun started here",
    ),
    "ssh": Form(
        re.compile(r"[1-9][0-9]{0,9}"),
        "the number of a process on the box",
        ("host",),
        article="an",
        absent="look at its number and at the host; if a queue gave it, name that by --scheduler",
    ),
}
ON_A_BOX = "ssh"  # what a process number with a host and without a kind is
OPTIONS = {
    "job": "--job",
    "kind": "--scheduler",
    "config": "--config",
    "cluster": "--cluster",
    "experiment": "--experiment",
    "host": "--host",
}


def with_kind(facts: JobSpec) -> JobSpec:
    """`--job PID --host BOX` alone means a process on that box."""
    if facts.kind or not facts.host or not FORMS[ON_A_BOX].pattern.fullmatch(facts.job):
        return facts
    return replace(facts, kind=ON_A_BOX)


def missing(facts: JobSpec) -> tuple[str, ...]:
    """The options that this kind of job cannot do without and that were not given."""
    form = FORMS.get(facts.kind)
    wanted = ("job", "kind", *(form.needs if form else ()))
    return tuple(OPTIONS[name] for name in wanted if not getattr(facts, name))


def must_be_whole(facts: JobSpec) -> None:
    """`WrongUse` in one sentence, with every option that is missing."""
    if lacking := missing(facts):
        kinds = (
            f" (--scheduler is one of {', '.join(sorted(FORMS))})"
            if "--scheduler" in lacking
            else ""
        )
        raise WrongUse(
            f"To watch a job without a contract, {_and(lacking)} "
            f"{'is' if len(lacking) == 1 else 'are'} missing{kinds}."
        )
    must_be_id(facts.kind, facts.job)


def must_be_id(kind: str, job: str) -> None:
    """`WrongUse` for an id of the wrong form, or of a scheduler whose jobs nobody can look at by
    their id.
    """
    form = must_be_kind(kind)
    if not form.pattern.fullmatch(job):
        raise WrongUse(f"{job!r} is no id of {form.article} {kind} job: it must be {form.words}.")


def must_be_kind(kind: str) -> Form:
    """`WrongUse` for a scheduler whose jobs nobody can look at by their id."""
    form = FORMS.get(kind)
    if form is None:
        raise WrongUse(
            f"Jobs of {kind!r} cannot be monitored by id; supported kinds: "
            f"{', '.join(sorted(FORMS))}."
        )
    return form


def _and(names: Iterable[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


assert SLUG.fullmatch(JobSpec(job="/Ada/x_1", kind="iris", config="c").slug)
