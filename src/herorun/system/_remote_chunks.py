"""Reads parts of files on a remote machine. Its source is sent with each query
(`system/remote_python.py`).

Standard library only, from Python 3.8 on.
"""

from __future__ import annotations

import errno
import os
import zlib
from typing import Any

from herorun.system._regular_file import open_regular
from herorun.system._remote_agent import encode_bytes


def pieces(path: str, spans: list[list[int]]) -> dict[str, Any]:
    """Parts of a file, each from an offset for so many bytes; with its size and its time."""
    parts = []
    with open_regular(path) as file:
        for offset, count in spans:
            file.seek(offset)
            parts.append(encode_bytes(zlib.compress(file.read(count), 1)))
        facts = os.fstat(file.fileno())
    return {"size": facts.st_size, "changed": facts.st_mtime, "pieces": parts}


def data_after(path: str, offset: int) -> dict[str, Any]:
    """Where a hole in the file ends; `offset` if the system cannot report it, None if only zeros
    follow.
    """
    with open_regular(path) as file:
        try:
            return {"at": os.lseek(file.fileno(), offset, os.SEEK_DATA)}
        except (AttributeError, OSError) as error:  # a system without SEEK_DATA
            return {"at": None if getattr(error, "errno", None) == errno.ENXIO else offset}
