"""The programs whose source is sent to a remote machine, and the files of each."""

from herorun.system import (
    _host_cpu,
    _host_files,
    _host_memory,
    _host_probe,
    _host_processes,
    _process_probe,
    _regular_file,
    _remote_agent,
)
from herorun.system.remote_python import RemoteProgram, own_file

PROBE_PROGRAM = RemoteProgram(
    tuple(
        own_file(module)
        for module in (
            _remote_agent,
            _regular_file,
            _host_cpu,
            _host_files,
            _host_processes,
            _host_memory,
            _host_probe,
        )
    )
)
PROCESSES = RemoteProgram((*PROBE_PROGRAM.files, own_file(_process_probe)))
