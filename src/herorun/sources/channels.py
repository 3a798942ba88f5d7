"""Whether the contract's channels can be used from here: the variable is set, with a valid address.
Nothing is sent.
"""

from herorun.core.contract import Contract
from herorun.core.evidence import ChannelState, Nothing
from herorun.core.ports import Channels


def read_channels(channels: Channels, contract: Contract) -> ChannelState | Nothing:
    problems = {channel.name: channel.problem() for channel in channels.all}
    if variable := contract.notify.heartbeat:
        from herorun.system.heartbeat_ping import ping_problem

        problems[variable] = ping_problem(variable)
    return ChannelState(problems) if problems else Nothing("the contract names no channels")
