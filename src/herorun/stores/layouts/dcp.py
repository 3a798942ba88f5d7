"""PyTorch's distributed checkpoints as torchtitan lays them out: `<root>/step-<N>/` with
`__<rank>_<n>.distcp`.

`.metadata` is written last, by the coordinator, once every rank has written its shards; newer
versions write it under another name and rename it. It is a pickle, so it is never opened, and the
name alone contains the step. Source: pytorch/pytorch, torch/distributed/checkpoint/filesystem.py
(finish); pytorch/torchtitan, torchtitan/components/checkpoint.py (_find_load_step asks for
`.metadata`, first by an unanchored pattern).
"""

from collections.abc import Mapping
from dataclasses import replace

from herorun.core.evidence import Candidate
from herorun.core.ports import AdapterOptions, FileEntry, Layout, Place, Store
from herorun.stores.layouts._contents import contents, marker_time
from herorun.stores.layouts._naming import NamedLayout, stem

MARKER = ".metadata"
EXPORT = "model.safetensors.index.json"


class Options(AdapterOptions):
    pass


def connect(options: Options, place: Place) -> Layout:
    return Dcp()


class Dcp(NamedLayout):
    """See `core.ports.Layout`. One listing a checkpoint."""

    naming = stem("step-")

    def examine(self, store: Store, candidate: Candidate) -> Candidate | None:
        files = contents(store, candidate.path)
        if files is None:
            return None
        modified_at = marker_time(files, MARKER, candidate)
        return replace(candidate, modified=modified_at, problem=shard_problem(files))


def shard_problem(files: Mapping[str, FileEntry]) -> str:
    """What a folder of shards lacks; empty for a whole one."""
    shards = any(name.endswith(".distcp") for name in files)
    entry = files.get(MARKER)
    if entry is None:
        return _explain_unmarked(set(files), shards)
    if entry.size == 0:
        return f"{MARKER} is empty"
    return "" if shards else f"there is no .distcp file next to {MARKER}: the data is missing"


def _explain_unmarked(names: set[str], shards: bool) -> str:
    if not names:
        return f"no {MARKER}: the folder is empty"
    if f"{MARKER}.tmp" in names:
        return f"no {MARKER}, only {MARKER}.tmp: the save was begun and not finished"
    if EXPORT in names and not shards:
        return f"no {MARKER}: an export of the weights alone ({EXPORT})"
    return f"no {MARKER}"
