"""The journal's vocabulary: one event, one line."""

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from enum import StrEnum
from typing import Any, ClassVar, TypeAlias

from herorun.core.babysit.action_key import Verb, write_key
from herorun.core.babysit.alert import Alert
from herorun.core.decode import DecodedKey
from herorun.core.evidence import End, GivenUp, Placement
from herorun.core.health.training import AwaitedEvidence
from herorun.core.lazy_dataclass import dataclass
from herorun.core.recovery.classify import Ending


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
    """A job that somebody else submitted, and that an instance is from now on."""

    job: str  # by the id that its back end gave it
    since: datetime | None = None  # when it was started, or else submitted; None: nobody tells


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
    # what a person was told of the choice, before it
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


@dataclass(frozen=True, kw_only=True)
class Intended:
    kind: ClassVar[str] = "Intended"
    at: datetime
    key: DecodedKey
    attempt: int
    what: str
    body: str = ""  # of a post, so that it can be said later exactly as it was meant
    # its entry in the logbook, once it is done
    lines: Mapping[str, str] = field(default_factory=dict)
    edits: DecodedKey = ""  # key of an earlier post, whose comment is to say this from then on
    anew: bool = True  # whether it is a comment of its own as well
    page: str = (
        # how much it matters to the DRI, who is told by the channels too; empty: it is not sent
        # there
        ""
    )


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
    interrupted: bool = False  # herorun itself ended in the middle of it


@dataclass(frozen=True)
class HandedOff:
    """Somebody else watches from here on."""

    kind: ClassVar[str] = "HandedOff"
    at: datetime
    to: str
    facts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Leased:
    """The lease, where the record's branch is its place: the push that the remote takes is what
    counts.
    """

    kind: ClassVar[str] = "Leased"
    at: datetime
    owner: str
    slug: str
    fence: int
    beat: int
    clone: str = ""  # main work tree on the owner's machine; empty: an older version wrote it


@dataclass(frozen=True)
class Noted:
    """What a person wrote."""

    kind: ClassVar[str] = "Noted"
    at: datetime
    by: str
    title: str
    lines: Mapping[str, str]
    caveat: str = ""


class Word(StrEnum):
    """What a person can say to the babysitter."""

    ACK = "ack"
    APPROVE = "approve"
    DENY = "deny"
    PAUSE = "pause"
    RESUME = "resume"
    STOP = "stop"
    RELAUNCH = "relaunch"
    ROLLBACK = "rollback"


@dataclass(frozen=True)
class Ordered:
    """What a person ordered."""

    kind: ClassVar[str] = "Ordered"
    at: datetime
    by: str
    word: Word
    # alerts that are taken note of, questions that are answered, or the instance
    about: tuple[DecodedKey, ...] = ()
    reason: str = ""
    until: datetime | None = None  # of a pause


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


@dataclass(frozen=True, kw_only=True)
class Sealed:
    kind: ClassVar[str] = "Sealed"
    at: datetime
    tag: str
    commit: str
    statement_digest: str
    lines: Mapping[str, str] = field(default_factory=dict)
    ending: str = "final"  # which kind of a seal, see `core.seal.kinds`
    name: str = ""  # of the milestone, or the run that goes on in this one's place
    checkpoint: str = ""  # path of the checkpoint that it states; empty: it states none


@dataclass(frozen=True)
class Newer:
    """A line that a newer herorun wrote: kept for the chain, and not understood."""

    kind: ClassVar[str] = "Newer"
    at: datetime  # in the year 1 where the line has no time that we can read
    version: int


Event: TypeAlias = (
    Initialised
    | Launching
    | Launched
    | Amended
    | CheckedIn
    | Observed
    | Decided
    | Intended
    | Done
    | Failed
    | HandedOff
    | Leased
    | Noted
    | Ordered
    | Replayed
    | Sealed
    | Newer
)

# What is written and read; `Newer` is neither.
KINDS: Mapping[str, type[Event]] = {
    kind.kind: kind
    for kind in (
        Initialised,
        Launching,
        Launched,
        Amended,
        CheckedIn,
        Observed,
        Decided,
        Intended,
        Done,
        Failed,
        HandedOff,
        Leased,
        Noted,
        Ordered,
        Replayed,
        Sealed,
    )
}
