"""Checkpoints as `<root>/ckpt_<N>/`, whole once they hold an empty file `DONE`."""

from dataclasses import replace

from herorun.core.evidence import Candidate
from herorun.core.ports import AdapterOptions, Layout, Place, Store
from herorun.stores.layouts._contents import contents, marker_time, visible
from herorun.stores.layouts._naming import NamedLayout, stem

MARKER = "DONE"


class Options(AdapterOptions):
    pass


def connect(options: Options, place: Place) -> Layout:
    return DoneFile()


class DoneFile(NamedLayout):
    """See `core.ports.Layout`. One listing a checkpoint."""

    naming = stem("ckpt_")

    def examine(self, store: Store, candidate: Candidate) -> Candidate | None:
        entries = contents(store, candidate.path)
        if entries is None:
            return None
        modified_at = marker_time(entries, MARKER, candidate)
        return replace(candidate, modified=modified_at, problem=problem_of(set(entries)))


def problem_of(names: set[str]) -> str:
    """Why a folder of these names is no whole checkpoint; empty for one that is."""
    if MARKER not in names:
        return f"{MARKER} is missing: the save was begun and not finished"
    return "" if visible(names) - {MARKER} else f"there is nothing next to {MARKER}"
