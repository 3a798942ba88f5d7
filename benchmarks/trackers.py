"""Reading a run's whole history from its tracker, compared with the vendor's own reader or the
plainest loop.

TensorBoard's reader is measured where it is installed: in this environment, or in that of
HERORUN_VENDORS, a python.
"""

import json
import os
import sqlite3
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

from benchmarks.timing import Row, in_turns, process, run
from herorun.core.ports import Place, Tracker
from herorun.trackers import jsonl, levanter_log, tensorboard, trackio, wandb_offline
from herorun.trackers._crc32c import compute_masked_checksum

ROUNDS = 3
SIZE = 20_000  # rows
NAMES = ("train/loss", "grad_norm", "lr", "tokens_per_second", "mfu")
PYTHON = os.environ.get("HERORUN_VENDORS", sys.executable)
LOADER = """
import sys
from tensorboard.backend.event_processing.event_file_loader import EventFileLoader
for event in EventFileLoader(sys.argv[1]).Load():
    for value in event.summary.value:
        value.tag
"""
OFFLINE = """
import sys
import wandb
how = wandb.Settings(x_disable_stats=True, x_disable_meta=True, console="off", disable_git=True)
run = wandb.init(dir=sys.argv[1], id="tiny", project="tiny", mode="offline", settings=how)
for step in range(int(sys.argv[2])):
    run.log({name: 1 / (step + 1) for name in sys.argv[3:]})
run.finish()
"""


def rows(home: Path) -> Iterator[Row]:
    yield from of_wandb(home)
    yield from of_tensorboard(home)
    yield from of_trackio(home)
    yield from of_levanter(home)


def of_wandb(home: Path) -> Iterator[Row]:
    env = {"WANDB_SILENT": "true", "WANDB_ERROR_REPORTING": "false"}
    run([sys.executable, "-c", OFFLINE, str(home), str(SIZE), *NAMES], cwd=home, env=env)
    log = next(home.glob("wandb/offline-run-*/run-tiny.wandb"))
    reader = wandb_offline.connect(wandb_offline.Options(id="tiny"), place(home))
    vendor = process(
        core(),
        "leet",
        "inspect",
        "--no-observability",
        "--json",
        "--run-file",
        str(log),
        str(log.parent),
    )
    yield compare_readers(
        "wandb_offline", reader, "`wandb-core leet inspect --json`, whole process", vendor
    )


def core() -> str:
    """W&B's own program, which its client brings along."""
    import wandb

    return str(Path(wandb.__file__).parent / "bin" / "wandb-core")


def of_tensorboard(home: Path) -> Iterator[Row]:
    log = home / "tensorboard" / "events.out.tfevents.1000000001.host"
    log.parent.mkdir()
    log.write_bytes(b"".join(tfrecord(step, name) for step in range(SIZE) for name in NAMES))
    reader = tensorboard.connect(tensorboard.Options(), place(home))
    there = subprocess.run([PYTHON, "-c", "import tensorboard"], capture_output=True, check=False)
    if there.returncode == 0:
        vendor = process(PYTHON, "-c", LOADER, str(log))
        yield compare_readers(
            "tensorboard", reader, "TensorBoard's `EventFileLoader`, whole process", vendor
        )
    lines = home / "metrics.jsonl"
    lines.write_text(
        "".join(f"{json.dumps({'step': step, **logged_row(step)})}\n" for step in range(SIZE))
    )
    same = jsonl.connect(jsonl.Options.model_validate({}), place(home))
    yield compare_readers(
        "tensorboard", reader, "the same rows by the tracker `jsonl`", lambda: drain_reader(same)
    )


def tfrecord(step: int, name: str) -> bytes:
    """One float as tensorboardX writes it."""
    tag = name.encode()
    value = b"\x0a" + bytes([len(tag)]) + tag + b"\x15" + struct.pack("<f", 1 / (step + 1))
    summary = b"\x0a" + bytes([len(value)]) + value
    step_bytes = bytes((step & 0x7F | 0x80, step >> 7 & 0x7F | 0x80, step >> 14))
    event = (
        b"\x09"
        + struct.pack("<d", 1.7e9)
        + b"\x10"
        + step_bytes
        + b"\x2a"
        + bytes([len(summary)])
        + summary
    )
    size = struct.pack("<Q", len(event))
    return (
        size
        + struct.pack("<I", compute_masked_checksum(size))
        + event
        + struct.pack("<I", compute_masked_checksum(event))
    )


def of_trackio(home: Path) -> Iterator[Row]:
    path = home / "tiny.db"
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(
            "create table metrics (id integer primary key autoincrement, run_id text, timestamp "
            "text, run_name text,"
            " step integer, metrics text)"
        )
        line = (
            "insert into metrics (run_id, timestamp, run_name, step, metrics) values ('a', ?, "
            "'tiny', ?, ?)"
        )
        at = "2026-11-21T12:00:00+00:00"
        database.executemany(
            line, ((at, step, json.dumps(logged_row(step))) for step in range(SIZE))
        )
    reader = trackio.connect(trackio.Options(path=str(path), name="tiny"), place(home))

    def plainly() -> None:
        with closing(sqlite3.connect(path)) as database:
            for (metrics,) in database.execute("select metrics from metrics order by id"):
                json.loads(metrics)

    yield compare_readers(
        "trackio", reader, "select the rows by `sqlite3`, parse them with `json`", plainly
    )


def of_levanter(home: Path) -> Iterator[Row]:
    path = home / "train.log"
    with path.open("w", encoding="utf-8") as file:
        for step in range(SIZE):
            row = {
                "tracker": "json_logger",
                "event": "log",
                "step": step,
                "metrics": logged_row(step),
            }
            file.write(
                f"INFO a line of another kind\nINFO levanter.json_logger {json.dumps(row)}\n"
            )
    reader = levanter_log.connect(levanter_log.Options(), place(home))

    def plainly() -> None:
        with path.open(encoding="utf-8") as file:
            for line in file:
                if "json_logger" in line:
                    json.loads(line[line.index("{") :])

    yield compare_readers("levanter_log", reader, "parse its lines with `json`", plainly)


def logged_row(step: int) -> dict[str, float]:
    return dict.fromkeys(NAMES, 1 / (step + 1))


def place(home: Path) -> Place:
    return Place("tiny", str(home), str(home), str(home))


def compare_readers(kind: str, reader: Tracker, alternative: str, act: Callable[[], object]) -> Row:
    costs = in_turns({"ours": lambda: drain_reader(reader), "theirs": act}, ROUNDS)
    what = (
        f"`{kind}`, {SIZE:,} rows of {len(NAMES)} metrics: {SIZE / costs['ours']:,.0f} rows a "
        "second"
    )
    return Row(what, costs["ours"], alternative, costs["theirs"])


def drain_reader(reader: Tracker) -> None:
    """All rows; fewer would mean nothing."""
    count, cursor = 0, ""
    while (batch := reader.read(cursor)).rows:
        count, cursor = count + len(batch.rows), batch.cursor
    assert count == SIZE, count
