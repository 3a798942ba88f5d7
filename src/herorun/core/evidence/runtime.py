"""What the job runs in: container, packages, bundle, hardware."""

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from herorun.core.lazy_dataclass import dataclass


@dataclass(frozen=True)
class Container:
    """The image's own words about where it was built from."""

    image: str
    digest: str | None = None
    revision: str | None = None  # org.opencontainers.image.revision; None: it has no such label
    known_here: bool = False  # whether that commit is in this clone
    changed: tuple[str, ...] = ()  # files that differ between it and HEAD


@dataclass(frozen=True)
class Installed:
    """The packages of the interpreter that the command starts with."""

    interpreter: str
    packages: Mapping[str, str] = field(default_factory=dict)  # normalised name -> version
    # name -> the folder that it is installed from
    editable: Mapping[str, str] = field(default_factory=dict)
    paths: tuple[str, ...] = ()  # folders of this checkout on its module path
    checkout: str = ""  # the top of this work tree


@dataclass(frozen=True)
class Environment:
    """What trainers read of the launching shell, limited to what may go into the plan."""

    values: Mapping[str, str] = field(default_factory=dict)
    withheld: Mapping[str, str] = field(default_factory=dict)  # name -> why it is not passed on
    # of `[command] secrets`: another value than at the last launch
    changed_secrets: tuple[str, ...] = ()


@dataclass(frozen=True)
class Flag:
    """A variable of the environment that the training code names, and where it does first."""

    name: str
    path: str
    line: int

    def __str__(self) -> str:
        return f"{self.name} ({self.path}:{self.line})"


@dataclass(frozen=True)
class CodeFlags:
    """What the import closure reads of its environment, apart from what machines and launchers
    set.
    """

    flags: tuple[Flag, ...] = ()
    here: Mapping[str, str] = field(default_factory=dict)  # those set in this shell, secrets masked
    computed: tuple[str, ...] = ()  # `file:line` where the name of a variable is computed

    @property
    def names(self) -> frozenset[str]:
        return frozenset(flag.name for flag in self.flags)


@dataclass(frozen=True)
class BundleContent:
    """What the source bundle that the contract names holds now, without the contract's own file."""

    name: str
    digest: str = ""  # of its files, whatever archive holds them; empty: it cannot be read
    # path -> mode, object, as git lists a commit
    files: Mapping[str, tuple[str, str]] | None = None

    @property
    def identity(self) -> str:
        """The part that the plan stores."""
        return f"{self.name} {self.digest}" if self.files is not None else self.name


@dataclass(frozen=True, kw_only=True)
class Bundle:
    """The source bundle against the plan and the commit's files."""

    name: str
    commit: str = ""  # that would be run
    tree: str = ""  # digest of that commit's files
    identity: str = ""  # by its content now
    admitted: str = ""  # by its content when it was planned
    compared: int | None = None  # files of the commit; None: the bundle's own cannot be read
    extra: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()


@dataclass(frozen=True)
class Offered:
    """What the scheduler says it would give."""

    # the keys of `[hardware]` that it knows
    hardware: Mapping[str, Any] = field(default_factory=dict)
    time_limit: float | None = None  # seconds
    partial: str = ""  # why some of it is not reported


@dataclass(frozen=True, kw_only=True)
class RequestReview:
    """What the back end says of the request before it is submitted, in words."""

    where: str = ""  # the back end
    image: str = ""  # the container image of the request
    refused: tuple[str, ...] = ()  # why the request, or a part, would be refused
    changed: tuple[str, ...] = ()  # fields that would be dropped or changed
    forbidden: tuple[str, ...] = ()  # what the run needs sooner or later, and this login may not
    missing: tuple[str, ...] = ()  # what the request names, and is not there
    exceeded: tuple[str, ...] = ()  # quotas that have too little left
    unplaceable: tuple[str, ...] = ()  # why no machine could ever take it
    preemptors: tuple[str, ...] = ()  # whose work may preempt it
    # by the field's name, why this login could not read it
    unseen: Mapping[str, str] = field(default_factory=dict)
    inapplicable: tuple[str, ...] = ()  # names of fields that this kind of back end does not have


@dataclass(frozen=True)
class Directive:
    """A line of a script that asks the scheduler for something."""

    line: int
    text: str


@dataclass(frozen=True)
class IgnoredDirectives:
    """What the command's scripts ask the scheduler for, and the request leaves out, by the script
    as the command names it.
    """

    scripts: Mapping[str, tuple[Directive, ...]]
    # by the path as the command names it, why that script was not read
    unread_paths: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class PrintedPatterns:
    """Whether the packages that print what the signatures wait for still hold its words, by the
    row's id.
    """

    present: Mapping[str, str] = field(default_factory=dict)  # id -> package and version
    absent: Mapping[str, str] = field(default_factory=dict)  # id -> why no line can match it


@dataclass(frozen=True)
class TrackerMentions:
    """What the text of the job says about the places where the contract looks for its rows, by the
    contract's key.
    """

    places: Mapping[str, str] = field(default_factory=dict)  # where it is named
    others: Mapping[str, str] = field(default_factory=dict)  # what is named in its place
