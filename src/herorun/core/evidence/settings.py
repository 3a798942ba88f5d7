"""The run's own settings: what the last launch was admitted with, the data, the secrets, who
watches, what is waived.
"""

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from typing import Any

from herorun.core.finding import Waiver
from herorun.core.lazy_dataclass import dataclass


@dataclass(frozen=True)
class PriorLaunch:
    """The newest instance's admitted plan, as the record holds it: plan field -> value."""

    instance: str
    plan: Mapping[str, Any]
    adopted: bool = False  # the instance was not started by this plan; its relaunch would be
    secrets: Mapping[str, str] = field(default_factory=dict)  # name -> salted digest

    @property
    def config(self) -> Mapping[str, Any]:
        config = self.plan.get("config")
        return config if isinstance(config, Mapping) else {}


@dataclass(frozen=True)
class DataFound:
    """Each manifest of `[data]`: its digest or generation as it is now; None: it is not there."""

    digests: Mapping[str, str | None] = field(default_factory=dict)
    unread: Mapping[str, str] = field(default_factory=dict)  # path -> why


@dataclass(frozen=True)
class SecretNames:
    """Which of the secrets that the contract names are set where the job gets them from. Never a
    value.
    """

    present: frozenset[str] = frozenset()
    source: str = "this environment"  # where they are searched for, in words


@dataclass(frozen=True)
class Watch:
    """Who watches the run now."""

    here: bool = False  # a babysitter of this machine holds its lock
    # user@machine; None: the output root has no owner; empty: unreadable
    lease_owner: str | None = None
    lease_slug: str | None = None
    lease_clone: str = ""  # on the owner's machine; empty: not known
    lease_renewed: datetime | None = None  # by the store's clock; None: not known


@dataclass(frozen=True)
class IssuePage:
    """The run's issue, as the record names it; empty: none was made."""

    link: str = ""


@dataclass(frozen=True)
class NotifiedBy:
    """What of a contract's notifiers reaches a person who does not sit at this machine."""

    channels: tuple[str, ...] = ()  # variables of addresses, and kinds
    issue: bool = False


@dataclass(frozen=True)
class Waivers:
    """What people signed, in the committed contract: one in an uncommitted contract does not
    count.
    """

    waivers: tuple[Waiver, ...] = ()


@dataclass(frozen=True)
class CommitAuthor:
    """Whose commit it is, as git knows."""

    commit: str
    name: str
    mail: str
    signature: str = ""  # good, bad; empty: it has none, or it cannot be verified here
    signer: str = ""


@dataclass(frozen=True)
class Approvals:
    """For each waiver in its order, the commit that added it, or why it is unknown."""

    added: tuple[CommitAuthor | str, ...] = ()


@dataclass(frozen=True)
class WaiverUse:
    """The waivers that signed nothing at this gate, those that are over, and those to be
    renamed.
    """

    unused: tuple[Waiver, ...] = ()
    expired: tuple[Waiver, ...] = ()
    # names among them that no check has, with a question about the one that was meant
    strange: Mapping[str, str] = field(default_factory=dict)
    renamed: tuple[Waiver, ...] = ()  # live ones that use a check's earlier name


@dataclass(frozen=True)
class ContractDrift:
    """What differs between the contract as it stands and the one that the newest instance was
    admitted under.
    """

    instance: str
    tables: tuple[str, ...] = ()  # dotted keys of the plan's part, before -> after
    problem: str = ""  # why the file on disk cannot be followed


@dataclass(frozen=True)
class OwnVersion:
    """The herorun that asks, and the versions that the contract allows."""

    running: str
    pinned: str = ""  # a PEP 440 specifier; empty: every version


@dataclass(frozen=True)
class RecordedLaunch:
    """One admitted launch of a recorded run, which may have written the checkpoint that a launch
    starts from.
    """

    slug: str
    instance: str
    roots: tuple[str, ...]
    at: datetime  # when its submission was intended
    plan: Mapping[str, Any]  # plan field -> value


@dataclass(frozen=True)
class SourceLaunches:
    """The recorded launches whose output roots hold the checkpoint of `[start] from`, oldest
    first.
    """

    launches: tuple[RecordedLaunch, ...]
