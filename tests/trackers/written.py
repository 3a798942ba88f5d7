"""What trainers write, made here byte by byte: W&B's log by W&B's own messages, TensorBoard's
events, trackio's tables.
"""

import json
import sqlite3
import struct
import zlib
from collections.abc import Iterable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from herorun.trackers._crc32c import compute_masked_checksum

BEGIN = b":W&B\xe1\xbe\x00"
BLOCK = 32768


# --- W&B's log -----------------------------------------------------------------------------------


def wandb_record(**fields: Any) -> Any:
    """A `Record` of W&B's log. Imported when first used: each worker of the tests imports this
    module, and W&B takes it a second of CPU.
    """
    from wandb.proto.wandb_internal_pb2 import Record

    return Record(**fields)


def history(step: int | None, values: Mapping[str, Any], at: float = 1.7e9) -> bytes:
    """A row as W&B's client writes it."""
    record = wandb_record(num=step or 0)
    records = (
        {**values, "_timestamp": at}
        if step is None
        else {**values, "_step": step, "_timestamp": at}
    )
    for name, value in records.items():
        item = record.history.item.add()
        item.nested_key.extend(name.split("."))
        item.value_json = json.dumps(value)
    return record.SerializeToString()


def framed_content(records: Iterable[bytes], at: int) -> bytes:
    """Records in LevelDB's framing, as they follow the byte `at` of a log."""
    out = bytearray() if at else bytearray(BEGIN)
    for record in records:
        is_begun = False
        while record or not is_begun:
            room = BLOCK - (at + len(out)) % BLOCK
            if room < 7:
                out += bytes(room)
                continue
            piece, record = record[: room - 7], record[room - 7 :]
            kind = (3 if record else 4) if is_begun else (2 if record else 1)
            out += struct.pack("<IHB", zlib.crc32(bytes([kind]) + piece), len(piece), kind) + piece
            is_begun = True
    return bytes(out)


def append(log: Path, *records: bytes) -> None:
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as file:
        file.write(framed_content(records, file.tell()))


# --- TensorBoard's events ------------------------------------------------------------------------


def event(step: int, values: Mapping[str, float], at: float = 1.7e9) -> bytes:
    """As tensorboardX writes it: the fields in their order, a step of zero left out."""
    summary = b"".join(delimited_field(0x0A, value(tag, number)) for tag, number in values.items())
    step_field = b"\x10" + varint(step & (1 << 64) - 1) if step else b""
    return b"\x09" + struct.pack("<d", at) + step_field + delimited_field(0x2A, summary)


def value(tag: str, number: float) -> bytes:
    return delimited_field(0x0A, tag.encode()) + b"\x15" + struct.pack("<f", number)


def tensor_event(step: int, tag: str, tensor: bytes) -> bytes:
    summary = delimited_field(
        0x0A, delimited_field(0x0A, tag.encode()) + delimited_field(0x42, tensor)
    )
    return (
        b"\x09" + struct.pack("<d", 1.7e9) + b"\x10" + varint(step) + delimited_field(0x2A, summary)
    )


def delimited_field(tag: int, content: bytes) -> bytes:
    return bytes([tag]) + varint(len(content)) + content


def varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def tfrecord(content: bytes) -> bytes:
    size = struct.pack("<Q", len(content))
    return (
        size
        + struct.pack("<I", compute_masked_checksum(size))
        + content
        + struct.pack("<I", compute_masked_checksum(content))
    )


# --- trackio's tables ----------------------------------------------------------------------------

TABLES = """
create table metrics (id integer primary key autoincrement, run_id text not null, timestamp text not null,
    run_name text not null, step integer not null, metrics text not null, log_id text, space_id text);
create table configs (id integer primary key autoincrement, run_id text not null, run_name text not null,
    config text not null, created_at text not null, unique(run_id));
create table alerts (id integer primary key autoincrement, run_id text not null, timestamp text not null,
    run_name text not null, title text not null, text text, level text not null default 'warn', step integer,
    alert_id text);
create index idx_metrics_run_step on metrics(run_id, step);
create index idx_metrics_run_record on metrics(run_id, run_name, timestamp);
"""  # noqa: E501  # a text that is read as it stands
NOON = "2026-11-21T12:00:00.5+00:00"


def execute(path: Path, statement: str, rows: Iterable[tuple[Any, ...]]) -> None:
    """Write into the project's database, which is made where it is missing, as trackio makes it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    is_new = not path.exists()
    with closing(sqlite3.connect(path)) as database, database:
        if is_new:
            database.execute("pragma journal_mode = wal")
            database.executescript(TABLES)
        database.executemany(statement, list(rows))


def trackio_rows(path: Path, *rows: tuple[int, Any], run: str = "3f2a", name: str = "tiny") -> None:
    statement = (
        "insert into metrics (run_id, timestamp, run_name, step, metrics) values (?, ?, ?, ?, ?)"
    )
    execute(path, statement, ((run, NOON, name, step, metrics) for step, metrics in rows))
