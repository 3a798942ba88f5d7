"""What starting an instance is told."""

from dataclasses import dataclass

from herorun.acts.submitting import Say, unsaid
from herorun.core.plan import Plan


@dataclass(frozen=True)
class Order:
    """One launch that was decided on."""

    plan: Plan
    why: str
    babysitter: str
    relaunch_of: str = ""
    dirty: str = "no"
    foreign: tuple[str, ...] = ()  # checkpoints that lay in the roots before the first launch
    policy: str = ""  # the logbook's word on a lenient `[policy] mode`
    overlooked: tuple[str, ...] = ()  # the findings that were open and did not stop it
    say: Say = unsaid  # gets the exact request before it is sent
