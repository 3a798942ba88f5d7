"""What lies in a checkpoint's folder, and what its marker says."""

import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from herorun.core.evidence import Candidate
from herorun.core.lazy_regex import lazy_regex
from herorun.core.ports import FileEntry, Store

_SHARD = lazy_regex(r"(?P<stem>.+)-(?P<number>[0-9]+)-of-(?P<count>[0-9]+)(?P<end>\.\w+)")


def contents(store: Store, path: str) -> Mapping[str, FileEntry] | None:
    """The entries of a folder by name, folders with a slash; None if it is gone."""
    try:
        return {entry.name: entry for entry in store.entries(path)}
    except FileNotFoundError:
        return None


def marker(store: Store, path: str) -> bytes | None:
    """A file's content; None if it is not there. One that cannot be read raises: it says
    nothing.
    """
    try:
        return store.read(path)
    except FileNotFoundError:
        return None


def parse_object(data: bytes) -> dict[str, Any] | None:
    """A JSON object; None where it is none."""
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) else None


def wrong_step(file: str, value: Any, step: int) -> str:
    """What is wrong with the step that the metadata states; empty if it is the folder's."""
    if value is None:
        return f"{file} has no step"
    if not isinstance(value, int) or isinstance(value, bool):
        return f"{file} has a step that is no integer"
    return "" if value == step else f"its metadata has step {value}, but the folder has step {step}"


def visible(names: Iterable[str]) -> set[str]:
    """Names without those that a file system leaves behind, such as `.nfs0001`."""
    return {name for name in names if not name.startswith(".")}


def missing_shard(names: Iterable[str]) -> str:
    """The first shard of `x-00001-of-00003.safetensors` and its like that is not there; empty if
    all are.
    """
    shards = {name: match for name in names if (match := _SHARD.fullmatch(name))}
    for match in shards.values():
        number, count = match["number"], match["count"]
        for index in range(1, int(count) + 1):
            shard = f"{match['stem']}-{index:0{len(number)}}-of-{count}{match['end']}"
            if shard not in shards:
                return shard
    return ""


def last_touched(entries: Mapping[str, FileEntry], candidate: Candidate) -> datetime | None:
    """When anything of a save under way changed, if the store reports it."""
    times = [entry.modified for entry in entries.values() if entry.modified]
    return max(times, default=candidate.modified)


def marker_time(
    entries: Mapping[str, FileEntry], file: str, candidate: Candidate
) -> datetime | None:
    """When the marker changed, if the store reports it; otherwise the folder's own time."""
    entry = entries.get(file)
    return (entry.modified if entry else None) or candidate.modified
