"""Reading a log from any byte on, here or on a remote machine."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from herorun.core.ports import LogPart
from herorun.schedulers import _log_part
from herorun.system import _regular_file, _remote_agent
from herorun.system.remote_python import RemoteProgram, RemotePython, own_file, readable

READING = RemoteProgram((own_file(_remote_agent), own_file(_regular_file), own_file(_log_part)))


def read_local_part(path: str, offset: int, limit: int, mark: str) -> LogPart:
    data, facts = _log_part.read_part(path, offset, limit, mark)
    return _log_part_of(data, facts)


def read_remote_part(
    remote: RemotePython, path: str, offset: int, limit: int, mark: str, within: float
) -> LogPart:
    """By one connection; `CouldNotLook` if it is cut or the remote machine does not answer."""
    arguments = {"path": path, "offset": offset, "limit": limit, "mark": mark}
    answer = remote.ask(READING, "part", within, **arguments)
    with readable(remote.transport.where):
        return _log_part_of(_remote_agent.decode_bytes(answer["data"]), answer)


def _log_part_of(data: bytes, facts: Mapping[str, Any]) -> LogPart:
    changed_at = datetime.fromtimestamp(facts["changed"], UTC)
    return LogPart(
        data, facts["offset"], facts["size"], facts["mark"], facts["restarted"], changed_at
    )
