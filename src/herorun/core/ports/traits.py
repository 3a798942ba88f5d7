"""What an adapter may declare of itself, as attributes of those names. The defaults hold for an
adapter that declares nothing, so that none needs to declare all of them.
"""

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import TypeVar

from herorun.core.evidence import TrackerTraits
from herorun.core.lazy_dataclass import dataclass

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class SchedulerTraits:
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
    # where Slurm's programs and configuration are: `programs` and `conf`, each may be missing
    slurm_client: Mapping[str, str] = field(default_factory=dict)


def scheduler_traits(adapter: object) -> SchedulerTraits:
    return _declared(adapter, SchedulerTraits)


def tracker_traits(adapter: object) -> TrackerTraits:
    """The type is evidence, because checks ask it; nothing is read for it but the attributes."""
    return _declared(adapter, TrackerTraits)


def _declared(adapter: object, traits: Callable[..., T]) -> T:
    names = [name for name in traits.__annotations__ if hasattr(adapter, name)]
    return traits(**{name: getattr(adapter, name) for name in names})
