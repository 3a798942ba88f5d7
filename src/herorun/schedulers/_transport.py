"""The transport to a back end: see `herorun.system.transport`, which stores and trackers use as
well.
"""

from herorun.core.remote.target import SshLogin
from herorun.system.transport import (
    LocalTransport,
    SshTransport,
    Transport,
    remote_command,
    ssh_argv,
    transport_to,
)

__all__ = [
    "LocalTransport",
    "SshLogin",
    "SshTransport",
    "Transport",
    "remote_command",
    "ssh_argv",
    "transport_to",
]
