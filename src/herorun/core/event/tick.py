"""Events of a tick: what was seen and decided, each action and its outcome."""

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from typing import ClassVar

from herorun.core.babysit.alert import Alert
from herorun.core.decode import DecodedKey
from herorun.core.evidence import End, Placement
from herorun.core.health.training_proof import AwaitedEvidence
from herorun.core.lazy_dataclass import dataclass
from herorun.core.recovery.classify import Ending


@dataclass(frozen=True, kw_only=True)
class Observed:
    """What one tick saw, named by digest; the evidence itself stays on the machine that saw it."""

    kind: ClassVar[str] = "Observed"
    at: datetime
    version: str
    rules: str  # digest of the rules
    evidence: Mapping[str, str]  # type -> digest
    gaps: tuple[str, ...] = ()
    after: str = ""  # id of the newest line that it knew; empty: it does not say
    lines: int = 0  # how many lines there were up to that one
    rows: int = 0  # of the tracker, that it knew; 0: it does not say


@dataclass(frozen=True, kw_only=True)
class Decided:
    kind: ClassVar[str] = "Decided"
    at: datetime
    run: str
    monitor: str
    progress: str
    alerts: tuple[Alert, ...] = ()
    actions: tuple[DecodedKey, ...] = ()  # keys
    summary: str = ""  # one line for the logbook, at most once an hour when all is quiet
    # the instance's end, once it is seen, and again when more of it is known
    ended: End | None = None
    # how many checkpoints there are, whenever there are more than ever before
    saved: int | None = None
    # the instance's, once it is seen, and again when it is judged otherwise
    failure: Ending | None = None
    # by its scheduler, once it tells, and again when it says otherwise
    job_started: datetime | None = None
    awaited: tuple[AwaitedEvidence, ...] = ()  # evidence that was missing at this tick
    # newest step in the temporary root, whenever it is newer than ever before
    temporary: int | None = None
    # of the instance, once its scheduler tells, and again when there is more
    placement: Placement | None = None
    # of the tracker, that it knew, where no Observed comes with it; 0: it does not say
    rows: int = 0
    # a person's order read it, before it replaced the instance: no tick monitored the run then
    by_order: bool = False

    @property
    def saw_run(self) -> bool:
        """Whether it is a tick that could see the run."""
        return self.monitor != "stale" and not self.by_order


@dataclass(frozen=True, kw_only=True)
class Intended:
    kind: ClassVar[str] = "Intended"
    at: datetime
    key: DecodedKey
    attempt: int
    what: str
    body: str = ""  # of a post, so that it can be posted later exactly as intended
    # its entry in the logbook, once it is done
    lines: Mapping[str, str] = field(default_factory=dict)
    edits: DecodedKey = ""  # key of an earlier post, whose comment is to say this from then on
    anew: bool = True  # whether it is a comment of its own as well
    # how much it matters to the DRI, who also gets it by the channels; empty: it is not sent there
    page: str = ""


@dataclass(frozen=True)
class Done:
    kind: ClassVar[str] = "Done"
    at: datetime
    key: DecodedKey
    attempt: int
    title: str = ""  # with a title it is an entry in the logbook
    lines: Mapping[str, str] = field(default_factory=dict)
    result: str = ""


@dataclass(frozen=True)
class Failed:
    kind: ClassVar[str] = "Failed"
    at: datetime
    key: DecodedKey
    attempt: int
    why: str
    interrupted: bool = False  # herorun itself ended in the middle of the action


@dataclass(frozen=True, kw_only=True)
class Replayed:
    """A changed herorun judged the last ticks again before it may act. `why` is empty where it
    may.
    """

    kind: ClassVar[str] = "Replayed"
    at: datetime
    version: str  # that replays
    before: str  # that ticked last; empty: none did
    pin: str  # the contract's `herorun`; empty: it pins none
    since: datetime
    ticks: int  # that were judged again
    differ: int  # of these, otherwise than they were judged then
    unknown: int  # that could not be judged again
    changed: tuple[str, ...] = ()  # the first of what differs, in words
    why: str = ""  # why a person is asked
    key: str = ""  # of that question, or of the news
