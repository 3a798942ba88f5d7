"""The actions of the babysitter, as data, each with a key and a reason. Nothing here acts."""

from typing import TypeAlias

from herorun.core.lazy_dataclass import dataclass
from herorun.core.notify.escalation import EscalationReason, Option


@dataclass(frozen=True)
class Tell:
    key: str
    title: str
    why: str
    edits: str = ""  # key of an earlier post, whose comment gets this text
    own_comment: bool = True  # also post a new comment
    about: str = ""  # the alert that is to be acknowledged


@dataclass(frozen=True, kw_only=True)
class Escalate:
    """Ask a person. The DRI is named."""

    key: str
    title: str
    why: str
    edits: str = ""  # as in `Tell`
    reason: EscalationReason = EscalationReason.JUDGEMENT
    ways: tuple[Option, ...] = (Option.ACK,)
    about: str = ""  # the alert that can be acknowledged
    before: int | None = None  # the first step of the problem, if the data shows one


@dataclass(frozen=True)
class Relaunch:
    key: str
    instance: str  # the one that ended
    why: str


@dataclass(frozen=True)
class Stop:
    key: str
    instance: str
    why: str


@dataclass(frozen=True)
class DeleteNode:
    """Delete the virtual machine of a bad accelerator; only if the contract sets it."""

    key: str
    instance: str
    why: str
    worker: str  # its address
    zone: str


Action: TypeAlias = Tell | Escalate | Relaunch | Stop | DeleteNode
