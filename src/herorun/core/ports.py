"""What the outside must be able to do for us. One contract suite a port, in `tests/ports/`."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Protocol, TypeAlias, runtime_checkable

from herorun.core.evidence import Candidate, Job, TrackerAlert, TrackerIdentity
from herorun.core.plan import Plan
from herorun.core.reach import Reach


@dataclass(frozen=True)
class Place:
    """Where an adapter finds itself. Every adapter module has `Options` and `connect(options, place)`."""

    slug: str
    state: str  # the run's private folder, `.herorun/<slug>` of the main work tree
    output_root: str
    repository: str  # the top of the work tree
    reach: Reach | None = None  # of the machine where paths without a scheme lie; None: this one


@dataclass(frozen=True)
class Submission:
    """The exact request that a scheduler gets. What is shown is what is sent: it holds no secret values."""

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
class Unsure:
    """We could not look, or it is too early to tell."""

    why: str


Search: TypeAlias = Found | Absent | Unsure


class Scheduler(Protocol):
    """Where jobs run. Ids are matched whole; submitting one instance twice is one job."""

    everywhere: bool  # whether every machine and clone gets the same answers from it

    def submit(self, submission: Submission, code: str, admission: str) -> Job:
        """Start the instance in the `code` folder, with the path of its admission file. Idempotent by instance name."""

    def find(self, instance: str, intended_at: datetime) -> Search:
        """Look for an instance that was perhaps submitted at `intended_at`."""

    def live(self, slug: str) -> tuple[Job, ...]:
        """The run's jobs that are live, or may be."""

    def tail(self, instance: str, lines: int) -> str:
        """The newest lines of the instance's own log."""

    def stop(self, instance: str, by: str) -> None:
        """Ask the instance to end, in the name of `by`. Stopping an ended job does nothing."""


class ManyJobs(Protocol):
    """A scheduler that answers for many jobs by one question. One without it is asked job by job."""

    def find_all(self, wanted: Mapping[str, datetime]) -> Mapping[str, Search]:
        """`find` of each instance with its intent's time; one that was not answered for is `Unsure`."""


class ManyRuns(Protocol):
    """A scheduler of which one look answers for many runs. One without it is asked run by run.

    Only what is looked at may come from a shared look: whoever acts asks the scheduler itself.
    """

    @property
    def cluster(self) -> Hashable:
        """The same for all schedulers that can use each other's looks."""

    def look(self, wanted: Mapping[str, datetime]) -> Any:
        """What the back end now tells of these instances, with their intents' times, and of what is live beside them.

        By as few questions as it takes; `CouldNotLook` or OSError where it did not answer.
        """

    def by(self, look: Any) -> Scheduler:
        """This scheduler, with `find` and `live` answered from a look; what that does not hold is asked for anew."""


class Beside(Protocol):
    """A scheduler that knows other jobs than herorun's own. One without it is not asked for any."""

    def beside(self, slug: str) -> tuple[Job, ...]:
        """Live jobs called `<slug>-...` that are no instance of the run and no part of one. For people's eyes alone."""


class ById(Protocol):
    """Looks at jobs by the ids that their back end gave them, whoever submitted them. It submits nothing."""

    def look(self, job: str) -> Search:
        """The job as its own source tells of it; `Job.raw` keeps that source's word."""

    def tail(self, job: str, lines: int) -> str:
        """The newest lines of its log, its children's too; FileNotFoundError where it has none."""

    def stop(self, job: str) -> None:
        """Ask the job to end. Stopping an ended job does nothing."""


@dataclass(frozen=True)
class Origin:
    """Where a job comes from, as far as its back end tells. Empty is not told."""

    user: str = ""  # whose it is
    mine: bool | None = None  # whether that is the user that herorun asks as
    command: tuple[str, ...] = ()  # what it runs, word by word
    told: str = ""  # the same in the back end's own words, where these cannot be compared: a script's path
    folder: str = ""  # that it was submitted from, or runs in


class Submitted(Protocol):
    """A `ById` that tells where a job comes from. One without it is not asked: then nothing of it is known."""

    def origin(self, job: str) -> Origin:
        """Of a job that is live; `CouldNotLook` or OSError where nobody could tell."""


class Printable(Protocol):
    """A scheduler that can show what it would be sent. One without it is sent the submission as it stands."""

    def request(self, submission: Submission, code: str, admission: str) -> str:
        """The exact request, for people: argv or script, and the names of the environment. No secret's value."""


@dataclass(frozen=True)
class LogPart:
    """Bytes of a job's own log, from where they were asked for; they may begin and end within a line or a character."""

    data: bytes
    offset: int  # of the byte after `data`: where to go on
    size: int  # of the whole log, in bytes, as it was at the look
    mark: str  # the adapter's own; given back with `offset` it tells whether this is still the same log
    restarted: bool = False  # it is another log, or a shortened one: `data` are from its first byte
    changed_at: datetime | None = None  # None: the adapter cannot tell when the log last changed


class Logs(Protocol):
    """A scheduler that reads a log from any byte on. One without this is asked for the log's end at each look."""

    def read_log(self, instance: str, offset: int, limit: int, mark: str = "") -> LogPart:
        """At most `limit` bytes of the instance's own log, and no more of it in memory.

        A missing log raises FileNotFoundError, one that cannot be read OSError. `offset` beyond the end, or a `mark` of
        another content, is a restart. An empty `mark` is not compared.
        """


@dataclass(frozen=True)
class Row:
    """One logged row. `step` is as logged; `values` hold numbers, non-finite ones included."""

    step: int
    values: Mapping[str, float]
    at: datetime | None = None  # None where the row has no zoned time
    attempt: str = ""  # the execution that wrote it, where the source tells


@dataclass(frozen=True)
class Rows:
    """The rows since a cursor, and the cursor after them."""

    rows: tuple[Row, ...]
    cursor: str
    changed_at: datetime | None = None  # when the source last changed, by its host's clock
    restarted: bool = False  # the source was replaced or shortened: the rows begin anew
    problems: tuple[str, ...] = ()  # lines that could not be read, by place


class Identities(Protocol):
    """A tracker that knows its runs by id. One that does not has no such method, and is asked nothing."""

    def identify(self) -> TrackerIdentity:
        """The run under the contract's id as it is now, never from a cache. Unreachable is a state, not an error."""


class Alerts(Protocol):
    """A tracker in which the trainer itself raises alerts. One that does not has no such method."""

    def alerts(self, since: int = 0) -> tuple[TrackerAlert, ...]:
        """The run's alerts after the one of that number, oldest first. A missing source raises FileNotFoundError."""


class Tracker(Protocol):
    """What a run reports. A missing source raises FileNotFoundError; one that cannot be read, OSError."""

    def read(self, cursor: str) -> Rows:
        """All rows after the cursor; an empty cursor means from the start."""


@dataclass(frozen=True)
class Rule:
    """A rule of the store about what lies under a root."""

    words: str  # for people
    deletes_after: timedelta | None = None  # of an object's age; None: it deletes nothing by age


@dataclass(frozen=True)
class Entry:
    """One name in a folder."""

    name: str  # a folder's ends with a slash
    modified: datetime | None = None  # None: the store does not tell, as object stores do of folders
    size: int | None = None  # bytes; None for a folder
    link: bool = False  # it only leads elsewhere: what it leads to is not in this folder
    checksum: str = ""  # of the content, as `kind:value`, where the listing tells one


class Store(Protocol):
    """A place for checkpoints and for the run's own `_herorun/` files.

    A missing path raises FileNotFoundError and an existing one FileExistsError; whatever else goes wrong
    raises OSError and is never read as "empty". Every call is bounded: a store that hangs raises TimeoutError.
    """

    def entries(self, path: str) -> tuple[Entry, ...]:
        """What lies in a folder, sorted by name: one delimited listing, never a walk."""

    def names(self, path: str) -> tuple[str, ...]:
        """The names in a folder, folders with a trailing slash, sorted."""

    def read(self, path: str) -> bytes: ...

    def end(self, path: str, count: int) -> bytes:
        """The last `count` bytes of a file, or all of a shorter one."""

    def modified(self, path: str) -> datetime | None:
        """When a file last changed, by the store's clock; None where it does not tell."""

    def generation(self, path: str) -> str:
        """The store's own word for this content of a file: it changes whenever the file is written again."""

    def region(self, root: str) -> str | None:
        """Where a root lies; None where the store does not tell."""

    def rules(self, root: str) -> tuple[Rule, ...]:
        """Rules of the store that delete or lock what lies under a root; OSError where nobody may ask."""

    def create(self, path: str, data: bytes) -> None:
        """Write a new file whole; refuse an existing one."""

    def swap(self, path: str, before: bytes, after: bytes) -> bool:
        """Replace a file's content only if it is still `before`; say whether it was."""

    def delete(self, path: str) -> None:
        """Delete one file. What is not a file is never deleted: a folder raises OSError."""

    def delete_folder(self, path: str) -> None:
        """Delete a folder that holds nothing; OSError where it holds something. On an object store there may be none."""

    def probe(self, root: str) -> None:
        """Write, list, rename and delete under `_herorun/` of the root; OSError says what failed."""


class Layout(Protocol):
    """How a trainer lays out its checkpoints in a root."""

    def listed(self, store: Store, root: str, temporary: bool) -> tuple[Candidate, ...]:
        """Every checkpoint under a root by one delimited listing, unexamined and ordered by step.

        A name that is nearly a checkpoint's, such as `step-1000.bak`, is there with its problem, examined.
        """

    def examined(self, store: Store, candidate: Candidate) -> Candidate | None:
        """The same candidate, looked into by as few requests as it takes; None if it is gone meanwhile."""

    def dated(self, store: Store, candidate: Candidate) -> Candidate:
        """The same candidate with the time of its newest file, by one listing and without looking into it."""

    def candidates(self, store: Store, root: str, temporary: bool) -> tuple[Candidate, ...]:
        """Every checkpoint under a root, every one examined: for retention, never for a look at the newest."""

    def final(self, root: str, step: int) -> str:
        """The path of the checkpoint of a step."""


@dataclass(frozen=True)
class Post:
    """Something to say, under the key that makes it said once."""

    key: str
    title: str
    body: str


class Notifier(Protocol):
    """Whom we tell. Posting one key twice is one post."""

    def post(self, post: Post) -> str:
        """Say it, and return a reference to what was said."""

    def find(self, key: str) -> str | None:
        """The reference of what was said under a key; None if every place was read and it is not there."""


class Channel(Notifier, Protocol):
    """A notifier beyond the issue. It is called by the variable that holds its address, which is never told."""

    name: str

    def problem(self) -> str:
        """Why nothing can be sent by it, found without sending; empty where nothing is known against it."""


@dataclass(frozen=True)
class Channels:
    """All of a contract's, in its order."""

    all: tuple[Channel, ...] = ()


class IssueTracker(Notifier, Protocol):
    """A notifier with a page of its own for the run."""

    def open(self, post: Post, labels: tuple[str, ...]) -> str:
        """Create the run's issue, or return the one that is there; the reference is a link."""

    def edit(self, post: Post) -> str:
        """Say it in the place of what was said under the key before; say it anew where nothing was."""


@dataclass(frozen=True)
class Comments:
    """What we said on the issue, comment by comment, the oldest first. `more`: further ones were not read."""

    bodies: tuple[str, ...]
    more: bool = False


@runtime_checkable
class ReadBack(Protocol):
    """An issue tracker whose comments can be read again. It only looks."""

    def comments(self, key: str, most: int) -> Comments:
        """Our own comments on the issue that was opened under a key, at most so many read; OSError where it is not there."""
