"""The items that check-in compares, and the result of each comparison."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

PASS, FAIL, UNKNOWN = "pass", "fail", "unknown"
SCHEMA = 1
UNSAID = "\0unsaid"  # not passed at all: another thing than None, which is "from scratch"
PLACEHOLDER = "[scrubbed]"  # replaces a secret
DIGEST_PREFIX = f"{PLACEHOLDER} sha256:"


class Item(NamedTuple):
    """One comparison: its name, its result, and both values as text."""

    item: str
    outcome: str
    message: str


class JobFacts(NamedTuple):
    """What the running job reports about itself. None: not reported."""

    argv: Sequence[str] | None = None
    # whether this is the submitted process itself, and not one that it started
    main: bool = False
    config_digests: Mapping[str, str | None] | None = None  # file -> digest, None: missing
    # the resolved config, if the script passes it: tables or objects
    config: Any = None
    output_root: str | None = None
    tracker_id: str | None = None
    loaded: str | None = None  # the checkpoint it loaded; None: it started from scratch
    loaded_said: bool = False  # whether the script reported what it loaded
    files: Mapping[str, str | None] = {}  # code file -> digest
    files_seen: int = 0
    files_total: int = 0
    unread: Mapping[str, str] = {}  # config and code files that could not be read -> why
    modules_seen: int = 0  # first-party modules that are loaded
    modules_elsewhere: Mapping[str, str] = {}  # those from outside the admitted tree -> their file
    # admitted package -> version here, None: not installed
    packages: Mapping[str, str | None] | None = None
    devices: Any = "not looked for"  # Devices, or why they are unknown
    # as at the process's start, before the script changed it
    environment: Mapping[str, str] | None = None


def digest_secret(value: Any) -> str:
    """The digest of a secret in an admission, which shows whether another one is used."""
    return DIGEST_PREFIX + hashlib.sha256(str(value).encode("utf-8", "surrogatepass")).hexdigest()


def shorten_value(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 200 else f"{text[:200]}..."
