"""Opens files whose paths others choose: a contract, a job, a person's argument. Its source is sent
along with remote readers (`system/remote_python.py`).

Standard library only, from Python 3.8 on.
"""

from __future__ import annotations

import errno
import os
import stat
from io import BufferedReader
from typing import Any

# bytes of a completely read file: a checkpoint's metadata has some MiB, at most some hundred
MAX_BYTES = 256 << 20
_OF_THE_KERNEL = ("/proc/", "/sys/")


def open_regular(path: Any) -> BufferedReader:
    """Open a regular file for reading; OSError for anything else.

    Opening or reading a pipe, a device or a file of the kernel such as `/proc/kmsg` can wait
    forever, and opening some devices changes their state: none is opened.
    """
    _must_be_regular(os.stat(path), path)
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        _must_be_regular(os.fstat(descriptor), path)  # it may have been replaced
        if _real_path(descriptor).startswith(_OF_THE_KERNEL):
            raise OSError(
                errno.EINVAL,
                "it is a file of the kernel (/proc or /sys), not a regular file",
                str(path),
            )
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def _must_be_regular(facts: os.stat_result, path: Any) -> None:
    if stat.S_ISDIR(facts.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(facts.st_mode):
        raise OSError(errno.EINVAL, "it is not a regular file", str(path))


def _real_path(descriptor: int) -> str:
    """The path of an open file; "" if the system does not report it."""
    try:
        return os.readlink(f"/proc/self/fd/{descriptor}")
    except OSError:
        return ""
