"""The programs that travel to a box to look at it, and the files each of them consists of."""

from herorun.system import _host_cpu, _host_probe, _process_probe, _remote_agent
from herorun.system.remote_python import RemoteProgram, own_file

LOOKING = RemoteProgram((own_file(_remote_agent), own_file(_host_cpu), own_file(_host_probe)))
PROCESSES = RemoteProgram((*LOOKING.files, own_file(_process_probe)))
