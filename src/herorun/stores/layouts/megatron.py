"""Megatron-LM's checkpoints: `<root>/iter_<7 digits>/`, and `latest_checkpointed_iteration.txt` in
the root.

The tracker file is written last, after a barrier or at the end of an asynchronous save: an
iteration above the one that it names was not finished. `iter_100`, without its zeros, is not found
by the trainer. The data are shards with a `metadata.json` (the distributed format) or
`mp_rank_<tensor>[_<pipeline>]` folders.
Source: NVIDIA/Megatron-LM, megatron/training/checkpointing.py (save_checkpoint, read_metadata,
get_checkpoint_name) and megatron/core/dist_checkpointing.
"""

import re
from collections.abc import Mapping
from dataclasses import replace

from herorun.core.evidence import Candidate
from herorun.core.lazy_regex import lazy_regex
from herorun.core.ports import AdapterOptions, FileEntry, Layout, Place, Store
from herorun.stores.layouts._contents import contents, marker, marker_time, visible
from herorun.stores.layouts._naming import NamedLayout, stem
from herorun.stores.layouts.dcp import shard_problem

TRACKER = "latest_checkpointed_iteration.txt"
METADATA = "metadata.json"
COMMON = "common.pt"
_RANK = lazy_regex(r"mp_rank_([0-9]{2,})(?:_[0-9]{3})*/")


class Options(AdapterOptions):
    pass


def connect(options: Options, place: Place) -> Layout:
    return Megatron()


class Megatron(NamedLayout):
    """See `core.ports.Layout`. A read of the tracker file and one listing a checkpoint; of ranks
    one listing more.
    """

    naming = stem("iter_", digits="[0-9]{7}|[1-9][0-9]{7,}", width="07")

    def examine(self, store: Store, candidate: Candidate) -> Candidate | None:
        tracker = marker(store, f"{candidate.root.rstrip('/')}/{TRACKER}")
        files = contents(store, candidate.path)
        if files is None:
            return None
        candidate = replace(candidate, modified=marker_time(files, METADATA, candidate))
        problem = _explain_unfinished(tracker, candidate.step) or _without_data(files)
        if problem or METADATA in files:
            return replace(candidate, problem=problem)
        return self._date_by_rank(
            store, candidate, min(name for name in files if _RANK.fullmatch(name))
        )

    def _date_by_rank(self, store: Store, candidate: Candidate, rank: str) -> Candidate:
        """A folder of ranks has no time on an object store; the first rank's files do."""
        inside = contents(store, f"{candidate.path}/{rank.rstrip('/')}")
        if not inside:
            return replace(candidate, problem=f"{rank} is empty")
        times = [entry.modified for entry in inside.values() if entry.modified]
        return replace(candidate, modified=max(times, default=candidate.modified))


def _explain_unfinished(tracker: bytes | None, step: int) -> str:
    if tracker is None:
        return f"no {TRACKER} in the root"
    text = tracker.decode("utf-8", "replace").strip()
    if not re.fullmatch("[0-9]{1,18}", text):
        return f"{TRACKER} says {text[:40]!r}, which is not an iteration"
    return (
        f"{TRACKER} says {int(text)}: the save of this step was not finished"
        if int(text) < step
        else ""
    )


def _without_data(files: Mapping[str, FileEntry]) -> str:
    names = visible(files)
    if METADATA in names:
        return _distributed_problem(files, names)
    ranks = {int(match[1]) for name in names if (match := _RANK.fullmatch(name))}
    missing_rank = next(
        (rank for rank in range(max(ranks, default=-1) + 1) if rank not in ranks), None
    )
    if missing_rank is not None:
        return f"the folder of tensor rank {missing_rank} is missing"
    return (
        "" if ranks else f"no {METADATA} and no mp_rank folder" if names else "the folder is empty"
    )


def _distributed_problem(files: Mapping[str, FileEntry], names: set[str]) -> str:
    if any(name.endswith(".distcp") for name in names):
        return shard_problem(files)
    return "" if names - {METADATA, COMMON} else f"there is no data next to {METADATA}"
