"""A channel that the contract names cannot be used.

Why: without the channel, the DRI learns of a crash or a question only by reading the issue.
Fix: set the variable, where herorun and its babysitter run, to an address that apprise supports;
install the extra `notify`; or remove its name from `[notify]`.
"""

from herorun.core.check import Gate, Response, check
from herorun.core.evidence import ChannelState
from herorun.core.finding import Verdict


@check(Gate.LAUNCH, Response.BLOCK)
def missing_channel(state: ChannelState) -> list[Verdict]:
    """One verdict for each name. The check sends nothing."""
    from herorun.core.notify.channels import judge_channels

    return judge_channels(state)
