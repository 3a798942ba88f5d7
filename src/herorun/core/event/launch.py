"""Events of a launch: the record begins, an instance is intended, launched and admitted."""

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from typing import Any, ClassVar

from herorun.core.babysit.action_key import Verb, write_key
from herorun.core.evidence import GivenUp
from herorun.core.lazy_dataclass import dataclass


@dataclass(frozen=True)
class Initialised:
    """The record begins."""

    kind: ClassVar[str] = "Initialised"
    at: datetime
    slug: str
    contract: Mapping[str, str]  # the logbook's Run Contract lines
    issue: str = ""
    # path of the logbook's first page on the record's branch; empty: the default one
    logbook: str = ""


@dataclass(frozen=True)
class Adopted:
    """A job that was submitted without herorun, and that is an instance from now on."""

    job: str  # by the id that its back end gave it
    since: datetime | None = None  # when it was started, or else submitted; None: unknown


@dataclass(frozen=True, kw_only=True)
class Launching:
    """A submission is intended, or that a job is adopted. It is settled by Launched, or by Failed
    under `submit/<instance>`.
    """

    kind: ClassVar[str] = "Launching"
    at: datetime
    instance: str
    number: int
    plan: Mapping[str, Any]  # the full plan, with sources
    plan_digest: str
    why: str
    # relative to the repository's top; read again from the commit, never from here
    contract_file: str
    relaunch_of: str = ""
    by: str = ""
    dirty: str = "no"  # the logbook's word on the work tree, for when the launch is settled later
    where: str = ""  # machine and state folder: whose scheduler's "absent" counts
    # checkpoints that lay in the roots before the first launch: never ours
    foreign: tuple[str, ...] = ()
    policy: str = ""  # the logbook's word on a lenient `[policy] mode`
    # the findings that were open and did not stop it, as `check: message`
    overlooked: tuple[str, ...] = ()
    # of a rollback: what it rules out, once the instance was launched
    given_up: GivenUp | None = None
    # what a person read about the choice before making it
    facts: Mapping[str, str] = field(default_factory=dict)
    adopts: Adopted | None = None  # nothing is submitted: the job runs already
    # name -> salted digest; those that are set here
    secrets: Mapping[str, str] = field(default_factory=dict)

    @property
    def key(self) -> str:
        return write_key(Verb.SUBMIT, self.instance)


@dataclass(frozen=True, kw_only=True)
class Launched:
    kind: ClassVar[str] = "Launched"
    at: datetime
    instance: str
    number: int
    job: str
    plan_digest: str
    output_root: str
    commit: str
    entry: Mapping[str, str]  # the logbook's lines for this instance
    relaunch_of: str = ""
    babysitter: str = ""


@dataclass(frozen=True)
class Amended:
    """The contract that an instance was admitted under says something else than the logbook's
    head.
    """

    kind: ClassVar[str] = "Amended"
    at: datetime
    instance: str
    lines: Mapping[str, str]  # what differs, as `before -> after`
    contract: Mapping[str, str]  # the Run Contract lines from here on


@dataclass(frozen=True, kw_only=True)
class CheckedIn:
    kind: ClassVar[str] = "CheckedIn"
    at: datetime
    instance: str
    attempt: int
    outcome: str
    items: tuple[tuple[str, str, str], ...] = ()
    loaded: str | None = None
    # when the job checked in, by its own clock; `at` is when that was seen
    written: datetime | None = None
