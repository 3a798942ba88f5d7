"""Parses what a `.wandb` log states about its run and its process's end. Pure: bytes in, facts
out.
"""

from collections.abc import Iterator

from herorun.core.lazy_dataclass import dataclass
from herorun.trackers._protobuf_wire import BYTES, VARINT, decode_signed, fields

_RUN_ID, _CONFIG, _DISPLAY_NAME = 1, 4, 8  # of RunRecord
_EXIT_CODE = 1  # of RunExitRecord
_UPDATE = 1  # of ConfigRecord
_KEY, _NESTED_KEY, _VALUE = 1, 2, 16  # of ConfigItem


@dataclass(frozen=True)
class WandbRun:
    """The run's facts at the log's beginning."""

    id: str = ""
    display_name: str = ""  # empty unless the trainer gave one
    config: bytes = b""  # a ConfigRecord


def run_of(content: bytes) -> WandbRun:
    contents = {number: raw for number, kind, _, raw in fields(content) if kind == BYTES}
    return WandbRun(
        _decode_text(contents.get(_RUN_ID, b"")),
        _decode_text(contents.get(_DISPLAY_NAME, b"")),
        contents.get(_CONFIG, b""),
    )


def exit_code_of(content: bytes) -> int:
    """0 is not written."""
    return next(
        (
            decode_signed(value)
            for number, kind, value, _ in fields(content)
            if (number, kind) == (_EXIT_CODE, VARINT)
        ),
        0,
    )


def config_items(content: bytes) -> Iterator[tuple[tuple[str, ...], bytes]]:
    """Each key that a ConfigRecord sets, by its path, and the value in JSON."""
    for number, kind, _, item in fields(content):
        if (number, kind) == (_UPDATE, BYTES):
            parts = [(n, raw) for n, k, _, raw in fields(item) if k == BYTES]
            path = tuple(_decode_text(raw) for n, raw in parts if n in (_KEY, _NESTED_KEY))
            yield path, next((raw for n, raw in parts if n == _VALUE), b"null")


def _decode_text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")
