"""Levanter's checkpoints: `<root>/step-<N>/` with data, and a `metadata.json` that is written last.

`manifest.json` is written when a save starts, so it marks nothing. `step-N` holds N completed
updates.
Source: marin-community/marin, lib/levanter/src/levanter/checkpoint.py and checkpoint_manifest.py.
"""

from dataclasses import replace

from herorun.core.evidence import Candidate
from herorun.core.ports import AdapterOptions, Layout, Place, Store
from herorun.stores.layouts._contents import (
    contents,
    last_touched,
    marker,
    marker_time,
    parse_object,
    visible,
    wrong_step,
)
from herorun.stores.layouts._naming import NamedLayout, stem

MARKER = "metadata.json"
MANIFEST = "manifest.json"


class Options(AdapterOptions):
    pass


def connect(options: Options, place: Place) -> Layout:
    return Levanter()


class Levanter(NamedLayout):
    """See `core.ports.Layout`. `is_temporary` in the metadata wins over what the root says."""

    naming = stem("step-")

    def examine(self, store: Store, candidate: Candidate) -> Candidate | None:
        """A read of the marker and one listing. `step-007` counts as 7 and keeps its own path."""
        data = marker(store, f"{candidate.path}/{MARKER}")
        files = contents(store, candidate.path)
        if files is None:
            return None
        names = visible(files) - {MARKER}
        if data is None:
            return replace(
                candidate, problem=_explain_unmarked(names), modified=last_touched(files, candidate)
            )
        candidate = replace(candidate, modified=marker_time(files, MARKER, candidate))
        metadata = parse_object(data)
        if metadata is None:
            return replace(candidate, problem=f"{MARKER} is not JSON")
        stamp, temporary = metadata.get("timestamp"), metadata.get("is_temporary")
        return replace(
            candidate,
            temporary=temporary if isinstance(temporary, bool) else candidate.temporary,
            timestamp=stamp if isinstance(stamp, str) else "",
            problem=wrong_step(MARKER, metadata.get("step"), candidate.step)
            or _without_data(names),
        )


def _explain_unmarked(names: set[str]) -> str:
    if not names:
        return f"no {MARKER}: the folder is empty"
    if names == {MANIFEST}:
        return f"no {MARKER}, only {MANIFEST}: the save was begun and not finished"
    return f"no {MARKER}"


def _without_data(names: set[str]) -> str:
    if not names:
        return f"there is no data next to {MARKER}"
    if names == {MANIFEST}:
        return f"there is no data next to {MARKER}: only {MANIFEST} is there"
    return ""
