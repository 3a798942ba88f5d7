"""The receipt of a check-in as a file under the run's output root: written once, and never
overwritten.

Standard library only: it runs inside the job, and is shipped as part of herorun-checkin.
"""

import errno
import json
import os
import re
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

# The errors of file systems without hard links.
_NO_LINKS = (errno.EPERM, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP)
TEMPORARY_NAME = re.compile(r".+\.\d+(?:\.rank\d+)?\.json\.\d+-[0-9a-f]{8}\.new")
MAX_WRITE_SECONDS = 600.0  # seconds after which the writer of an unfinished file was killed


def _sweep(folder: str) -> None:
    """Remove the unfinished files of check-ins that were killed."""
    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        with suppress(OSError):  # another process removed it, or this one may not
            if (
                TEMPORARY_NAME.fullmatch(name)
                and os.lstat(path).st_mtime < time.time() - MAX_WRITE_SECONDS
            ):
                os.unlink(path)


def _newest_attempt(folder: str, instance: str) -> int:
    """The number of rank 0's newest receipt: a refusal next to it must not look older."""
    names = [name.removesuffix(".json").rpartition(".") for name in os.listdir(folder)]
    return max(
        (int(number) for owner, _, number in names if owner == instance and number.isdigit()),
        default=0,
    )


def write_receipt(folder: str, receipt: dict[str, Any]) -> dict[str, Any]:
    """Write it under its attempt's number or the next free one, and return it with that number."""
    os.makedirs(folder, exist_ok=True)
    _sweep(folder)
    if receipt["rank"]:
        newest = _newest_attempt(folder, receipt["instance"])
        receipt = {**receipt, "attempt": max(receipt["attempt"], newest)}
    while not create_receipt(os.path.join(folder, _file_name(receipt)), receipt):
        receipt = {**receipt, "attempt": receipt["attempt"] + 1}
    return receipt


def _file_name(receipt: Mapping[str, Any]) -> str:
    rank = f".rank{receipt['rank']}" if receipt["rank"] else ""
    return f"{receipt['instance']}.{receipt['attempt']}{rank}.json"


def create_receipt(target: str, receipt: Mapping[str, Any]) -> bool:
    """Create the file whole at once; False if it exists. Without hard links, at least
    create-only.
    """
    text = json.dumps(receipt, sort_keys=True) + "\n"
    # two containers may share a process id
    temporary = f"{target}.{os.getpid()}-{os.urandom(4).hex()}.new"
    try:
        _put(temporary, text, "x")
        return _create_by_link(temporary, target, text)
    finally:
        with suppress(FileNotFoundError):  # it could not even be begun
            os.unlink(temporary)


def _create_by_link(temporary: str, target: str, text: str) -> bool:
    try:
        os.link(temporary, target)
    except FileExistsError:
        return False
    except OSError as error:
        return _create_without_link(target, text, error)
    return True


def _create_without_link(target: str, text: str, error: OSError) -> bool:
    if error.errno not in _NO_LINKS:
        raise error
    try:
        _put(target, text, "x")
    except FileExistsError:
        return False
    except OSError:
        os.unlink(target)  # ours, and cut
        raise
    return True


def _put(path: str, text: str, mode: str) -> None:
    with open(path, mode, encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
