"""The name of this machine and of its user."""

import getpass
import os

LOOPBACK = ("127.0.0.1", "::1", "localhost")  # names of this machine that no other one reaches


def user() -> str | None:
    """The login name; None where the system knows none."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return None


def temporary_folder() -> str:
    """What `TMPDIR` says; empty where it says nothing."""
    return os.environ.get("TMPDIR", "").rstrip("/")


def owner() -> str:
    """`user@machine`: what a lease is held under."""
    return f"{user() or os.getuid()}@{os.uname().nodename}"
