"""Documents of `herorun jobs`, the registry of jobs without a contract."""

from collections.abc import Mapping, Sequence
from typing import Any

from herorun.schemas.parts import Document, Schema


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
    """Which `jobs watch` monitors the session, as text; or that none does."""


class JobsRemove(Document):
    session: str
    file: str
    """The registry."""
    removed: Sequence[Mapping[str, Any]]
    """The entries that were removed; their jobs continue."""


class WatchedJob(Schema):
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


class DiscoveredJob(Schema):
    job: str
    description: str
    """What the place lists about the job."""
    host: str
    """The host that the registry has for it; empty for jobs of other places."""


class JobPlace(Schema):
    """One place where jobs are searched for."""

    place: str
    jobs: Sequence[DiscoveredJob]
    why: str
    """Why it could not be read; empty if it was."""


class JobsFind(Document):
    places: Sequence[JobPlace]
