"""What one patrol saw. Each part may be unknown alone, with the reason, which is never "not
there".
"""

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from enum import StrEnum

from herorun.core.health.run_health import RunHealth
from herorun.core.lazy_dataclass import dataclass


class Liveness(StrEnum):
    YES = "alive"
    NO = "gone"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class MachineUnread:
    """The machine could not be read."""

    why: str


@dataclass(frozen=True, kw_only=True)
class LogEnd:
    """The end of the run's own log."""

    line: str = ""  # the newest line of the log that shows progress, unchanged
    step: int | None = None
    done: bool | None = None  # whether it contains the success pattern; None: none is declared
    size: int | None = None
    age: float | None = None  # seconds since it was written
    failure: str = ""  # the class of the failure that it reports; empty if it reports none
    excerpt: str = ""
    advice: str = ""


@dataclass(frozen=True)
class CommandOutput:
    text: str
    complete: bool = True


@dataclass(frozen=True)
class Count:
    files: int
    bytes: int


@dataclass(frozen=True)
class FolderCopy:
    """A folder on the machine, and the local folder that it copies."""

    path: str
    source: str
    remote: Count | MachineUnread | None  # None: there is no such folder
    local: Count | MachineUnread | None

    @property
    def is_complete(self) -> bool | None:
        """By the count of files and their bytes, never by the folder's existence; None: nobody
        could count.
        """
        if isinstance(self.remote, MachineUnread) or not isinstance(self.local, Count):
            return None
        if self.remote is None:
            return self.local.files == 0
        return self.remote.files >= self.local.files and self.remote.bytes >= self.local.bytes


@dataclass(frozen=True)
class Gpu:
    index: str
    use: float  # the mean of the samples, in per cent


@dataclass(frozen=True)
class MemoryUse:
    used: int  # bytes, without the file cache, which the kernel frees first
    limit: int | None
    share: float | None
    oom_kill: int | None


@dataclass(frozen=True)
class DiskRoom:
    free: int
    size: int
    inodes_free: int
    inodes: int  # 0 if the file system does not count inodes


@dataclass(frozen=True)
class ChainState:
    """The chain on the machine."""

    runs: bool
    failed: str = ""
    stage: str = ""  # the newest stage that began; `wait` before the first one; empty if unknown
    waits: bool = True  # whether it waits for the end of the training before its first stage


@dataclass(frozen=True, kw_only=True)
class HostObservation:
    """What one patrol reads."""

    at: datetime
    name: str  # the run's, or its newest instance's
    where: str  # the machine, as text
    alive: Liveness
    why: str = ""  # how the job ended, or why it is unknown whether it runs
    unreachable: str = ""  # why the machine gave no answer at all
    succeeded: bool = False  # whether the scheduler says that it succeeded
    # what all evidence shows, read now; only where nothing but the scheduler's success is a sign
    health: RunHealth | None = None
    log: LogEnd | MachineUnread | None = None  # None: there is none yet
    has_success_pattern: bool = False  # whether a success pattern is declared
    markers: Mapping[str, datetime | MachineUnread | None] = field(default_factory=dict)
    awaited_marker: datetime | MachineUnread | None = (
        None  # the marker file that `box wait` waits for
    )
    results: Mapping[str, CommandOutput | MachineUnread | None] = field(default_factory=dict)
    copies: tuple[FolderCopy, ...] = ()
    disks: Mapping[str, DiskRoom | MachineUnread] = field(default_factory=dict)
    output_age: float | None = None  # seconds since anything changed in the output roots
    gpus: tuple[Gpu, ...] | MachineUnread | None = None  # None: there are none
    memory: MemoryUse | MachineUnread | None = None
    load: float | None = None
    cpus: int | None = None
    cores_used: float | None = None  # processors that this user's processes used during the read
    cores_allowed: float | None = None  # the processors that those processes may use
    chain: ChainState | MachineUnread | None = None  # None: there is none
    # the first launch of the run: a marker from before it is not of this run
    launched_at: datetime | None = None


@dataclass(frozen=True)
class PreviousTick:
    """The facts of the previous tick that a report of changes needs."""

    at: datetime
    facts: str = ""
    step: int | None = None
    since: datetime | None = None  # since when nothing moves
    movement: str = ""
    oom_kill: int | None = None
