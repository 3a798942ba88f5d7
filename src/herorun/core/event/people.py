"""Events of people: what they wrote, ordered, took over and sealed."""

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from enum import StrEnum
from typing import ClassVar

from herorun.core.decode import DecodedKey
from herorun.core.lazy_dataclass import dataclass


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
    # alerts that are acknowledged, questions that are answered, or the instance
    about: tuple[DecodedKey, ...] = ()
    reason: str = ""
    until: datetime | None = None  # of a pause


@dataclass(frozen=True)
class HandedOff:
    """Another owner monitors the run from here on."""

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


@dataclass(frozen=True, kw_only=True)
class Sealed:
    kind: ClassVar[str] = "Sealed"
    at: datetime
    tag: str
    commit: str
    statement_digest: str
    lines: Mapping[str, str] = field(default_factory=dict)
    ending: str = "final"  # which kind of a seal, see `core.seal.kinds`
    name: str = ""  # of the milestone, or the run that replaces this one
    checkpoint: str = ""  # path of the checkpoint that it states; empty: it states none
