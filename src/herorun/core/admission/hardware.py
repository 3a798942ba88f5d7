"""Compares accelerators by kind and count, under any name that a cluster, a contract or a library
uses.

Standard library only, and light: this also runs inside the job, on every rank, before the training
starts.
"""

import math
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from .items import FAIL, PASS, UNKNOWN, Item

# As texts, which `re` compiles once: most commands and jobs compare no hardware.
_TPU = r"(?:(?:cloud[ _-]?)?tpu[ _-]*)?v?(\d)[ _-]?(x|litepod|lite|e|p|i)?(?:[ _-](\d+))?"
_TOPOLOGY = r"\d+(?:x\d+)+"
_WORDS = r"[a-z0-9]+"
_MODEL = r"(?=.*[a-z])(?=.*\d)[a-z0-9]+"
_MEMORY = r"\d+g[bi]?b?"
_ANY = {"gpu", "cuda", "rocm", "tpu", "nvidia", "amd", "accelerator"}
_TWO_CORES = ("v2", "v3", "v4", "v5p")  # a type such as v5p-256 counts cores, two of a chip


class Tpu(NamedTuple):
    """A TPU type: `v5litepod-16` is v5e with 16 chips, `v5p-256` is v5p with 128; None if there is
    no size.
    """

    kind: str
    chips: int | None


def tpu(text: str) -> Tpu | None:
    """The TPU of a cloud's type, or of a library's device name, such as "TPU v5 lite".

    >>> tpu("v5litepod-16"), tpu("TPU v5"), tpu("v5p-256"), tpu("H100")
    (Tpu(kind='v5e', chips=16), Tpu(kind='v5p', chips=None), Tpu(kind='v5p', chips=128), None)
    """
    match = re.fullmatch(_TPU, text.strip().lower())
    if not match or not re.search(r"tpu|v\d", text.lower()):
        return None
    letter = {"litepod": "e", "lite": "e", None: "p" if match[1] == "5" else ""}.get(
        match[2], match[2] or ""
    )
    kind = f"v{match[1]}{letter}"
    size = int(match[3]) if match[3] else None
    return Tpu(kind, size // 2 if size and kind in _TWO_CORES else size)


def same_accelerator(one: str, other: str) -> bool:
    """Whether two names may mean the same kind: "NVIDIA H100 80GB HBM3" is an h100, and "gpu" may
    be any GPU.
    """
    first, second = tpu(one), tpu(other)
    if first and second:
        return first.kind == second.kind and _agree({first.chips} - {None}, {second.chips} - {None})
    if first or second:
        return "tpu" in (one.lower(), other.lower())
    tokens, others = set(re.findall(_WORDS, one.lower())), set(re.findall(_WORDS, other.lower()))
    if tokens == others or _any_gpu(tokens, others) or _any_gpu(others, tokens):
        return True
    return _agree(_memory(tokens), _memory(others)) and bool(_models(tokens) & _models(others))


def _any_gpu(tokens: set[str], others: set[str]) -> bool:
    return tokens <= _ANY - {"tpu"} and "cpu" not in others


def _agree(one: set[Any], other: set[Any]) -> bool:
    return not one or not other or one == other


def _models(tokens: set[str]) -> set[str]:
    return {
        word for word in tokens if re.fullmatch(_MODEL, word) and not re.fullmatch(_MEMORY, word)
    }


def _memory(tokens: set[str]) -> set[str]:
    return {word for word in tokens if re.fullmatch(_MEMORY, word)}


def same_count(stated_value: Any, actual: Any, accelerator: str) -> bool:
    """Whether the counts are equal, by number or by cores of chips with two."""
    kind = tpu(accelerator)
    return bool(
        stated_value == actual or (kind and kind.kind in _TWO_CORES and stated_value == 2 * actual)
    )


def same_topology(stated_value: str, actual: str) -> bool | None:
    """Whether the topologies are equal; None if they cannot be compared."""
    if stated_value.lower() == actual.lower():
        return True
    one, other = _chips(stated_value), _chips(actual)
    if one is None or other is None:
        return None
    return (
        one == other and same_accelerator(stated_value, actual)
        if tpu(stated_value) and tpu(actual)
        else one == other
    )


def _chips(text: str) -> int | None:
    if re.fullmatch(_TOPOLOGY, text.lower()):
        return math.prod(int(part) for part in text.lower().split("x"))
    kind = tpu(text)
    return kind.chips if kind else None


class Devices(NamedTuple):
    """The accelerators that a job sees."""

    kinds: tuple[str, ...]  # as the library names them; empty: unknown
    # possible counts: a library does not report how processes share devices
    counts: tuple[int, ...]
    source: str
    others: bool = False  # whether other processes may have more


def compare_hardware(hardware: Mapping[str, Any], devices: Devices | str) -> list[Item]:
    """Compare the accelerator and count of `[hardware]`; empty if the contract states neither.
    `devices` as text is why they are unknown.
    """
    stated_table = {
        name: hardware[name] for name in ("accelerator", "count") if hardware.get(name) is not None
    }
    if not stated_table:
        return []
    if isinstance(devices, str):
        return [Item("hardware", UNKNOWN, devices)]
    wrong, gaps = [], []
    kind = str(stated_table.get("accelerator", ""))
    names = sorted(set(devices.kinds))
    if kind and not names:
        gaps.append(f"{devices.source} does not report their kind")
    if kind and any(not same_accelerator(_of_kind(kind), name) for name in names):
        wrong.append(f"sees {', '.join(names)}, but {kind} was admitted")
    count = stated_table.get("count")
    if count is not None and not any(
        same_count(count, device_count, kind or "".join(names[:1]))
        for device_count in devices.counts
    ):
        message = f"accelerators: sees {devices.counts[0]}, admitted {count}"
        (gaps if devices.others and devices.counts[0] < count else wrong).append(message)
    if wrong:
        return [Item("hardware", FAIL, f"{'; '.join(wrong)} ({devices.source})")]
    if gaps:
        return [Item("hardware", UNKNOWN, "; ".join(gaps))]
    return [
        Item(
            "hardware", PASS, f"{devices.counts[0]} x {', '.join(names) or kind} ({devices.source})"
        )
    ]


def _of_kind(stated_value: str) -> str:
    """The kind without the slice size: a device is one chip of the slice."""
    kind = tpu(stated_value)
    return kind.kind if kind else stated_value
