"""The arguments of starting an instance."""

from collections.abc import Mapping
from dataclasses import field

from herorun.core.event import Adopted
from herorun.core.evidence import GivenUp
from herorun.core.lazy_dataclass import dataclass
from herorun.core.plan import Plan
from herorun.operations.launch.submit import ShowRequest, ignore_request


@dataclass(frozen=True, kw_only=True)
class LaunchOrder:
    """One launch, as decided."""

    plan: Plan
    why: str
    babysitter: str
    relaunch_of: str = ""
    dirty: str = "no"
    foreign: tuple[str, ...] = ()  # checkpoints in the roots before the first launch
    policy: str = ""  # the logbook's line on a lenient `[policy] mode`
    overlooked: tuple[str, ...] = ()  # the findings that were open and did not stop it
    given_up: GivenUp | None = None  # of a rollback
    facts: Mapping[str, str] = field(default_factory=dict)  # on the choice, as shown to a person
    adopts: Adopted | None = None  # nothing is submitted: the job runs already
    show_request: ShowRequest = ignore_request  # gets the exact request before it is sent
    by_itself: bool = False  # the babysitter decided it, so a pause prevents it
