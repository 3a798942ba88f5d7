"""What this user trusts, by repository: a file of the user's own, which no repository can write."""

import os
from collections.abc import Hashable, Iterable
from copy import deepcopy
from functools import lru_cache
from pathlib import Path
from typing import Any

from herorun.core.canonical_json import canonical
from herorun.core.errors import CouldNotLook
from herorun.core.untrusted_json import read_json
from herorun.system.files import hold_lock, write_atomic
from herorun.system.process_registry import state_home

# `all`: every repository is trusted, as in CI and in a container
VARIABLE = "HERORUN_TRUST"
ITEMS, LAUNCHES, REJECTIONS = "items", "launches", "rejected"


def trusts_all() -> bool:
    return os.environ.get(VARIABLE) == "all"


def trust_file() -> Path:
    return state_home() / "trust.json"


def read_trusted_items(repository: Path, kind: str) -> frozenset[str]:
    """The trusted items of one kind in this repository; empty without the file."""
    table = _read_trusted()
    entry = table.get(str(repository.resolve()), {}) if table else {}
    return frozenset(entry.get(kind, ())) if isinstance(entry, dict) else frozenset()


def untrusted_items(repository: Path, items: Iterable[str]) -> tuple[str, ...]:
    """The items that a person must trust first."""
    items = tuple(items)
    if not items or trusts_all():
        return ()
    trusted_items = read_trusted_items(repository, ITEMS)
    return tuple(item for item in items if item not in trusted_items)


def describe_missing_trust(slug: str, items: Iterable[str]) -> str:
    return (
        f"herorun started no program: the contract of {slug} uses what you have not yet trusted "
        f"for this repository: {'; '.join(items)}. Check that each is right, then "
        f"`herorun trust {slug}` (in CI: {VARIABLE}=all)."
    )


def trust(repository: Path, kind: str, values: Iterable[str]) -> None:
    """Trust these values, for this repository only."""
    path, name = trust_file(), str(repository.resolve())
    with hold_lock(path.with_suffix(".lock"), what="another herorun that writes what is trusted"):
        table = deepcopy(_read_trusted())
        own = table.setdefault(name, {})
        own[kind] = sorted({*own.get(kind, ()), *values})
        write_atomic(path, (canonical(table) + "\n").encode())


def _read_trusted() -> dict[str, Any]:
    path = trust_file()
    try:
        facts = path.stat()
        # Cached: a fleet reads it several times for each run. The file is replaced as a whole.
        return _read_table(path, (facts.st_dev, facts.st_ino, facts.st_size, facts.st_mtime_ns))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise CouldNotLook(
            f"The file of what you trust, {path}, cannot be read: {error}."
        ) from None


@lru_cache(maxsize=1)
def _read_table(path: Path, version: Hashable) -> dict[str, Any]:
    """The content of one version of the file; never changed."""
    table = read_json(path.read_bytes())
    if not isinstance(table, dict):
        raise CouldNotLook(
            f"The file of what you trust, {path}, is damaged: move it away, then repeat `herorun "
            "trust`."
        )
    return table
