"""Lightning's checkpoints: `<root>/epoch=<E>-step=<N>.ckpt`, a file or, where it is sharded, a
folder. A `filename` of the user may name other metrics, each as `<metric>=<value>`; one with other
words may be a backup, so it is no candidate. Next to others, one that is named by a metric is the
save of a best model, often of the weights alone: no run continues from it.

A file is a zip that `torch.save` wrote: its central directory comes last, so a cut file has no
whole end. A sharded folder gets its `.metadata` when the shards are written and `meta.pt` after
that. A second checkpoint of one step ends in `-v1.ckpt`. `last.ckpt` names no step, so it is no
candidate. Source:
Lightning-AI/pytorch-lightning, src/lightning/pytorch/callbacks/model_checkpoint.py and
src/lightning/fabric/strategies/fsdp.py.
"""

import re
from dataclasses import replace

from herorun.core.evidence import Candidate
from herorun.core.lazy_regex import lazy_regex
from herorun.core.ports import AdapterOptions, Layout, Place, Store
from herorun.stores.layouts._contents import contents, marker_time
from herorun.stores.layouts._naming import NamedLayout, Naming
from herorun.stores.layouts.dcp import shard_problem

META = "meta.pt"
_METRIC = r"[A-Za-z][\w.]*=(?:-?[0-9]+(?:\.[0-9]+)?(?:e[-+]?[0-9]+)?|nan|-?inf)"
_PLAIN = lazy_regex(
    r"(?:epoch=[0-9]+[-_])?step=[0-9]+(?:[-_]epoch=[0-9]+)?(?:-v[0-9]+)?\.ckpt", re.ASCII
)
END = 65536  # bytes: the directory of some hundred tensors; a longer one is known by its end alone
_EOCD, _LOCATOR, _ENTRY = b"PK\x05\x06", b"PK\x06\x07", b"PK\x01\x02"
_IN_ZIP64_RECORD = 0xFFFFFFFF  # the 64-bit record holds it


class Options(AdapterOptions):
    pass


def connect(options: Options, place: Place) -> Layout:
    return Lightning()


class Lightning(NamedLayout):
    """See `core.ports.Layout`. One read of a file's end; of a folder one listing more."""

    naming = Naming(
        lazy_regex(
            rf"(?:{_METRIC}[-_])*step=([0-9]+)(?:[-_]{_METRIC})*(?:-v[0-9]+)?\.ckpt", re.ASCII
        ),
        lazy_regex(r"(?<![0-9A-Za-z])step=([0-9]+)(?![0-9])"),
        "epoch=*-step={}.ckpt",  # a pattern: the step does not determine the epoch
        files=True,
    )

    def listed(self, store: Store, root: str, temporary: bool) -> tuple[Candidate, ...]:
        candidates = super().listed(store, root, temporary)
        if not any(_is_plain(candidate) for candidate in candidates):
            return candidates
        return tuple(
            each if each.problem or _is_plain(each) else _as_best_model(each) for each in candidates
        )

    def examined(self, store: Store, candidate: Candidate) -> Candidate | None:
        return candidate if candidate.alike else super().examined(store, candidate)

    def examine(self, store: Store, candidate: Candidate) -> Candidate | None:
        try:
            tail = store.end(candidate.path, END)
        except (IsADirectoryError, FileNotFoundError):  # an object store knows no folders
            return self._folder(store, candidate)
        return replace(candidate, problem=_find_zip_fault(tail))

    def _folder(self, store: Store, candidate: Candidate) -> Candidate | None:
        files = contents(store, candidate.path)
        if files is None:
            return None
        problem = shard_problem(files) or ("" if META in files else f"no {META}")
        return replace(candidate, modified=marker_time(files, META, candidate), problem=problem)


def _is_plain(candidate: Candidate) -> bool:
    return _PLAIN.fullmatch(candidate.path.rpartition("/")[2]) is not None


def _as_best_model(candidate: Candidate) -> Candidate:
    problem = "it is named by a metric, unlike others here: perhaps a best model's weights alone"
    return replace(candidate, problem=problem, examined=True, alike=True)


def _find_zip_fault(tail: bytes) -> str:
    """What is wrong with the end of a zip; empty for a whole one."""
    if not tail:
        return "the file is empty"
    at = tail.rfind(_EOCD)
    if (
        at < 0
        or len(tail) < at + 22
        or _read_little_endian(tail, at + 20, 2) != len(tail) - at - 22
    ):
        return (
            "the file has no end of a zip: the save was cut short, or it is in torch's old format"
        )
    size, end = _read_little_endian(tail, at + 12, 4), at
    # a 64-bit record of 56 bytes before its locator
    if at >= 76 and tail[at - 20 : at - 16] == _LOCATOR:
        end = at - 76
        size = _read_little_endian(tail, end + 40, 8) if size == _IN_ZIP64_RECORD else size
    start = end - size
    if not size:
        return "the file is a zip without content"
    return (
        "the directory of the zip is damaged"
        if start >= 0 and tail[start : start + 4] != _ENTRY
        else ""
    )


def _read_little_endian(data: bytes, at: int, count: int) -> int:
    return int.from_bytes(data[at : at + count], "little")
