"""Whether the contract's channels can be used from here: set, and an address that is understood.
Nothing is sent.
"""

from herorun.core.evidence import ChannelState, Nothing
from herorun.core.ports import Channels


def read_channels(channels: Channels) -> ChannelState | Nothing:
    if not channels.all:
        return Nothing("the contract names no channels")
    return ChannelState({channel.name: channel.problem() for channel in channels.all})
