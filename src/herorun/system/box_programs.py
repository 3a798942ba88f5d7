"""The programs whose source is sent to a remote machine, and the files of each."""

from herorun.system import _host_cpu, _host_probe, _process_probe, _remote_agent
from herorun.system.remote_python import RemoteProgram, own_file

LOOKING = RemoteProgram((own_file(_remote_agent), own_file(_host_cpu), own_file(_host_probe)))
PROCESSES = RemoteProgram((*LOOKING.files, own_file(_process_probe)))
