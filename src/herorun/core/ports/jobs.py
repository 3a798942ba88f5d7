"""Schedulers: what is submitted, found, read and stopped."""

from collections.abc import Hashable, Mapping
from datetime import datetime, timedelta
from typing import Protocol, TypeAlias, TypeVar, runtime_checkable

from herorun.core.evidence import Job
from herorun.core.lazy_dataclass import dataclass
from herorun.core.plan import Plan

SnapshotT = TypeVar("SnapshotT")


@dataclass(frozen=True)
class Submission:
    """The exact request that a scheduler gets. What is shown is what is sent: it holds no secret
    values.
    """

    instance: str
    argv: tuple[str, ...]
    cwd: str  # relative to the code folder
    env: Mapping[str, str]
    secrets: tuple[str, ...]  # names only


def submission_of(plan: Plan, instance: str) -> Submission:
    """Pure from the plan and the instance's name."""
    start = plan.start.value
    env = {**plan.env.value, "HERORUN_INSTANCE": instance}
    if start:
        env["HERORUN_START"] = start.path
    return Submission(instance, plan.command_line, plan.cwd.value, env, plan.secrets.value)


@dataclass(frozen=True)
class Found:
    job: Job


@dataclass(frozen=True)
class Absent:
    """Every source was read, the settle time is over, and there is no such job."""


@dataclass(frozen=True)
class Unknown:
    """The query failed, or it is too early to tell; or the scheduler has forgotten the job."""

    why: str
    # Every source was read, the settle time is over, and none lists the job, which may have been
    # accepted. A person who knows that it has ended may record that.
    forgotten: bool = False


Search: TypeAlias = Found | Absent | Unknown


class Scheduler(Protocol):
    """Where jobs run. Ids are matched whole; submitting one instance twice is one job.

    If the back end does not answer, `find` returns `Unknown`; the others raise `HerorunError` or
    OSError, within the adapter's own deadline.
    """

    cluster_wide: bool  # whether every machine and clone gets the same answers from it

    def submit(self, submission: Submission, code: str, admission: str) -> Job:
        """Start the instance in the `code` folder, with the path of its admission file. Idempotent
        by instance name. `WrongUse`, before anything starts, if a secret is missing here.
        """

    def find(self, instance: str, intended_at: datetime) -> Search:
        """Search for an instance that was perhaps submitted at `intended_at` (with time zone)."""

    def live_jobs(self, slug: str) -> tuple[Job, ...]:
        """The run's jobs that are live, or may be."""

    def tail(self, instance: str, lines: int) -> str:
        """The newest lines of the instance's own log, standard output and error; FileNotFoundError
        if there is none.
        """

    def stop(self, instance: str, by: str) -> None:
        """Ask the instance to end, in the name of `by` (user@machine). Stopping an ended job does
        nothing; an unknown one is a `HerorunError`.
        """


class ManyJobs(Protocol):
    """A scheduler that answers for many jobs by one question. One without it is asked job by
    job.
    """

    def find_all(self, intents: Mapping[str, datetime]) -> Mapping[str, Search]:
        """`find` of each instance with its intent's time; one that was not answered for is
        `Unknown`.
        """


class ManyRuns(Protocol[SnapshotT]):
    """A scheduler of which one snapshot answers for many runs. One without it is asked run by run.

    A snapshot serves monitoring alone: whatever acts asks the scheduler itself.
    """

    @property
    def cluster(self) -> Hashable:
        """The same for all schedulers that can use each other's snapshots."""

    def snapshot(self, intents: Mapping[str, datetime]) -> SnapshotT:
        """What the back end now says of these instances, with their intents' times, and which other
        jobs of their runs are live.

        By as few requests as it takes; `CouldNotLook` or OSError where it did not answer.
        """

    def with_snapshot(self, snapshot: SnapshotT) -> Scheduler:
        """This scheduler, with `find` and `live_jobs` answered from a snapshot; what that does not
        hold is asked for again.
        """


class FromStore(Protocol):
    """A scheduler whose jobs fetch their code from the output store. One without it, or with None,
    brings it there itself.
    """

    def bundle(self, code: str) -> tuple[str, bytes] | None:
        """A path in the store that is named by its content, and that content: it must lie there
        before the submission.
        """


class KnowsOtherJobs(Protocol):
    """A scheduler that knows other jobs than herorun's own. One without it is not asked for any."""

    def other_jobs(self, slug: str) -> tuple[Job, ...]:
        """Live jobs called `<slug>-...` that are no instance of the run and no part of one. For
        people's eyes alone.
        """


class ReportsWarnings(Protocol):
    """A scheduler whose back end reports its warnings. One without it is not asked."""

    def warnings(self, instance: str) -> tuple[str, ...]:
        """One line each, the newest last, for people and for the evidence; no check reads them."""


class ById(Protocol):
    """Reads jobs by the ids that their back end gave them, no matter who submitted them. It
    submits nothing.
    """

    def find_job(self, job: str) -> Search:
        """The job as its own source reports it; `Job.raw` keeps that source's word."""

    def tail(self, job: str, lines: int) -> str:
        """The newest lines of its log, its children's too; FileNotFoundError where it has none."""

    def stop(self, job: str) -> None:
        """Ask the job to end. Stopping an ended job does nothing; if there is no such job, or none
        could be asked, raises `HerorunError` or OSError.
        """


class DatedLogs(Protocol):
    """A `ById` that reports the age of the newest line of a job's log. One without it reports
    nothing.
    """

    def log_age(self, job: str) -> timedelta:
        """Since its log last changed, by the clock of the machine where it lies; FileNotFoundError
        where it has none, `CouldNotLook` or OSError if it is unknown.
        """


@runtime_checkable
class ListsJobs(Protocol):
    """A `ById` whose back end lists the user's jobs. `JobKind.listing` names that list."""

    def listed(self, most: int) -> tuple[tuple[str, str], ...]:
        """Ids, the newest first, each with its entry in the list."""


@dataclass(frozen=True)
class Origin:
    """Where a job comes from, if its back end reports it. Empty: not reported."""

    user: str = ""  # whose it is
    mine: bool | None = None  # whether that is the user that herorun asks as
    command: tuple[str, ...] = ()  # what it runs, word by word
    # the same in the back end's own words, where these cannot be compared: a script's path
    details: str = ""
    folder: str = ""  # that it was submitted from, or runs in


class Submitted(Protocol):
    """A `ById` that reports where a job comes from. One without it is not asked: its origin is then
    unknown.
    """

    def origin(self, job: str) -> Origin:
        """The origin of a live job; `CouldNotLook` or OSError if it is unknown."""


class Printable(Protocol):
    """A scheduler that can show what it would be sent. One without it is sent the submission as it
    stands.
    """

    def request(self, submission: Submission, code: str, admission: str) -> str:
        """The exact request, for people: argv or script, and the names of the environment. No
        secret's value.
        """


@dataclass(frozen=True)
class LogPart:
    """Bytes of a job's own log, from where they were asked for; they may begin and end within a
    line or a character.
    """

    data: bytes
    offset: int  # of the byte after `data`: where to continue
    size: int  # of the whole log, in bytes, at the time of the query
    # the adapter's own; given back with `offset` it shows whether this is still the same log
    mark: str
    restarted: bool = False  # it is another log, or a shortened one: `data` are from its first byte
    changed_at: datetime | None = None  # None: the adapter cannot report when the log last changed


class Logs(Protocol):
    """A scheduler that reads a log from any byte on. One without this is asked for the log's end at
    each look.
    """

    def read_log(self, instance: str, offset: int, limit: int, mark: str = "") -> LogPart:
        """At most `limit` bytes of the instance's own log, with no more than that in memory.

        A missing log raises FileNotFoundError, one that cannot be read OSError. `offset` beyond the
        end, or a `mark` of another content, is a restart. An empty `mark` is not compared.
        """
