"""The store's questions on the remote machine, for `_ssh`: `_posix_files`, with bytes as text. Its
source is sent with each query.

Standard library only, from Python 3.8 on.
"""

from __future__ import annotations

import os
from typing import Any

from herorun.stores import _posix_files
from herorun.system._remote_agent import decode_bytes, encode_bytes

entries = _posix_files.list_entries
generation = _posix_files.generation
probe = _posix_files.probe


def read(path: str) -> str:
    return encode_bytes(_posix_files.read_bytes(path))


def end(path: str, count: int) -> str:
    return encode_bytes(_posix_files.read_end(path, count))


def modification_time(path: str) -> float:
    return os.stat(path).st_mtime


def create(path: str, data: str) -> None:
    _posix_files.create_bytes(path, decode_bytes(data))


def swap(path: str, before: str, after: str) -> bool:
    return _posix_files.swap_bytes(path, decode_bytes(before), decode_bytes(after))


def delete(path: str) -> None:
    """Deletes a link itself, never its target."""
    os.unlink(path)


def delete_folder(path: str) -> None:
    os.rmdir(path)


def room(path: str) -> list[Any]:
    """Free and all bytes, and free names (None where they are not counted), where the path is or
    would be made.
    """
    while not os.path.exists(path) and path != os.path.dirname(path):
        path = os.path.dirname(path)
    statistics = os.statvfs(path)
    names = statistics.f_favail if statistics.f_files else None
    return [
        statistics.f_bavail * statistics.f_frsize,
        statistics.f_blocks * statistics.f_frsize,
        names,
    ]
