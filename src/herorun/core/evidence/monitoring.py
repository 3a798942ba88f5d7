"""What the babysitter sees in addition to jobs, rows and checkpoints: the log, disks, the lease,
its heartbeat.
"""

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime

from herorun.core.lazy_dataclass import dataclass
from herorun.core.record.lease import Lease


@dataclass(frozen=True, kw_only=True)
class Complaint:
    """A line of the job's log that would explain its end, if it ended."""

    failure_class: str  # as triage names it
    weight: str  # how much it explains: cause, bug, symptom or faint
    line: int
    excerpt: str
    where: str = ""  # file and line of the user's code, of an exception
    advice: str = ""
    since: datetime | None = None  # when it stood there at the latest


@dataclass(frozen=True)
class Loading:
    """A line of the job's log that says what was loaded."""

    loads: str  # scratch, none, older, weights, part or resumed
    line: int
    excerpt: str
    step: int | None = None  # where it says one
    path: str = ""  # where it names one


@dataclass(frozen=True)
class Dropped:
    """Rows that the tracker's client says it dropped, because it had later ones. Steps are as
    logged.
    """

    first: int
    newest: int
    current: int  # the tracker's own step, as of the newest line
    steps: int  # that rose from line to line
    line: int  # the newest


@dataclass(frozen=True, kw_only=True)
class JobLog:
    """The current instance's own log."""

    changed_at: datetime | None = None  # None: unknown here
    runs: tuple[str, ...] = ()  # tracker runs that it names, as `entity/project/id`
    saves: tuple[str, ...] = ()  # the newest paths that it says checkpoints are saved to
    # newest lines about lost owners, lost nodes or missing resources
    wedges: tuple[str, ...] = ()
    skipped: int = 0  # bytes skipped: more was new than one query reads
    # since the log last had many steps: one of each class
    complaints: tuple[Complaint, ...] = ()
    crowded: Complaint | None = None  # the newest line about host contention
    server: str = ""  # where it says that its newest tracker run is shown, as `https://host`
    size: int = 0  # bytes, up to where it was read
    overdue: tuple[
        tuple[str, int, int], ...
    ] = ()  # silent rows: in how many bytes a line is due, since how many none came
    matching: tuple[str, ...] = ()  # rows that state when a line is due, and had one in time
    # the newest that it reports as trained, never one that was loaded or saved
    step: int | None = None
    stepped_at: datetime | None = None  # when that one was first seen, or the log changed
    loading: tuple[Loading, ...] = ()  # the newest lines that say what was loaded, in order
    dropped: Dropped | None = None


@dataclass(frozen=True)
class Disk:
    """Room where one path lies. Inodes are None where the file system counts none."""

    free: int  # bytes
    total: int
    inodes: int | None = None  # free ones


@dataclass(frozen=True)
class Disks:
    """Room on this machine, by path; `before` is an older reading of the same, to see how fast it
    fills.
    """

    now: Mapping[str, Disk] = field(default_factory=dict)
    before: Mapping[str, Disk] = field(default_factory=dict)
    before_at: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class LeaseSeen:
    """The lease in its place, as this machine saw it over time."""

    owner: str  # user@machine
    slug: str
    unchanged_since: datetime  # since when neither its fence nor its beat moved, by our own clock
    modified: datetime | None = None  # by the store's clock
    mine: bool = True
    fence: int = 1
    beat: int = 0
    clone: str = ""  # of the owner's machine; empty: not known
    by_wall_clock: bool = False  # this machine reports no uptime, so a set clock changes the age

    @property
    def caveat(self) -> str:
        """A caveat about the age, for people; empty if there is none."""
        return (
            ", by the wall clock, which may jump: this machine does not report its uptime"
            if self.by_wall_clock
            else ""
        )


@dataclass(frozen=True)
class RecordLease:
    """The lease that the record holds, if its branch stores the lease."""

    lease: Lease


@dataclass(frozen=True)
class Heartbeat:
    """The babysitter's loop on this machine."""

    held: bool = False  # its lock: a process is there
    at: datetime | None = None  # when it last wrote that it is alive
    own: bool = True  # whether this very process is that loop


@dataclass(frozen=True)
class RecoverySource:
    """The checkpoint that a recovery would start from now, and when a rule of its store deletes
    it.
    """

    path: str
    step: int
    expires: datetime | None = None  # None: no rule deletes it, or it could not be asked
    rule: str = ""
    unknown: str = ""  # why it could not be asked
    unreported: str = ""  # who else can report the rules of a store that reports none


@dataclass(frozen=True)
class SaveTime:
    """How long a save took, in seconds, by the times of the newest complete checkpoint's own
    files.
    """

    seconds: float


@dataclass(frozen=True)
class OwnSecrets:
    """Which of the contract's secrets are set where the babysitter runs. Never a value."""

    present: frozenset[str] = frozenset()


@dataclass(frozen=True)
class ChannelState:
    """The contract's channels, each with why nothing can be sent by it; empty where it can. Never
    an address.
    """

    problems: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Undelivered:
    """Messages that no channel has accepted yet, with since when and why."""

    posts: tuple[tuple[str, datetime, str], ...] = ()


@dataclass(frozen=True)
class ActionBlock:
    """Why the babysitter may not act now, apart from the rules; empty where it may. No check asks
    for it.
    """

    lease: str = ""  # what is wrong with the lease
    lost: bool = False  # it is another's
    judge: str = ""  # why this version of herorun only observes
    withheld: tuple[str, ...] = ()  # keys of what the rules would have had it do

    @property
    def free(self) -> bool:
        return not self.lease and not self.judge
