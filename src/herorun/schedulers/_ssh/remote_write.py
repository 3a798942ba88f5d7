"""Writes what a submission sends to the remote machine: its code and its small files.

Standard library only, from Python 3.8 on: its source is sent there.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import tarfile
from typing import Any

BLOCK = 1 << 20  # bytes of an archive that are read at once


def unpack(order: dict[str, Any], stream: Any, target: str) -> None:
    """Write the code, all or nothing: what arrived is digested before it gets its name. An earlier
    attempt is deleted.
    """
    os.makedirs(os.path.dirname(target), mode=0o700, exist_ok=True)
    temporary = f"{target}.{os.getpid()}.new"
    try:
        os.mkdir(temporary, 0o700)
        _receive(stream, order, f"{temporary}/tar")
        os.mkdir(f"{temporary}/code")
        with tarfile.open(f"{temporary}/tar") as tar:
            if hasattr(tarfile, "fully_trusted_filter"):
                tar.extraction_filter = tarfile.fully_trusted_filter
            tar.extractall(f"{temporary}/code")  # our own export, by its digest
        # of a submission that was cut: nothing has run in it
        shutil.rmtree(target, ignore_errors=True)
        os.rename(f"{temporary}/code", target)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _receive(stream: Any, order: dict[str, Any], path: str) -> None:
    digest, remaining = hashlib.sha256(), order["size"]
    with open(path, "wb") as file:
        while remaining:
            data = stream.read(min(remaining, BLOCK))
            if not data:
                raise OSError("the connection ended before all of the code had arrived")
            file.write(data)
            digest.update(data)
            remaining -= len(data)
    if digest.hexdigest() != order["sha256"]:
        raise OSError("the code that arrived is not the code that was sent")


def write_file(path: str, data: bytes) -> None:
    """Write a file atomically, readable by its owner only."""
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    temporary = f"{path}.{os.getpid()}.new"
    try:
        with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
