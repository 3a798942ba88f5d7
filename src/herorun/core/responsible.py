"""What a run is for, what stops it, and who decides: what a person reads before a launch."""

from collections.abc import Sequence

from herorun.core.contract import Contract
from herorun.core.lazy_dataclass import dataclass

NOT_STATED = "not stated"


@dataclass(frozen=True)
class Responsible:
    goal: str
    stop_when: str
    dri: str  # labelled where it is only inferred
    contact: str  # who must be contacted before this launch, and how
    notifies: str  # where the DRI is reached while it runs
    notifies_nobody: bool = False  # whether that reaches nobody who does not sit at this machine

    def rows(self) -> list[tuple[str, str]]:
        """For people."""
        return [
            ("goal", self.goal or NOT_STATED),
            ("stop when", self.stop_when or NOT_STATED),
            ("DRI", self.dri),
            ("contact first", self.contact),
            ("notifications", self.notifies),
        ]


def responsible(
    contract: Contract, dri: str, launches: bool, issue: str, notifies_nobody: bool = False
) -> Responsible:
    """`launches`: the DRI launches it. `issue` is its link; empty before there is one."""
    channels = contract.notify.channels
    places = ", ".join([*channels, f"the {contract.issue.kind} issue {issue}".strip()])
    return Responsible(
        contract.goal.strip(),
        contract.stop_when.strip(),
        dri,
        "not needed: the DRI launches it" if launches else f"{dri}; {_how(channels)}",
        f"{places}; no person is notified" if notifies_nobody else places,
        notifies_nobody,
    )


def _how(channels: Sequence[str]) -> str:
    if channels:
        return f"`herorun launch` sends a message to {', '.join(channels)} before it submits"
    return "herorun sends them nothing, because [notify] names no channel"
