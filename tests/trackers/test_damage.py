"""Whatever happens to a log's bytes: no row is invented, none is read twice, and reading in pieces changes nothing."""

import random
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from herorun.core.ports import Place, Tracker
from herorun.trackers import tensorboard, wandb_offline
from ports.tracker_suite import drain
from trackers.written import event, framed, history, tfrecord

COUNT = 300
WANDB = framed([history(step, {"loss": step / 2}) for step in range(COUNT)], 0)
EVENTS = b"".join(tfrecord(event(step, {"loss": step / 2})) for step in range(COUNT))


def wandb_log(folder: Path) -> Tracker:
    return wandb_offline.connect(wandb_offline.Options(path="log"), Place("tiny", "", str(folder), ""))


def event_file(folder: Path) -> Tracker:
    return tensorboard.connect(tensorboard.Options(path="log"), Place("tiny", "", str(folder), ""))


KINDS = pytest.mark.parametrize(("connect", "whole"), [(wandb_log, WANDB), (event_file, EVENTS)])
Connect = Callable[[Path], Tracker]


def in_pieces(
    tracker: Tracker, log: Path, data: bytes, ends: Sequence[int]
) -> tuple[list[tuple[int, float]], int]:
    """What comes of a log that is read each time it has grown."""
    told: list[tuple[int, float]] = []
    cursor, begin, problems = "", 0, 0
    log.write_bytes(b"")
    for end in (*ends, len(data)):
        with log.open("ab") as file:
            file.write(data[begin:end])
        begin = end
        rows, cursor, more = drain(tracker, cursor)
        told += [(row.step, row.values["loss"]) for row in rows]
        problems += len(more)
    return told, problems


@KINDS
@pytest.mark.parametrize("seed", range(8))
def test_however_it_grows_every_row_comes_once(
    tmp_path: Path, connect: Connect, whole: bytes, seed: int
) -> None:
    ends = sorted(random.Random(seed).sample(range(len(whole)), 12))
    told = in_pieces(connect(tmp_path), tmp_path / "log", whole, ends)
    assert told == ([(step, step / 2) for step in range(COUNT)], 0)


@KINDS
@pytest.mark.parametrize("seed", range(40))
def test_damaged_bytes_cost_rows_and_invent_none(
    tmp_path: Path, connect: Connect, whole: bytes, seed: int
) -> None:
    chance = random.Random(seed)
    data = bytearray(whole)
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(7, len(data))
        data[at] ^= 1 << chance.randrange(8)
    ends = sorted(chance.sample(range(len(data)), 3))
    told, problems = in_pieces(connect(tmp_path), tmp_path / "log", bytes(data), ends)
    assert told == sorted(set(told))
    assert set(told) <= {(step, step / 2) for step in range(COUNT)}
    assert problems or len(told) >= COUNT - 1  # the newest may only look torn


@KINDS
@pytest.mark.parametrize("seed", range(20))
def test_pieces_that_are_missing_or_foreign_invent_no_rows(
    tmp_path: Path, connect: Connect, whole: bytes, seed: int
) -> None:
    chance = random.Random(seed)
    begin, end = sorted(chance.sample(range(7, len(whole)), 2))
    foreign = chance.randbytes(chance.randint(0, 2000)) if seed % 2 else bytes(chance.randint(0, 2000))
    told, _ = in_pieces(connect(tmp_path), tmp_path / "log", whole[:begin] + foreign + whole[end:], ())
    assert told == sorted(set(told))
    assert set(told) <= {(step, step / 2) for step in range(COUNT)}
