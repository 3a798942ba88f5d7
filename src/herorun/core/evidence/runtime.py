"""What the job runs in: container, packages, bundle, hardware."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


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
    editable: Mapping[str, str] = field(default_factory=dict)  # name -> the folder that it is installed from
    paths: tuple[str, ...] = ()  # folders of this checkout on its module path
    checkout: str = ""  # the top of this work tree


@dataclass(frozen=True)
class Bundle:
    """The source bundle that the contract names."""

    name: str
    commit: str | None = None  # that it says it was made from; None: it does not say
    digest: str | None = None


@dataclass(frozen=True)
class Offered:
    """What the scheduler says it would give."""

    hardware: Mapping[str, Any] = field(default_factory=dict)  # the keys of `[hardware]` that it knows
    time_limit: float | None = None  # seconds
    partial: str = ""  # why some of it is not told


@dataclass(frozen=True)
class PrintedPatterns:
    """Whether the packages that print what the catalogue waits for still hold its words, by the row's id."""

    found: Mapping[str, str] = field(default_factory=dict)  # id -> package and version
    lost: Mapping[str, str] = field(default_factory=dict)  # id -> why no line can match it
