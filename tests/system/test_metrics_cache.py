"""The metrics kept as columns: every row comes back, whatever was torn, filled, restarted or told
twice.
"""

import math
import os
import random
import stat
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

import pytest

from builders import NOON
from herorun.core.detectors.attempts import AttemptTracker
from herorun.core.detectors.names import Names
from herorun.core.detectors.pipeline import fold_rows, summarise
from herorun.core.detectors.state import MetricsState
from herorun.core.errors import CouldNotLook
from herorun.core.ports import Row
from herorun.system.metrics_cache import Writer, generations, read_fetched, writer
from herorun.system.metrics_cache.layout import files_in

NAMES = Names()


def row(step: int, loss: float = 2.0, attempt: str = "", **values: float) -> Row:
    return Row(
        step, {"loss": loss, **values}, NOON + timedelta(seconds=step, microseconds=1), attempt
    )


def append_batches(folder: Path, *batches: Sequence[Row], source: str = "a") -> None:
    """Each batch by a process of its own, as ticks of `--once` do; the cursor counts rows."""
    for batch in batches:
        writer = Writer(folder, source)
        writer.append(batch, str(int(writer.cursor or 0) + len(batch)), NAMES, NOON)


def points_of(folder: Path, metric: str = "loss", **bounds: int) -> list[tuple[int, int, float]]:
    contents = read_fetched(folder)
    assert contents is not None
    return [(point.attempt, point.step, point.value) for point in contents.points(metric, **bounds)]


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files that are full after 8 rows or 3 blocks."""
    monkeypatch.setattr(writer, "FULL_ROWS", 8)
    monkeypatch.setattr(writer, "FULL_BLOCKS", 3)


def test_nothing_was_fetched(tmp_path: Path) -> None:
    assert (
        read_fetched(tmp_path / "metrics") is None
        and Writer(tmp_path / "metrics", "a").cursor == ""
    )
    assert not (tmp_path / "metrics").exists()


@pytest.mark.parametrize("size", [1, 3, 8, 50])
def test_every_row_comes_back_however_they_came(tmp_path: Path, small: None, size: int) -> None:
    rows = [row(step, step / 7, **({"eval": step} if step % 5 == 0 else {})) for step in range(50)]
    append_batches(tmp_path, *(rows[at : at + size] for at in range(0, 50, size)))
    contents = read_fetched(tmp_path)
    assert contents is not None
    assert (contents.rows, contents.names, contents.older, contents.fetched_at) == (
        50,
        ("eval", "loss"),
        False,
        NOON,
    )
    assert points_of(tmp_path) == [(1, step, step / 7) for step in range(50)]
    assert points_of(tmp_path, "eval") == [(1, step, float(step)) for step in range(0, 50, 5)]
    assert points_of(tmp_path, "unheard of") == []
    assert [p.at for p in contents.points("loss")] == [each.at for each in rows]


def test_what_is_not_finite_stays_what_it_is_and_what_is_missing_is_missing(tmp_path: Path) -> None:
    append_batches(
        tmp_path, [row(0, math.nan), row(1, math.inf), Row(2, {"norm": 1.0}), row(3, -math.inf)]
    )
    steps = {step: value for _, step, value in points_of(tmp_path)}
    assert (
        math.isnan(steps[0]) and steps[1] == math.inf and steps[3] == -math.inf and 2 not in steps
    )
    contents = read_fetched(tmp_path)
    assert contents is not None and [p.at for p in contents.points("norm")] == [None]


def test_a_range_of_steps_reads_the_files_that_hold_it(tmp_path: Path, small: None) -> None:
    append_batches(tmp_path, *([row(step + i) for i in range(8)] for step in range(0, 80, 8)))
    # the first file is not looked into for later steps
    files_in(tmp_path / "0001")[0].write_bytes(b"")
    with pytest.raises(CouldNotLook, match=r"Delete .*0001"):
        read_fetched(tmp_path)
    append_batches(tmp_path / "b", *([row(step + i) for i in range(8)] for step in range(0, 80, 8)))
    assert [step for _, step, _ in points_of(tmp_path / "b", first=30, last=41)] == list(
        range(30, 42)
    )


def test_the_steps_that_attempts_share_are_kept_of_both(tmp_path: Path, small: None) -> None:
    first, again = (
        [row(step, 1.0) for step in range(30)],
        [row(step, 2.0) for step in range(10, 40)],
    )
    append_batches(tmp_path, first, again[:1], again[1:])
    assert points_of(tmp_path, first=10, last=12) == [
        (1, 10, 1.0),
        (1, 11, 1.0),
        (1, 12, 1.0),
        (2, 10, 2.0),
        (2, 11, 2.0),
        (2, 12, 2.0),
    ]
    assert points_of(tmp_path, attempt=2) == [(2, step, 2.0) for step in range(10, 40)]
    contents = read_fetched(tmp_path)
    assert contents is not None
    assert [(a.number, a.first_step, a.last_step) for a in contents.attempts] == [
        (1, 0, 29),
        (2, 10, 39),
    ]


def test_of_what_is_told_twice_the_last_counts(tmp_path: Path, small: None) -> None:
    rows = [row(0), row(1), Row(1, {"late": 4.0}), row(2), row(3, 3.0)]
    append_batches(
        tmp_path,
        rows,
        [Row(3, {"late": 5.0, "norm": 1.0}), Row(2, {"late": 6.0}), Row(3, {"late": 7.0})],
    )
    assert points_of(tmp_path) == [(1, 0, 2.0), (1, 1, 2.0), (1, 2, 2.0), (1, 3, 3.0)]
    assert points_of(tmp_path, "late") == [(1, 1, 4.0), (1, 2, 6.0), (1, 3, 7.0)]


def test_a_step_told_again_in_a_later_file_counts_there(tmp_path: Path, small: None) -> None:
    append_batches(
        tmp_path,
        [row(step) for step in range(8)],
        [Row(7, {"loss": 2.0, "n": 1.0})],
        [row(8, n=2.0)],
    )
    assert [step for _, step, _ in points_of(tmp_path)] == list(range(9))


def test_a_straggler_of_an_older_execution_belongs_to_it(tmp_path: Path) -> None:
    append_batches(
        tmp_path,
        [row(0, attempt="a"), row(1, attempt="a")],
        [row(1, attempt="b"), row(2, attempt="a")],
    )
    contents = read_fetched(tmp_path)
    assert contents is not None
    assert [(p.attempt, p.step) for p in contents.points("loss")] == [
        (1, 0),
        (1, 1),
        (1, 2),
        (2, 1),
    ]
    assert [(a.number, a.first_step, a.last_step) for a in contents.attempts] == [
        (1, 0, 2),
        (2, 1, 1),
    ]


@pytest.mark.parametrize("seed", range(40))
def test_attempts_are_counted_as_the_folds_count_them(seed: int) -> None:
    lots, rows, step = random.Random(seed), [], 0
    for number in range(300):
        odd = seed < 20 or number % 100 > 60  # others have long stretches in order
        moves = [1, 1, 1, 1, 1, 1, 0, -1, -2, -40 if lots.random() < 0.1 else 1]
        step = max(0, step + (lots.choice(moves) if odd else 1))
        rows.append(
            row(step, lots.choice([2.0, 2.0, 2.1]), f"x{number // 100}" if seed % 2 else "")
        )
    arrivals = AttemptTracker()
    numbers = [arrivals.attempt_of(each, NAMES) for each in rows]
    at_once, first = AttemptTracker(), lots.randrange(300)
    assert numbers == [
        number
        for part in (rows[:first], rows[first:])
        for number in at_once.attempts_of(part, NAMES)
    ]
    assert at_once == arrivals
    metrics = summarise(fold_rows(MetricsState(), rows, NAMES, seen_at=NOON), NAMES)
    assert metrics is not None and metrics.attempts == max(numbers) and numbers == sorted(numbers)


@pytest.mark.parametrize("cut", [1, 20, 200, 10_000])
def test_a_torn_end_is_dropped_and_fetched_again(tmp_path: Path, cut: int) -> None:
    append_batches(tmp_path, [row(0)], [row(1)], [row(2)])
    (path,) = files_in(tmp_path / "0001")
    size = path.stat().st_size
    os.truncate(path, max(size - cut, 0))
    count = len(points_of(tmp_path)) if cut < size else 0
    assert count < 3 and Writer(tmp_path, "a").cursor == (str(count) if count else "")
    append_batches(tmp_path, [row(step) for step in range(count, 3)])
    assert [step for _, step, _ in points_of(tmp_path)] == [0, 1, 2]


def test_a_block_that_was_changed_is_dropped_and_fetched_again(tmp_path: Path) -> None:
    append_batches(tmp_path, [row(0)], [row(1)])
    (path,) = files_in(tmp_path / "0001")
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    assert Writer(tmp_path, "a").cursor == "1"
    assert [step for _, step, _ in points_of(tmp_path)] == [0]


def test_a_crash_while_a_file_is_filled_loses_and_doubles_nothing(
    tmp_path: Path, small: None
) -> None:
    append_batches(tmp_path, [row(0)], [row(1)])
    (path,) = files_in(tmp_path / "0001")
    open_file = path.read_bytes()
    append_batches(tmp_path, [row(2)])
    assert not path.exists()
    path.write_bytes(open_file)  # as if it had not been deleted yet
    assert [step for _, step, _ in points_of(tmp_path)] == [0, 1, 2]
    append_batches(tmp_path, [row(3)])
    assert [step for _, step, _ in points_of(tmp_path)] == [0, 1, 2, 3]


def test_a_full_file_that_was_changed_says_so(tmp_path: Path, small: None) -> None:
    append_batches(tmp_path, [row(step) for step in range(8)])
    (path,) = files_in(tmp_path / "0001")
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    contents = read_fetched(tmp_path)
    assert contents is not None
    with pytest.raises(CouldNotLook, match="column loss"):
        list(contents.points("loss"))


def test_a_reader_is_not_disturbed_by_one_who_adds(tmp_path: Path, small: None) -> None:
    append_batches(tmp_path, [row(0)], [row(1)])
    contents = read_fetched(tmp_path)
    append_batches(tmp_path, [row(2)], [row(3)])
    assert contents is not None and [p.step for p in contents.points("loss")] == [0, 1]


def test_another_source_begins_again_and_the_older_stays_readable(tmp_path: Path) -> None:
    append_batches(tmp_path, [row(0, 1.0)], source="a")
    assert Writer(tmp_path, "b").cursor == ""
    for source in "bcd":
        append_batches(tmp_path, [row(0, ord(source))], source=source)
    assert [
        (generation.older, [p.value for p in generation.points("loss")])
        for generation in generations(tmp_path)
    ] == [
        (False, [ord("d")]),
        (True, [ord("c")]),
        (True, [ord("b")]),
    ]


def test_nobody_else_may_read_it(tmp_path: Path, small: None) -> None:
    append_batches(tmp_path / "metrics", [row(step) for step in range(8)], [row(9)])
    modes = {stat.S_IMODE(path.stat().st_mode) for path in files_in(tmp_path / "metrics" / "0001")}
    assert (
        modes == {0o600} and stat.S_IMODE((tmp_path / "metrics" / "0001").stat().st_mode) == 0o700
    )


def test_a_step_that_is_no_step_is_left_out(tmp_path: Path) -> None:
    append_batches(
        tmp_path, [row(0), Row(1 << 70, {"loss": 1.0}, datetime(2026, 1, 1, tzinfo=UTC))]
    )
    assert [step for _, step, _ in points_of(tmp_path)] == [0]


def test_the_rows_on_disk_stay_below_the_cap_and_what_is_not_finite_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The oldest are thinned first; the newest file keeps every row, and the cursor its place."""
    monkeypatch.setattr(writer, "FULL_ROWS", 256)
    dice, cap = random.Random(1), 24 << 10
    values = {step: dice.random() for step in range(2048)} | {77: math.nan, 600: math.inf}
    for begin in range(0, 2048, 256):
        cache = Writer(tmp_path, "a", cap)
        batch = [row(step, values[step], eval=step) for step in range(begin, begin + 256)]
        cache.append(batch, str(begin + 256), NAMES, NOON)
        assert sum(path.stat().st_size for path in files_in(tmp_path / "0001")) <= cap
    points = {step: value for _, step, value in points_of(tmp_path)}
    assert points.keys() >= {0, 77, 600, 2047, *range(1792, 2048)} and len(points) < 1536
    assert math.isnan(points[77]) and points[600] == math.inf
    assert all(points[step] == values[step] for step in points.keys() - {77})
    assert {
        step for _, step, value in points_of(tmp_path, "eval") if value == step
    } == points.keys()
    gaps = [after - step for step, after in pairwise(sorted(points))]
    assert max(gaps[:100]) <= 64  # the oldest are thin, and none of them is a hole
    assert Writer(tmp_path, "a").cursor == "2048"
