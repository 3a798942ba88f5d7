"""The jsonl tracker: the contract suite on both kinds of lines, then what is special about
files.
"""

import json
import math
import os
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest

from herorun.core.errors import WrongUse
from herorun.core.ports import Place, Row, Tracker
from herorun.trackers import _json_rows, _tail_reader, jsonl
from herorun.trackers._json_rows import UnusableLine, parse_row
from ports.tracker_suite import LoggedRow, TrackerBench, TrackerSuite, drain
from screens.notices import Notice


def plain(step: int, values: Mapping[str, float]) -> str:
    return json.dumps({"step": step, **values})


def levanter(step: int, values: Mapping[str, float]) -> str:
    record = {"tracker": "json_logger", "event": "log", "step": step, "metrics": dict(values)}
    return json.dumps(record)


def in_a_log(step: int, values: Mapping[str, float]) -> str:
    return f"2026-11-21 00:02:11 - levanter.json_logger - INFO - {levanter(step, values)}"


class Bench:
    def __init__(self, folder: Path, line: object = plain) -> None:
        self.place = Place("tiny", str(folder / "state"), str(folder), str(folder))
        self.path = folder / "metrics.jsonl"
        self._line = line

    def connect(self, **options: str) -> Tracker:
        return jsonl.connect(jsonl.Options(**options), self.place)

    def write(self, data: bytes) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("ab") as file:
            file.write(data)

    def log(self, *rows: LoggedRow) -> None:
        # the suite types rows loosely
        self.write("".join(f"{self._line(*row)}\n" for row in rows).encode())

    def replace(self, *rows: LoggedRow) -> None:
        self.path.unlink()
        self.log(*rows)

    def spoil(self, text: str) -> None:
        self.write(f"Traceback: {text}\n".encode())

    def cut_off(self) -> None:
        self.path.unlink()
        self.path.symlink_to(self.path.name)  # a loop: there, and not to be opened


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


class TestJsonl(TrackerSuite):
    @pytest.fixture(params=[plain, levanter, in_a_log])
    def bench(self, request: pytest.FixtureRequest, tmp_path: Path) -> TrackerBench:
        return Bench(tmp_path / "with space" / "ünï\nline", request.param)


# --- the file ------------------------------------------------------------------------------------


def test_a_torn_last_line_waits_for_its_end(bench: Bench) -> None:
    bench.write(b'{"step": 0, "loss": 1}\n{"step": 1, "lo')
    rows, cursor, problems = drain(bench.connect())
    assert [row.step for row in rows] == [0]
    assert problems == []
    bench.write(b'ss": 2}\n')
    assert drain(bench.connect(), cursor)[0] == [Row(1, {"loss": 2.0})]


def test_a_read_that_leaves_nothing_is_at_the_end(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_tail_reader, "MAX_ROWS", 5)
    bench.log(*((step, {"loss": 1.0}) for step in range(7)))
    tracker, cursor, batches = bench.connect(), "", []
    for _ in range(2):
        batches.append(tracker.read(cursor))
        cursor = batches[-1].cursor
    assert [(len(batch.rows), batch.at_end) for batch in batches] == [(5, False), (2, True)]


def test_a_shortened_file_is_read_from_its_start(bench: Bench) -> None:
    bench.log(*((step, {"loss": 1.0}) for step in range(9)))
    _, cursor, _ = drain(bench.connect())
    bench.path.write_text(plain(0, {"loss": 1.0}) + "\n")
    batch = bench.connect().read(cursor)
    assert batch.restarted
    assert [row.step for row in batch.rows] == [0]


def test_a_file_rewritten_in_place_beyond_the_cursor_is_noticed(bench: Bench) -> None:
    header = (
        json.dumps({"tracker": "json_logger", "event": "hparams", "hparams": "x" * 5000}) + "\n"
    )
    bench.write(header.encode())
    bench.log(*((step, {"loss": 1.0}) for step in range(100)))
    _, cursor, _ = drain(bench.connect())
    # the same inode, the same first bytes, and longer than before
    with bench.path.open("r+") as file:
        file.write(header + "".join(plain(step, {"loss": 2.0}) + "\n" for step in range(200)))
    batch = bench.connect().read(cursor)
    assert batch.restarted
    assert len(batch.rows) == 200


def test_a_copy_that_is_synced_again_is_the_same_source(bench: Bench) -> None:
    bench.log((0, {"loss": 1.0}))
    _, cursor, _ = drain(bench.connect())
    aside = bench.path.with_name("aside")
    aside.write_bytes(bench.path.read_bytes() + plain(1, {"loss": 1.0}).encode() + b"\n")
    os.replace(aside, bench.path)
    batch = bench.connect().read(cursor)
    assert not batch.restarted
    assert [row.step for row in batch.rows] == [1]


def test_a_cursor_of_an_older_herorun_is_a_restart(bench: Bench) -> None:
    bench.log((0, {"loss": 1.0}))
    batch = bench.connect().read("1:27:1:0123456789abcdef")
    assert batch.restarted
    assert [row.step for row in batch.rows] == [0]


def test_an_empty_file_that_grows_was_not_replaced(bench: Bench) -> None:
    bench.write(b"")
    batch = bench.connect().read("")
    assert batch.rows == ()
    bench.log((0, {"loss": 1.0}))
    later = bench.connect().read(batch.cursor)
    assert [row.step for row in later.rows] == [0]
    assert not later.restarted


def test_one_read_is_bounded_by_rows_and_continues(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_tail_reader, "MAX_ROWS", 3)
    bench.log(*((step, {"loss": 1.0}) for step in range(8)))
    first = bench.connect().read("")
    assert [row.step for row in first.rows] == [0, 1, 2]
    assert [row.step for row in drain(bench.connect(), first.cursor)[0]] == [3, 4, 5, 6, 7]


def test_one_read_is_bounded_by_bytes_and_never_ends_on_nothing(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_tail_reader, "MAX_BYTES", 100)
    bench.write(b'{"tracker": "json_logger", "event": "hparams"}\n' * 50)
    bench.write(b"garbage that fills more than a read\n" * 50)
    bench.log(*((step, {"loss": 1.0}) for step in range(20)))
    assert [row.step for row in bench.connect().read("").rows] == [0]
    assert [row.step for row in drain(bench.connect())[0]] == list(range(20))


def test_a_line_too_long_to_hold_is_passed_over(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jsonl, "MAX_LINE", 64)
    bench.write(b'{"step": 0, "x": "' + b"x" * 500 + b'"}\n')
    bench.log((1, {"loss": 1.0}))
    bench.write(b'{"step": 2, "x": "' + b"x" * 500)
    rows, _, problems = drain(bench.connect())
    assert [row.step for row in rows] == [1]
    assert len(problems) == 1
    assert problems[0].startswith("metrics.jsonl:1: longer than")


def test_problems_are_named_by_line_also_after_a_cursor_and_the_newest_are_kept(
    bench: Bench,
) -> None:
    bench.log((0, {"loss": 1.0}))
    _, cursor, _ = drain(bench.connect())
    bench.write(b"nonsense\n" * 30)
    assert bench.connect().read(cursor).problems == tuple(
        f"metrics.jsonl:{line}: not JSON" for line in range(12, 32)
    )


def test_a_pipe_is_not_waited_for(bench: Bench) -> None:
    os.mkfifo(bench.path)
    with pytest.raises(OSError, match=r"regular.*file"):
        bench.connect().read("")


@pytest.mark.parametrize("device", ["/proc/kmsg", "/dev/zero"])
def test_a_device_or_a_file_of_the_kernel_is_not_read(bench: Bench, device: str) -> None:
    """Neither ends: reading the one waits for messages, and the other fills the memory."""
    if not os.path.exists(device):
        pytest.skip(f"there is no {device} here")
    bench.path.symlink_to(device)
    with pytest.raises(OSError, match=r"regular.*file|kernel|not permitted"):
        bench.connect().read("")


def test_a_folder_is_not_a_file(bench: Bench) -> None:
    bench.path.mkdir()
    with pytest.raises(IsADirectoryError):
        bench.connect().read("")


def test_the_file_says_when_it_changed(bench: Bench) -> None:
    bench.log((0, {"loss": 1.0}))
    os.utime(bench.path, (1_700_000_000, 1_700_000_000))
    assert bench.connect().read("").changed_at == datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)


# --- where it is ----------------------------------------------------------------------------------


def test_the_path_is_relative_to_the_output_root_or_absolute(bench: Bench, tmp_path: Path) -> None:
    bench.path = tmp_path / "logs" / "m.jsonl"
    bench.log((7, {"loss": 1.0}))
    for path in ("logs/m.jsonl", str(bench.path)):
        assert [row.step for row in drain(bench.connect(path=path))[0]] == [7]


def test_a_url_is_no_place_for_this_tracker(bench: Bench) -> None:
    bench.place = Place("tiny", "state", "gs://key:hunter2hunter2@bucket/tiny", ".")
    with pytest.raises(WrongUse, match="absolute `path`") as error:
        bench.connect()
    assert "hunter2" not in str(error.value)
    assert bench.connect(path="/data/metrics.jsonl")


# --- one line -------------------------------------------------------------------------------------


def row(text: str, *keys: str) -> Row | None:
    return parse_row(text.encode(), keys) if keys else parse_row(text.encode())


@pytest.mark.parametrize("event", ["hparams", "summary", "artifact", "finish"])
def test_other_events_of_the_json_logger_are_no_rows(event: str) -> None:
    assert (
        row(json.dumps({"tracker": "json_logger", "event": event, "metrics": {"loss": 1}})) is None
    )


@pytest.mark.parametrize("text", ["", "  \r", "\0\0\0"])
def test_blank_lines_are_no_rows(text: str) -> None:
    assert row(text) is None


@pytest.mark.parametrize("key", ["step", "_step", "global_step", "train/global_step"])
def test_the_step_has_several_names(key: str) -> None:
    assert row(json.dumps({key: 12, "loss": 3.1})) == Row(12, {"loss": 3.1})


def test_the_step_key_of_the_contract_is_the_only_one() -> None:
    assert row('{"step": 1, "update": 12}', "update") == Row(12, {"step": 1.0})
    with pytest.raises(UnusableLine, match="no step"):
        row('{"step": 1}', "update")


def test_a_logger_line_without_a_step_takes_it_from_its_metrics() -> None:
    text = (
        '{"tracker": "json_logger", "event": "log", "step": null, "metrics": {"global_step": 4, '
        '"loss": 1}}'
    )
    assert row(text) == Row(4, {"loss": 1.0})


def test_the_step_of_a_logger_line_wins_over_a_metric_of_that_name() -> None:
    text = (
        '{"tracker": "json_logger", "event": "log", "step": 4, "metrics": {"step": 99, "loss": 1}}'
    )
    assert row(text) == Row(4, {"loss": 1.0})


@pytest.mark.parametrize("step", ['"twelve"', '"1.5"', "true", "NaN", "1.5", "null", "[1]"])
def test_what_is_no_whole_number_is_no_step(step: str) -> None:
    with pytest.raises(UnusableLine, match="no step"):
        row(f'{{"step": {step}, "loss": 1}}')


def test_a_whole_float_is_a_step() -> None:
    assert row('{"step": 12.0}') == Row(12, {})
    assert row('{"step": "12"}') == Row(12, {})


@pytest.mark.parametrize(
    ("value", "number"),
    [
        ("NaN", math.nan),
        ('"NaN"', math.nan),
        ('"nan"', math.nan),
        ("Infinity", math.inf),
        ('"Infinity"', math.inf),
        ('"inf"', math.inf),
        ("-Infinity", -math.inf),
        ('"-Infinity"', -math.inf),
        ("1e999", math.inf),
        ("-" + "9" * 400, -math.inf),
        ("7", 7.0),
        ('"2.3125"', 2.3125),
        ('" -5E-05 "', -5e-05),
    ],
)
def test_numbers_finite_or_not(value: str, number: float) -> None:
    one_row = row(f'{{"step": 1, "loss": {value}}}')
    assert one_row
    assert one_row.values["loss"] == pytest.approx(number, nan_ok=True)


@pytest.mark.parametrize(
    "value",
    [
        "null",
        "true",
        '"text"',
        '"1.5 s"',
        '"1_000"',
        '"0x1f"',
        '"2026-11-20"',
        '""',
        "[1, 2]",
        "{}",
    ],
)
def test_what_is_no_number_is_no_value(value: str) -> None:
    assert row(f'{{"step": 1, "loss": {value}}}') == Row(1, {})


def test_nested_names_are_joined_by_slashes() -> None:
    assert row('{"step": 1, "train/loss": 1, "grad": {"norm": {"total": 2}, "n": null}}') == Row(
        1, {"train/loss": 1.0, "grad/norm/total": 2.0}
    )


@pytest.mark.parametrize(
    ("stamp", "at"),
    [
        ("1700000000", datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)),
        ("1700000000000", datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)),
        ('"2023-11-15T00:13:20+02:00"', datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)),
        ('"2023-11-14T22:13:20Z"', datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)),
        ('"2023-11-14T22:13:20"', None),  # naive
        ('"yesterday"', None),
        ("12.5", None),  # seconds since the start of the run
        ("1e300", None),
        ("NaN", None),
        ("true", None),
        ("null", None),
    ],
)
@pytest.mark.parametrize("key", ["timestamp", "_timestamp"])
def test_when_it_was_logged(key: str, stamp: str, at: datetime | None) -> None:
    assert row(f'{{"step": 1, "{key}": {stamp}}}') == Row(1, {}, at)


@pytest.mark.parametrize("stamp", ["1700000000", "1700000000.0", '"2023-11-14T22:13:20Z"'])
def test_a_time_is_when_it_was_logged_if_nothing_else_is(stamp: str) -> None:
    at = datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)
    assert row(f'{{"step": 1, "loss": 2.5, "time": {stamp}}}') == Row(1, {"loss": 2.5}, at)
    both = row(f'{{"step": 1, "time": 1.8e9, "timestamp": {stamp}}}')
    assert both == Row(1, {"time": 1.8e9}, at)


def test_a_time_may_be_a_duration() -> None:
    """Trainers call the seconds of a step so, and those since their start."""
    assert row('{"step": 1, "loss": 2.5, "time": 0.53}') == Row(1, {"loss": 2.5, "time": 0.53})
    assert row('{"step": 1, "time": "12"}') == Row(1, {"time": 12.0})


@pytest.mark.parametrize(
    "line",
    [
        b"nonsense",
        b'{"step": 1',
        b'{"step": 1, "lo{"step": 2}',
        b'{"step": %s}' % (b"9" * 5000),
        b"[1, 2]",
        b'INFO {"step": 1}',
        b'{"step": 1, "\xff": 2}',
        b"{}",
        b'{"step": 1, "a": ' + b'{"a": ' * 20_000 + b"1" + b"}" * 20_001,
    ],
)
def test_what_cannot_be_used_is_named(line: bytes, notice: Notice) -> None:
    with pytest.raises(UnusableLine) as error:
        parse_row(line)
    assert str(error.value) == notice


def test_a_step_below_zero_is_no_step() -> None:
    with pytest.raises(UnusableLine, match=r"negative.*step"):
        parse_row(b'{"step": -5, "loss": 2.0}')


@pytest.mark.parametrize("step", [str(2**53 + 1), "9" * 400, '"' + "9" * 20 + '"'])
def test_a_step_that_no_training_reaches_gives_no_row(step: str) -> None:
    with pytest.raises(UnusableLine, match=r"step.*beyond"):
        parse_row(b'{"step": %s, "train/loss": 2.0}' % step.encode())


def test_a_row_costs_few_calls() -> None:
    """A long run has millions of rows, and each call costs as much as parsing one of its values."""
    row = {"step": 3, **{f"metric/{number}": number / 7 for number in range(50)}}
    line, calls = json.dumps(row).encode(), []
    parse_row(line)
    sys.setprofile(lambda _frame, event, _arg: calls.append(event) if event == "call" else None)
    try:
        parsed_row = parse_row(line)
    finally:
        sys.setprofile(None)
    assert parsed_row is not None and len(parsed_row.values) == 50
    assert len(calls) <= 12


BARE = (
    {"step": 3, "loss": 2.5},
    {"loss": 2.5, "_step": 3, "timestamp": 1.7e9},
    {"step": 3, "loss": float("nan"), "_timestamp": 17.0},
    {"step": 3, "loss": 2.5, "time": 1.7e9},
    {"step": 3, "loss": 2.5, "time": 0.5, "timestamp": 1.7e9},
    {"step": 3, "global_step": 4.0, "loss": 2.5},
    {"step": 3.0, "loss": 2.5},
    {"step": 3, "loss": 2},
    {"step": 3, "loss": None, "name": "a"},
    {"step": True, "loss": 2.5},
    {"step": None, "_step": 3, "loss": 2.5},
    {"step": -1, "loss": 2.5},
    {"step": 2**53 + 1, "loss": 2.5},
    {"step": 3, "eval": {"loss": 2.5}},
    {"loss": 2.5},
    {"step": 3, "timestamp": "2026-01-01T00:00:00+00:00"},
    {},
)


@pytest.mark.parametrize("record", BARE, ids=str)
@pytest.mark.parametrize("keys", [_json_rows.STEP_KEYS, ("global_step",), ("loss",)])
def test_a_row_of_bare_numbers_is_read_as_any_other(
    record: dict[str, object], keys: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    def read() -> str:
        try:
            return repr(parse_row(json.dumps(record).encode(), keys))
        except UnusableLine as why:
            return str(why)

    quick = read()
    monkeypatch.setattr(_json_rows, "_plain_row", lambda record, keys: None)
    assert read() == quick


def test_a_row_of_bare_numbers_takes_the_short_way() -> None:
    assert _json_rows._plain_row(dict(BARE[0]), _json_rows.STEP_KEYS) == Row(3, {"loss": 2.5})
