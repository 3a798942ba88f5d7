"""Documents of the commands about machines: remote ones, and this one."""

from collections.abc import Sequence
from typing import Literal

from herorun.core.doctor_report import DoctorPart
from herorun.core.lazy_pydantic import Field
from herorun.core.patrol.advice import Advice, PatrolState
from herorun.core.patrol.observation import HostObservation
from herorun.schemas.parts import Document, Schema


class PatrolDocument(Document):
    line: str
    """The one line that is printed."""
    state: PatrolState
    advice: Sequence[Advice]
    observation: HostObservation


class Wait(Document):
    slug: str
    reached: bool
    why: str
    polls: int
    state: PatrolState


class ChainDocument(Document):
    slug: str
    script: str
    file: str | None
    """Where it was written, with `--out`."""
    start: str
    """The command that copies the script to the machine and starts it there."""
    waits: bool
    """Whether the script waits for the end of the training. If not, start it only after that."""


class Runbook(Document):
    slug: str
    page: str
    """Markdown."""
    file: str | None
    """Where it was written; null with `--out -`."""


class TimerFile(Schema):
    path: str
    """Where the file belongs: under the home folder, or in the repository."""
    text: str


class TimerDocument(Document):
    """What `herorun box timer` prints; nothing is installed."""

    slug: str
    host: Literal["systemd", "cron", "actions"] = Field(alias="for")
    command: str
    seconds: int
    """Between two ticks."""
    text: str
    """All that is printed without `--json`."""
    files: Sequence[TimerFile]
    """The files of `systemd` and `actions`; for `cron` there is only a line for the crontab."""


class WatcherEntry(Schema):
    """A wait that has registered itself on this machine. If its file cannot be read, only `state`,
    `why` and `action` are there.
    """

    state: Literal["running", "over", "stale", "damaged"]
    """`over`: its process has ended; `stale`: nothing needs it any more; `damaged`: its file cannot
    be read."""
    why: str
    """Why it is not needed; empty if it is."""
    action: str
    """What was done about it, or would be; empty for nothing."""
    kind: str = ""
    """`wait`, for `herorun box wait`."""
    run: str = ""
    top: str = ""
    """The repository's folder; empty if there is none."""
    what: str = ""
    """What it waits for, as text."""
    pid: int = 0
    process_start: str = ""
    """The boot and the clock tick at which the process began: they tell it from a later one with
    its number."""
    started: float = 0.0
    """Seconds since 1970."""
    until: float = 0.0
    """When it ends by itself, in seconds since 1970; 0: with its run."""


class OtherProcess(Schema):
    """A process of one of these kinds, by its command line; it is never stopped."""

    pid: int
    command: str
    kind: Literal["babysitter", "watch over jobs", "transfer"]


class Watchers(Document):
    watchers: Sequence[WatcherEntry]
    others: Sequence[OtherProcess]


class WatchedRun(Schema):
    """What the watchdog reads about one run."""

    slug: str
    monitor: Literal["fresh", "stale", "not-watched", "unknown"]
    run: str = ""
    """The state at the newest tick; omitted if the record could not be read."""
    why: str
    last_seen: str | None = None
    due: str | None = None
    issue_comment: str = ""
    """The link of the issue comment."""
    takeover: str = ""
    """The command that monitors it from another machine, if the one of its owner is gone; empty if
    the monitor is not stale."""


class WatchdogDocument(Document):
    runs: Sequence[WatchedRun]


class Doctor(Document):
    verdict: Literal["ok", "failed", "unknown"]
    """`unknown`: nothing failed, but something could not be checked."""
    parts: Sequence[DoctorPart]


class Completion(Document):
    shell: Literal["bash", "zsh", "fish"]
    script: str


class Demo(Document):
    folder: str
    slug: str
    instances: Sequence[str]
    tag: str | None
    record: str | None
    issue: str
    seconds: float
