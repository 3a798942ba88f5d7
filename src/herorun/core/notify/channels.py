"""Whether the channels that the contract names can be used: evaluated at launch and at each
tick.
"""

from herorun.core.evidence import ChannelState
from herorun.core.finding import Verdict, failed, passed


def judge_channels(state: ChannelState) -> list[Verdict]:
    """One verdict for each name."""
    return [
        failed(why, subject=name)
        if why
        else passed(f"{name} is set and has a valid form", subject=name)
        for name, why in state.problems.items()
    ]
