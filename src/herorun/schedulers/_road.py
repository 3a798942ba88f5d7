"""The road to a back end, for the schedulers: see `herorun.system.transport`, which the stores and trackers use as well."""

from herorun.core.remote_target import Login
from herorun.system.transport import Here, Road, Ssh, remote_command, road_to, ssh_argv

__all__ = ["Here", "Login", "Road", "Ssh", "remote_command", "road_to", "ssh_argv"]
