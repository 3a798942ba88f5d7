"""The next bytes of a log. This module is sent to the log's machine (`system/remote_python.py`):
standard library only, Python 3.8 or later.
"""

from __future__ import annotations

import os
from typing import Any, BinaryIO

try:  # `hashlib` loads OpenSSL, which takes longer than most logs
    from _sha2 import sha256  # type: ignore[import-not-found]  # Python 3.12
except ImportError:
    try:
        from _sha256 import sha256  # type: ignore[import-not-found]  # before 3.12
    except ImportError:
        from hashlib import sha256

from herorun.system._regular_file import open_regular
from herorun.system._remote_agent import encode_bytes

SAMPLE = 256  # bytes before an offset


def read_part(path: str, offset: int, limit: int, mark: str) -> tuple[bytes, dict[str, Any]]:
    """From a file that may have grown, or been replaced, since `mark` was made at `offset`: its
    bytes, and what is reported of them.
    """
    with open_regular(path) as file:
        stats = os.fstat(file.fileno())
        is_restart = stats.st_size < offset or (bool(mark) and _sample(file, offset) != mark)
        start = 0 if is_restart else offset
        file.seek(start)
        data = file.read(min(limit, max(stats.st_size - start, 0)))
        after = start + len(data)
        mark = _sample(file, after)
        changed_at = stats.st_mtime
        facts = {"offset": after, "size": stats.st_size, "mark": mark, "restarted": is_restart}
        return data, {**facts, "changed": changed_at}


def part(path: str, offset: int, limit: int, mark: str) -> dict[str, Any]:
    """The same, as it travels back."""
    data, facts = read_part(path, offset, limit, mark)
    return {**facts, "data": encode_bytes(data)}


def _sample(file: BinaryIO, offset: int) -> str:
    """The content just before an offset, which identifies a log: an inode's number may be
    reused.
    """
    file.seek(max(offset - SAMPLE, 0))
    digest: str = sha256(file.read(min(SAMPLE, offset))).hexdigest()
    return digest[:16]
