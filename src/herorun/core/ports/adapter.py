"""What every adapter is given (its options, and its surroundings), what it may declare of itself as
attributes, and which members it must have.
"""

from collections.abc import Callable, Mapping
from typing import TypeVar

from herorun.core.evidence import TrackerTraits
from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_pydantic import BaseModel, ConfigDict
from herorun.core.remote.target import RemoteTarget

T = TypeVar("T")
# old -> new, by port: an optional member that nothing reads any more would be ignored in silence
RENAMED: Mapping[str, Mapping[str, str]] = {
    "schedulers": {
        "everywhere": "cluster_wide",
        "live": "live_jobs",
        "look": "snapshot",
        "by": "with_snapshot",
        "beside": "other_jobs",
        "secrets_road": "secrets_source",
    },
    "schedulers.external": {"look": "find_job"},
}


class AdapterOptions(BaseModel):
    """The keys of an adapter in the contract. An unknown key is an error: it may be mistyped."""

    model_config = ConfigDict(extra="forbid", frozen=True)


@dataclass(frozen=True)
class Place:
    """Where an adapter finds itself. Every adapter module has `Options` and
    `connect(options, place)`.
    """

    slug: str
    state: str  # the run's private folder, `.herorun/<slug>` of the main work tree
    output_root: str
    repository: str  # the top of the work tree
    # of the machine where paths without a scheme lie; None: this one
    reach: RemoteTarget | None = None


@dataclass(frozen=True, kw_only=True)
class SchedulerTraits:
    """The defaults hold for an adapter that declares nothing, so that none needs to declare all."""

    runs_here: bool = False  # its jobs run on this machine, where bare paths are their own
    # its jobs run on the very machine that `reach(options)` leads to, or on this one
    on_the_machine: bool = False
    leaves_files: bool = True  # its jobs leave files on a machine that we could read
    reach: str = "here"  # how jobs are reached, in a word; "here" hands this environment on
    whole_environment: bool = False  # nothing but herorun sets a variable of the job
    sets: tuple[str, ...] = ()  # variables that it sets in each job by itself, as patterns
    # where jobs get secrets, in words, if not from this environment; whether a person vouches
    secrets_source: str | None = None
    secrets_vouched: bool = False


def scheduler_traits(adapter: object) -> SchedulerTraits:
    return _read_declared_traits(adapter, SchedulerTraits)


def tracker_traits(adapter: object) -> TrackerTraits:
    """The type is evidence, because checks ask it; nothing is read for it but the attributes."""
    return _read_declared_traits(adapter, TrackerTraits)


def _read_declared_traits(adapter: object, traits: Callable[..., T]) -> T:
    names = [name for name in traits.__annotations__ if hasattr(adapter, name)]
    return traits(**{name: getattr(adapter, name) for name in names})


def members(port: type) -> frozenset[str]:
    """The names that a port declares: its methods, and its attributes.

    >>> from herorun.core.ports import Notifier
    >>> sorted(members(Notifier))
    ['find', 'post']
    """
    own = [base for base in port.__mro__ if getattr(base, "_is_protocol", False)]
    names = {name for base in own for name in (*vars(base), *base.__annotations__)}
    return frozenset(name for name in names if not name.startswith("_"))


def missing_members(port: type, adapter: object) -> tuple[str, ...]:
    """Those that an adapter, or its class, has not, in order."""
    return tuple(sorted(name for name in members(port) if not hasattr(adapter, name)))


def renamed_members(port: str, adapter: object) -> tuple[str, ...]:
    """Members that an adapter has by an older name alone, each as `old -> new`.

    >>> class Older:
    ...     look, snapshot, beside = 1, 2, 3
    >>> renamed_members("schedulers", Older())
    ('beside -> other_jobs',)
    """
    return tuple(
        f"{old} -> {new}"
        for old, new in RENAMED.get(port, {}).items()
        if hasattr(adapter, old) and not hasattr(adapter, new)
    )
