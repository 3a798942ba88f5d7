"""Orbax's checkpoints: `<root>/<N>/`, or `<root>/<prefix>_<N>/`, with a folder for each item.

Where a rename is atomic a save goes to `<N>.orbax-checkpoint-tmp...` and is renamed when it is
done; on an object store it is written in place and `commit_success.txt` comes last.
`_CHECKPOINT_METADATA` gets its commit time at the end, just before either. An item that is still
being written has the temporary name inside the step's folder.
Source: google/orbax, orbax/checkpoint/_src/path/atomicity.py, step.py and metadata/checkpoint.py.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from herorun.core.evidence import Candidate
from herorun.core.lazy_regex import lazy_regex
from herorun.core.ports import AdapterOptions, Layout, Place, Store
from herorun.stores.layouts._contents import contents, marker, marker_time, parse_object, visible
from herorun.stores.layouts._naming import NamedLayout, Naming

METADATA = "_CHECKPOINT_METADATA"
COMMIT = "commit_success.txt"
INDICATOR = "orbax.checkpoint"  # an empty file of newer versions
UNDER_WAY = ".orbax-checkpoint-tmp"
_BACKUP = r"bak|backup|old|orig|copy|save|tmp|temp|broken|bad"


class Options(AdapterOptions):
    pass


def connect(options: Options, place: Place) -> Layout:
    return Orbax()


class Orbax(NamedLayout):
    """See `core.ports.Layout`. One listing a checkpoint, and a read where it has metadata."""

    naming = Naming(
        lazy_regex(r"(?:[A-Za-z][A-Za-z0-9-]*_)?([0-9]+)"),
        lazy_regex(
            rf"^(?:[A-Za-z][A-Za-z0-9-]*_)?([0-9]+)(?:{re.escape(UNDER_WAY)}|[._~-]+(?:{_BACKUP})\b|~$)"
        ),
        "{}",  # without a prefix, which is Orbax's default
    )

    def examine(self, store: Store, candidate: Candidate) -> Candidate | None:
        files = contents(store, candidate.path)
        if files is None:
            return None
        metadata = self._metadata(store, candidate.path) if METADATA in files else {}
        commit_time = _commit_time(metadata)
        file = COMMIT if COMMIT in files else METADATA
        return replace(
            candidate,
            modified=marker_time(files, file, candidate),
            timestamp=commit_time.isoformat() if commit_time else "",
            problem=_problem(candidate.path, set(files), metadata, commit_time),
        )

    def _metadata(self, store: Store, path: str) -> dict[str, Any] | None:
        data = marker(store, f"{path}/{METADATA}")
        return {} if data is None else parse_object(data)


def _commit_time(metadata: Mapping[str, Any] | None) -> datetime | None:
    nanoseconds = (metadata or {}).get("commit_timestamp_nsecs")
    if not isinstance(nanoseconds, int) or isinstance(nanoseconds, bool):
        return None
    try:
        return datetime.fromtimestamp(nanoseconds / 1e9, UTC)
    except (ValueError, OverflowError, OSError):
        return None


def _problem(
    path: str, names: set[str], metadata: Mapping[str, Any] | None, commit_time: datetime | None
) -> str:
    under_way = next((name for name in sorted(names) if UNDER_WAY in name), None)
    data = visible(names) - {METADATA, COMMIT, INDICATOR}
    if under_way:
        return f"{under_way} is a temporary name: the save was begun and not finished"
    if COMMIT in names or commit_time:
        return "" if data else f"there is no data next to {COMMIT if COMMIT in names else METADATA}"
    if metadata is None:
        return f"{METADATA} is not JSON"
    if METADATA in names:
        return f"{METADATA} has no commit time: the save was begun and not finished"
    if "://" in path:
        return f"no {COMMIT}"
    return "" if data else "the folder is empty"
