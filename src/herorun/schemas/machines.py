"""The documents of the commands that look from outside, and of the demo."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from herorun.core.doctor_report import DoctorPart
from herorun.core.lazy_pydantic import Field
from herorun.core.patrol.advice import Advice, PatrolState
from herorun.core.patrol.observation import HostObservation
from herorun.schemas.parts import Document, Shape


class PatrolDocument(Document):
    line: str
    """The one line that is printed."""
    state: PatrolState
    advice: Sequence[Advice]
    observation: HostObservation


class Await(Document):
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


class Handbook(Document):
    slug: str
    page: str
    """Markdown."""
    file: str | None
    """Where it was written; null with `--out -`."""


class TimerFile(Shape):
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


class WatcherEntry(Shape):
    """A process that watches from this machine, and whether it still does."""

    stands: str
    why: str
    action: str


class OtherProcess(Shape):
    """A process of one of these kinds, by its command line; it is never stopped."""

    pid: int
    command: str
    kind: Literal["babysitter", "watch over jobs", "transfer"]


class Watchers(Document):
    watchers: Sequence[Mapping[str, Any]]
    others: Sequence[OtherProcess]


class WatchedRun(Shape):
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


class WatchdogDocument(Document):
    runs: Sequence[WatchedRun]


class JobsList(Document):
    session: str
    file: str
    """The registry."""
    jobs: Sequence[Mapping[str, Any]]
    """The entries of the registry: `type`, `id`, `host`, `last_status`, and fields that other
    programs wrote.
    """
    fault: str
    """Why the registry could not be read completely; empty if it was."""


class JobsAdd(Document):
    session: str
    file: str
    """The registry."""
    job: Mapping[str, Any]
    """The entry as it was written."""
    watched: bool
    """Whether a `jobs watch` of the session runs; false with `--no-watch`."""
    watch: str
    """The same as text, with the process and the log of a watch that was started."""


class JobsRemove(Document):
    session: str
    file: str
    """The registry."""
    removed: Sequence[Mapping[str, Any]]
    """The entries that were removed; their jobs continue."""


class WatchedJob(Shape):
    """One job of the registry, as it was seen now."""

    type: str
    id: str
    state: str
    """One of herorun's states, the same for every scheduler."""
    scheduler_state: str
    """The scheduler's own state."""
    changed: bool
    """Whether the state differs from that of the previous query."""
    why: str
    """Why its state is unknown, or why it ended."""
    result: str
    """The result of an ended job; otherwise empty."""


class JobsWatch(Document):
    session: str
    jobs: Sequence[WatchedJob]
    fault: str


class DiscoveredJob(Shape):
    job: str
    description: str
    """What the place lists about the job."""


class JobPlace(Shape):
    """One place where jobs are searched for."""

    place: str
    jobs: Sequence[DiscoveredJob]
    why: str
    """Why it could not be read; empty if it was."""


class JobsFind(Document):
    places: Sequence[JobPlace]


class Doctor(Document):
    verdict: Literal["works", "broken", "unseen"]
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
