"""The name of this machine and of its user."""

import getpass
import os

LOOPBACK = ("127.0.0.1", "::1", "localhost")  # names of this machine that no other one reaches


def user() -> str | None:
    """The login name; None if the system has none."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return None


def temporary_folder() -> str:
    """The value of `TMPDIR`, or ""."""
    return os.environ.get("TMPDIR", "").rstrip("/")


def owner() -> str:
    """`user@machine`, the owner of a lease."""
    return f"{user() or os.getuid()}@{os.uname().nodename}"
