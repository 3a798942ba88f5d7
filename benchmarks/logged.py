"""What a training run has logged, by each tracker's own format, as fast as it can be written: rows
of one loss.
"""

import json
import sqlite3
import struct
import zlib
from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path

from benchmarks.trackers import tfrecord

LOSS = "train/loss"
_BLOCK = 32 << 10  # of W&B's log
Log = Callable[[Path, int, int], None]  # folder of the run, first step, rows


def jsonl(root: Path, first: int, rows: int) -> None:
    with (root / "metrics.jsonl").open("a", encoding="utf-8") as file:
        for step in range(first, first + rows):
            file.write(f'{{"step": {step}, "{LOSS}": {loss(step)}}}\n')


def trackio(root: Path, first: int, rows: int) -> None:
    at = "2026-11-21T12:00:00+00:00"
    table = (
        "create table if not exists metrics (id integer primary key autoincrement, run_id text, "
        "timestamp text,"
        " run_name text, step integer, metrics text)"
    )
    line = (
        "insert into metrics (run_id, timestamp, run_name, step, metrics) values ('a', ?, 'long', "
        "?, ?)"
    )
    with closing(sqlite3.connect(root / "long.db")) as database, database:
        database.execute(table)
        steps = range(first, first + rows)
        database.executemany(line, ((at, step, json.dumps({LOSS: loss(step)})) for step in steps))


def tensorboard(root: Path, first: int, rows: int) -> None:
    with (root / "events.out.tfevents.1000000001.host").open("ab") as file:
        file.write(b"".join(tfrecord(step, LOSS) for step in range(first, first + rows)))


def wandb_offline(root: Path, first: int, rows: int) -> None:
    from wandb.proto.wandb_internal_pb2 import Record  # type: ignore[attr-defined]

    def records() -> Iterable[bytes]:
        for step in range(first, first + rows):
            record = Record(num=step)
            for name, value in ((LOSS, loss(step)), ("_step", step)):
                record.history.item.add(nested_key=[name], value_json=json.dumps(value))
            yield record.SerializeToString()

    log = root / "offline-run-20261121_120000-long" / "run-long.wandb"
    log.parent.mkdir(exist_ok=True)
    with log.open("ab") as file:
        file.write(_frame_records(records(), file.tell()))


def _frame_records(records: Iterable[bytes], at: int) -> bytes:
    """LevelDB's framing, as it follows the byte `at` of a log."""
    out = bytearray() if at else bytearray(b":W&B\xe1\xbe\x00")
    for record in records:
        is_later = False
        while record or not is_later:
            room = _BLOCK - (at + len(out)) % _BLOCK
            if room < 7:
                out += bytes(room)
                continue
            piece, record = record[: room - 7], record[room - 7 :]
            kind = (3 if record else 4) if is_later else (2 if record else 1)
            out += struct.pack("<IHB", zlib.crc32(bytes([kind]) + piece), len(piece), kind) + piece
            is_later = True
    return bytes(out)


def loss(step: int) -> float:
    return 2 + 100 / (step + 100)
