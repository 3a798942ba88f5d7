"""Levanter's checkpoints: `<root>/step-<N>/` with data, and a `metadata.json` that is written last.

`manifest.json` is written when a save starts, so it marks nothing. `step-N` holds N completed updates.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel, ConfigDict

from herorun.core.evidence import Candidate
from herorun.core.ports import Place, Store

MARKER = "metadata.json"
MANIFEST = "manifest.json"
_FOLDER = re.compile(r"step-([0-9]+)/")


class Options(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


def connect(options: Options, place: Place) -> "Levanter":
    return Levanter()


class Levanter:
    """See `core.ports.Layout`."""

    def candidates(
        self, store: Store, root: str, temporary: bool, newest: int | None = None
    ) -> tuple[Candidate, ...]:
        """One listing of the root, then a read and a listing for each folder, or for the `newest` by step only.

        `is_temporary` in the metadata wins over `temporary`. A folder that is pruned meanwhile is left out.
        """
        root = root.rstrip("/") or "/"
        folders = list(_folders(store.names(root), root))
        if newest is not None:
            folders = folders[max(len(folders) - newest, 0) :]
        found = (_candidate(store, root, path, step, temporary) for step, path in folders)
        there = [candidate for candidate in found if candidate]
        return tuple(sorted(there, key=lambda c: (c.step, c.timestamp, c.path)))

    def final(self, root: str, step: int) -> str:
        return f"{root.rstrip('/')}/step-{step}"


def _folders(names: tuple[str, ...], root: str) -> Iterator[tuple[int, str]]:
    """(step, path) in the order of steps. `step-007` counts as 7 and keeps its own path."""
    matches = (_FOLDER.fullmatch(name) for name in names)
    steps = sorted((int(match[1]), match[0]) for match in matches if match)
    for step, name in steps:
        yield step, f"{root.rstrip('/')}/{name.rstrip('/')}"


def _candidate(store: Store, root: str, path: str, step: int, temporary: bool) -> Candidate | None:
    """None if the folder is gone. An unreadable marker raises: it says nothing about the checkpoint."""
    try:
        marker: bytes | None = store.read(f"{path}/{MARKER}")
    except FileNotFoundError:
        marker = None
    try:
        beside = {name for name in store.names(path) if not name.startswith(".")} - {MARKER}
    except FileNotFoundError:
        return None
    if marker is None:
        return Candidate(path, step, root, temporary, problem=_unmarked(beside))
    metadata = _parsed(marker)
    if metadata is None:
        return Candidate(path, step, root, temporary, problem=f"{MARKER} is not JSON")
    stamp, told = metadata.get("timestamp"), metadata.get("is_temporary")
    return Candidate(
        path,
        step,
        root,
        told if isinstance(told, bool) else temporary,
        stamp if isinstance(stamp, str) else "",
        _wrong_step(metadata.get("step"), step) or _without_data(beside),
    )


def _parsed(marker: bytes) -> dict[str, Any] | None:
    try:
        metadata = json.loads(marker)
    except (ValueError, RecursionError):
        return None
    return metadata if isinstance(metadata, dict) else None


def _unmarked(beside: set[str]) -> str:
    if not beside:
        return f"no {MARKER}: the folder is empty"
    if beside == {MANIFEST}:
        return f"no {MARKER}, only {MANIFEST}: the save was begun and not finished"
    return f"no {MARKER}"


def _wrong_step(told: Any, step: int) -> str:
    if told is None:
        return f"{MARKER} has no step"
    if not isinstance(told, int) or isinstance(told, bool):
        return f"{MARKER} has a step that is no integer"
    return "" if told == step else f"metadata step {told} differs from the folder's step {step}"


def _without_data(beside: set[str]) -> str:
    if not beside:
        return f"{MARKER} is missing its data"
    if beside == {MANIFEST}:
        return f"{MARKER} is missing its data: only {MANIFEST} is beside it"
    return ""
