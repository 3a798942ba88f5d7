"""Whatever happens to a log's bytes: no row is invented, none is read twice, and reading in pieces
changes nothing.
"""

import random
import time
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

import pytest

from herorun.core.ports import Place, Tracker
from herorun.trackers import jsonl, levanter_log, tensorboard, wandb_offline
from ports.tracker_suite import drain
from trackers.written import event, framed_content, history, tfrecord

COUNT = 300


@cache
def wandb_bytes() -> bytes:
    """Made when first used: W&B takes a second to import, and each worker imports this module."""
    return framed_content([history(step, {"loss": step / 2}) for step in range(COUNT)], 0)


@cache
def event_bytes() -> bytes:
    return b"".join(tfrecord(event(step, {"loss": step / 2})) for step in range(COUNT))


def wandb_log(folder: Path) -> Tracker:
    return wandb_offline.connect(
        wandb_offline.Options(path="log"), Place("tiny", "", str(folder), "")
    )


def event_file(folder: Path) -> Tracker:
    return tensorboard.connect(tensorboard.Options(path="log"), Place("tiny", "", str(folder), ""))


KINDS = pytest.mark.parametrize(
    ("connect", "whole_log"), [(wandb_log, wandb_bytes), (event_file, event_bytes)]
)
Connect = Callable[[Path], Tracker]
WholeLog = Callable[[], bytes]


def in_pieces(
    tracker: Tracker, log: Path, data: bytes, ends: Sequence[int]
) -> tuple[list[tuple[int, float]], int]:
    """What comes of a log that is read each time it has grown."""
    points: list[tuple[int, float]] = []
    cursor, begin, problems = "", 0, 0
    log.write_bytes(b"")
    for end in (*ends, len(data)):
        with log.open("ab") as file:
            file.write(data[begin:end])
        begin = end
        rows, cursor, more = drain(tracker, cursor)
        points += [(row.step, row.values["loss"]) for row in rows]
        problems += len(more)
    return points, problems


@KINDS
@pytest.mark.parametrize("seed", range(8))
def test_however_it_grows_every_row_comes_once(
    tmp_path: Path, connect: Connect, whole_log: WholeLog, seed: int
) -> None:
    whole = whole_log()
    ends = sorted(random.Random(seed).sample(range(len(whole)), 12))
    points = in_pieces(connect(tmp_path), tmp_path / "log", whole, ends)
    assert points == ([(step, step / 2) for step in range(COUNT)], 0)


@KINDS
@pytest.mark.parametrize("seed", range(40))
def test_damaged_bytes_cost_rows_and_invent_none(
    tmp_path: Path, connect: Connect, whole_log: WholeLog, seed: int
) -> None:
    chance = random.Random(seed)
    data = bytearray(whole_log())
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(7, len(data))
        data[at] ^= 1 << chance.randrange(8)
    ends = sorted(chance.sample(range(len(data)), 3))
    points, problems = in_pieces(connect(tmp_path), tmp_path / "log", bytes(data), ends)
    assert points == sorted(set(points))
    assert set(points) <= {(step, step / 2) for step in range(COUNT)}
    assert problems or len(points) >= COUNT - 1  # the newest may only look torn


@KINDS
@pytest.mark.parametrize("seed", range(20))
def test_pieces_that_are_missing_or_foreign_invent_no_rows(
    tmp_path: Path, connect: Connect, whole_log: WholeLog, seed: int
) -> None:
    chance = random.Random(seed)
    whole = whole_log()
    begin, end = sorted(chance.sample(range(7, len(whole)), 2))
    foreign = (
        chance.randbytes(chance.randint(0, 2000)) if seed % 2 else bytes(chance.randint(0, 2000))
    )
    points, _ = in_pieces(
        connect(tmp_path), tmp_path / "log", whole[:begin] + foreign + whole[end:], ()
    )
    assert points == sorted(set(points))
    assert set(points) <= {(step, step / 2) for step in range(COUNT)}


def json_rows(folder: Path) -> Tracker:
    return jsonl.connect(jsonl.Options(path="log"), Place("tiny", "", str(folder), ""))


def printed_log(folder: Path) -> Tracker:
    return levanter_log.connect(
        levanter_log.Options(path="log"), Place("tiny", "", str(folder), "")
    )


LINES = b"".join(
    b'{"tracker": "json_logger", "event": "log", "step": %d, "metrics": {"loss": %f}}\n'
    % (step, step / 2)
    for step in range(COUNT)
)


@pytest.mark.parametrize(
    ("connect", "whole_log", "after", "first"),
    [
        (event_file, event_bytes, event_bytes(), 1),  # of which a step 0 cannot be told from none
        (json_rows, lambda: LINES, b"\n" + LINES, 0),
        (printed_log, lambda: LINES, b"\n" + LINES, 0),
        (wandb_log, wandb_bytes, b"", COUNT),
    ],
)
def test_a_hole_of_gigabytes_is_passed_over_at_once(
    tmp_path: Path, connect: Connect, whole_log: WholeLog, after: bytes, first: int
) -> None:
    """A sparse file costs its writer nothing; the rows on both sides of the hole count."""
    with (tmp_path / "log").open("wb") as log:
        log.write(whole_log())
        log.seek(8 << 30)
        log.write(after)
        log.truncate((8 << 30) + (64 << 20))
    before = time.process_time()
    rows, cursor, _ = drain(connect(tmp_path), "")
    again, _, _ = drain(connect(tmp_path), cursor)
    assert time.process_time() - before < 3.0
    assert [row.step for row in rows] == [*range(COUNT), *range(first, COUNT)]
    assert again == []
