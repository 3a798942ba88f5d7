"""Jobs, as their scheduler reports them."""

import re
from dataclasses import KW_ONLY
from datetime import datetime
from enum import StrEnum

from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_regex import lazy_regex


class JobState(StrEnum):
    PENDING = "pending"
    BUILDING = "building"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"
    PREEMPTED = "preempted"
    TIMED_OUT = "timed-out"
    OUT_OF_MEMORY = "out-of-memory"
    NODE_FAILED = "node-failed"
    UNSCHEDULABLE = "unschedulable"
    GONE = "gone"
    UNKNOWN = "unknown"

    @property
    def live(self) -> bool:
        return self in (JobState.PENDING, JobState.BUILDING, JobState.RUNNING)

    @property
    def is_final(self) -> bool:
        return not self.live and self is not JobState.UNKNOWN

    @property
    def in_doubt(self) -> bool:
        """It is unknown whether it runs, or how it ended."""
        return self in (JobState.UNKNOWN, JobState.GONE)

    @property
    def predicate(self) -> str:
        """Behind the name of a job, it makes a sentence.

        >>> JobState.RUNNING.predicate, JobState.TIMED_OUT.predicate
        ('is running', 'has timed out')
        """
        return _PREDICATES.get(self, f"is {self}")


_PREDICATES = {
    JobState.SUCCEEDED: "has succeeded",
    JobState.FAILED: "has failed",
    JobState.CANCELLED: "was cancelled",
    JobState.PREEMPTED: "was preempted",
    JobState.TIMED_OUT: "has timed out",
    JobState.OUT_OF_MEMORY: "ran out of memory",
    JobState.NODE_FAILED: "has lost its node",
    JobState.UNKNOWN: "is in an unknown state",
}
# Where a scheduler says only "killed" or "stopped", these words of its own name what did it, and it
# was no person.
_NOT_BY_HAND = lazy_regex(
    r"preempt|node.?fail|worker.?fail|dead node|time.?limit|timed?.?out|deadline", re.I
)
FORGOTTEN_JOB = (
    "forgotten job"  # the root of what is unknown because its scheduler does not list it
)
REFUSED_EXIT_CODE = 78  # EX_CONFIG of sysexits.h: what check-in exits with when it refuses


@dataclass(frozen=True)
class Placement:
    """Where an instance ran, and what."""

    nodes: tuple[str, ...] = ()
    images: tuple[str, ...] = ()  # as the nodes pulled them, by digest

    def join(self, other: "Placement") -> "Placement":
        """A pod that was replaced has run too."""
        return Placement(
            tuple(sorted({*self.nodes, *other.nodes})), tuple(sorted({*self.images, *other.images}))
        )


@dataclass(frozen=True)
class Job:
    """The current instance as its scheduler reports it."""

    id: str
    instance: str
    state: JobState
    raw: str = ""  # the scheduler's own word
    reason: str = ""
    _: KW_ONLY
    exit_code: int | None = None
    signal: str | None = None
    stopped_by: str | None = None  # who asked for the end, where the scheduler knows
    started: datetime | None = None
    # when it began by our clock as it stands now, where a clock that was set makes `started` differ
    began: datetime | None = None
    ended: datetime | None = None
    # or put back into the queue; None: the scheduler does not report it
    submitted: datetime | None = None
    tasks: int | None = None  # how many it is made of; None: the scheduler knows no parts
    running_tasks: int | None = None
    failed_on: tuple[str, ...] = ()  # nodes, if the scheduler reports which failed
    # what else of this very job runs or may run, in words; a scheduler that sees its parts tells
    other_writers: tuple[str, ...] = ()
    placement: Placement | None = None  # None: the scheduler does not report it, or not yet

    @property
    def ending(self) -> str:
        """How it ended, in words. A state such as preempted is a reason of its own."""
        how = (
            f"signal {self.signal}"
            if self.signal
            else f"exit code {self.exit_code}"
            if self.exit_code is not None
            else self.reason
        )
        if not how and self.state in (JobState.FAILED, JobState.CANCELLED):
            how = "the scheduler gives no reason"
        return f"{self.instance} ended as {self.state}{f': {how}' if how else ''}"

    @property
    def is_refused(self) -> bool:
        return self.exit_code == REFUSED_EXIT_CODE

    @property
    def stopped_by_hand(self) -> bool:
        """A stop that nothing else explains: no preemption, no lost node, no time limit."""
        return self.state is JobState.CANCELLED and (
            self.stopped_by is not None or not self.other_cause
        )

    @property
    def other_cause(self) -> str:
        """The scheduler's words for what ended it, where they say that no person did; otherwise
        empty.
        """
        message = f"{self.raw} {self.reason}".strip()
        return message if _NOT_BY_HAND.search(message) else ""

    @property
    def has_crashed(self) -> bool:
        return (
            self.state.is_final
            # it is unknown how a gone one ended
            and self.state not in (JobState.SUCCEEDED, JobState.GONE)
            and not self.stopped_by_hand
            and not self.is_refused
        )


@dataclass(frozen=True)
class Adoptee:
    """A live job that herorun did not submit and is to adopt, with what its back end reports."""

    job: Job
    kind: str  # of scheduler
    user: str = ""  # whose it is; empty: not reported
    command: tuple[str, ...] = ()  # what it runs, word by word; empty: not reported
    details: str = ""  # what its back end reports instead of the command
    folder: str = ""

    @property
    def since(self) -> datetime | None:
        return self.job.started or self.job.submitted


@dataclass(frozen=True)
class LiveJobs:
    """The jobs of this run that are live, or may be, by instance name."""

    jobs: tuple[Job, ...] = ()


@dataclass(frozen=True)
class OpenLaunch:
    """A launch that was interrupted under an earlier `[scheduler]`, and whose job runs there, or
    may.
    """

    instance: str
    job: Job | None = None
    why: str = ""  # why it is unknown whether the job runs


@dataclass(frozen=True)
class OtherJobs:
    """Live jobs that share the run's name and are not its current instance or gang. Shown to
    people; no check asks for them.
    """

    attempts: tuple[Job, ...] = ()  # other instances of the run
    # jobs that are called as it is, and are none of its instances
    diagnostics: tuple[Job, ...] = ()
    why: str = ""  # why not all are known


@dataclass(frozen=True)
class JobWarnings:
    """What the back end has warned of, for people: it forgets it, and the evidence keeps it. No
    check asks for it.
    """

    lines: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Triage:
    """Why the current instance ended, by its own log."""

    failure_class: str  # node-failure, code-bug-small, numeric, ...
    role: str = "root"
    fingerprint: str = ""  # the same for the same failure
    file: str = ""  # of a code bug
    line: int | None = None
    excerpt: str = ""
    needs_person: bool = False
    advice: str = ""  # of the signature: what a person does about it
