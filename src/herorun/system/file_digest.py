"""Digests of files on disk."""

import hashlib
from collections.abc import Iterable
from pathlib import Path

from herorun.system._regular_file import open_regular


def file_digests(folder: str, names: Iterable[str]) -> dict[str, str]:
    """`sha256:...` by name, for regular files only; links and folders have no content of their
    own.
    """
    digests = {}
    for name in names:
        path = Path(folder) / name
        if path.is_file() and not path.is_symlink():
            with open_regular(path) as file:
                digests[name] = "sha256:" + hashlib.file_digest(file, "sha256").hexdigest()
    return digests
