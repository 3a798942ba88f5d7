"""TensorBoard's event files: the contract suite on events framed here, then the real writers'
recordings, and damage.
"""

import math
import os
import shutil
import struct
from pathlib import Path

import pytest

from herorun.core.errors import WrongUse
from herorun.core.ports import Place, Row
from herorun.trackers import _tail_reader, _tfrecord, tensorboard
from herorun.trackers._crc32c import compute_masked_checksum
from herorun.trackers._events import Event, event_of
from herorun.trackers.tensorboard import TensorBoard
from ports.tracker_suite import LoggedRow, TrackerBench, TrackerSuite, drain
from trackers.written import delimited_field, event, tensor_event, tfrecord, varint
from wording import mentions

RECORDINGS = Path(__file__).parents[1] / "recordings" / "tensorboard"


class Bench:
    def __init__(self, folder: Path) -> None:
        self.place = Place("tiny", str(folder / "state"), str(folder), str(folder))
        self.file = folder / "tensorboard" / "events.out.tfevents.1000000001.host"

    def connect(self, path: str = "tensorboard") -> TensorBoard:
        return tensorboard.connect(tensorboard.Options(path=path), self.place)

    def write(self, *contents: bytes) -> None:
        self.raw(b"".join(tfrecord(content) for content in contents))

    def raw(self, data: bytes) -> None:
        self.file.parent.mkdir(parents=True, exist_ok=True)
        with self.file.open("ab") as file:
            file.write(data)

    def log(self, *rows: LoggedRow) -> None:
        """An event for each value, as most writers do."""
        self.write(
            *(event(step, {tag: items}) for step, values in rows for tag, items in values.items())
        )

    def replace(self, *rows: LoggedRow) -> None:
        self.file.unlink()
        self.log(*rows)

    def spoil(self, text: str) -> None:
        spoilt = bytearray(tfrecord(text.encode()))
        spoilt[-1] ^= 0xFF
        self.raw(bytes(spoilt))

    def cut_off(self) -> None:
        self.file.unlink()
        self.file.symlink_to(self.file.name)  # a loop: there, and not to be opened


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


class TestTensorBoard(TrackerSuite):
    @pytest.fixture
    def bench(self, tmp_path: Path) -> TrackerBench:
        return Bench(tmp_path / "with space" / "ünï\nline")


# --- the real writers ----------------------------------------------------------------------------


def recorded_rows(name: str) -> list[Row]:
    rows, _, problems = drain(TensorBoard(RECORDINGS / name))
    assert problems == []
    return rows


def test_floats_of_two_processes_are_read_and_what_else_is_in_their_files_is_not() -> None:
    rows = recorded_rows("tensorboardx")
    assert [row.step for row in rows] == [0, 1, 2, 3, 4, 3, 4, 5, 6, 7]
    assert [row.attempt[-15:] for row in rows] == ["1000000001.host"] * 5 + ["1000000002.host"] * 5
    assert [row.values["train/loss"] for row in rows[:3]] == [4.0, 2.0, pytest.approx(4 / 3)]
    assert math.isnan(rows[4].values["grad_norm"])
    assert {name for row in rows for name in row.values} == {"train/loss", "grad_norm"}
    assert all(row.at is not None for row in rows)


def test_tensors_are_read_as_floats_are() -> None:
    steps = [(row.step, row.values["train/loss"]) for row in recorded_rows("tensors")]
    assert steps == [(step, pytest.approx(4 / (step + 1))) for step in range(5)]


def test_a_recording_that_grows_piece_by_piece_gives_every_value_once(bench: Bench) -> None:
    data = (RECORDINGS / "tensorboardx" / "events.out.tfevents.1000000002.host").read_bytes()
    whole = [
        (row.step, tag, items)
        for row in recorded_rows("tensorboardx")[5:]
        for tag, items in row.values.items()
    ]
    items: list[tuple[int, str, float]] = []
    cursor = ""
    for begin in range(0, len(data), 13):
        bench.raw(data[begin : begin + 13])
        rows, cursor, problems = drain(bench.connect(), cursor)
        items += [(row.step, tag, number) for row in rows for tag, number in row.values.items()]
        assert problems == []
    assert repr(items) == repr(whole)  # nan is not itself


# --- events --------------------------------------------------------------------------------------


def test_events_of_one_step_are_one_row_until_a_tag_comes_again(bench: Bench) -> None:
    bench.write(
        event(1, {"a": 1.0}),
        event(1, {"b": 2.0}),
        event(1, {"a": 3.0}),
        event(2, {"a": 4.0, "b": 5.0}),
    )
    rows = drain(bench.connect())[0]
    assert [(row.step, row.values) for row in rows] == [
        (1, {"a": 1.0, "b": 2.0}),
        (1, {"a": 3.0}),
        (2, {"a": 4.0, "b": 5.0}),
    ]


def test_what_is_logged_for_no_step_does_not_begin_an_attempt_also_after_a_cursor(
    bench: Bench,
) -> None:
    bench.log((0, {"loss": 1.0}), (1, {"loss": 1.0}))
    rows, cursor, _ = drain(bench.connect())
    assert [row.step for row in rows] == [0, 1]
    bench.log((0, {"parameters": 1e6}), (2, {"loss": 1.0}))
    assert [row.step for row in drain(bench.connect(), cursor)[0]] == [2]


def test_a_summary_at_the_beginning_of_a_resumed_process_is_not_step_zero(bench: Bench) -> None:
    bench.log((0, {"loss": 1.0}), (5, {"loss": 1.0}))
    _, cursor, _ = drain(bench.connect())
    bench.file = bench.file.with_name("events.out.tfevents.1000000002.host")
    bench.log((0, {"parameters": 1e6}))
    rows, cursor, _ = drain(bench.connect(), cursor)
    assert rows == []
    bench.log((6, {"loss": 2.0}))
    rows, cursor, _ = drain(bench.connect(), cursor)
    assert [(row.step, row.values) for row in rows] == [(6, {"loss": 2.0})]


def test_a_resumed_process_that_begins_from_scratch_is_read_from_step_zero(bench: Bench) -> None:
    bench.log((0, {"loss": 1.0}), (5, {"loss": 1.0}))
    _, cursor, _ = drain(bench.connect())
    bench.file = bench.file.with_name("events.out.tfevents.1000000002.host")
    bench.log((0, {"parameters": 1e6, "loss": 1.0}), (1, {"loss": 2.0}))
    assert [row.step for row in drain(bench.connect(), cursor)[0]] == [0, 1]


def shaped_tensor(dtype: int, *data: bytes) -> bytes:
    return b"\x08" + bytes([dtype]) + b"".join(data)


@pytest.mark.parametrize(
    ("tensor", "number"),
    [
        (shaped_tensor(1, b"\x12\x00", delimited_field(0x22, struct.pack("<f", 0.5))), 0.5),
        (shaped_tensor(2, delimited_field(0x22, struct.pack("<d", 0.1))), 0.1),
        (shaped_tensor(9, delimited_field(0x22, struct.pack("<q", -7))), -7.0),
        (shaped_tensor(19, delimited_field(0x22, struct.pack("<e", 1.5))), 1.5),
        (shaped_tensor(14, delimited_field(0x22, struct.pack("<f", 1.5)[2:])), 1.5),
        (shaped_tensor(1, delimited_field(0x2A, struct.pack("<f", 0.5))), 0.5),
        (shaped_tensor(1, b"\x2d", struct.pack("<f", 0.5)), 0.5),
        (shaped_tensor(2, delimited_field(0x32, struct.pack("<d", math.inf))), math.inf),
        (shaped_tensor(3, delimited_field(0x3A, varint((1 << 64) - 3))), -3.0),
        (shaped_tensor(9, b"\x50\x05"), 5.0),
        (shaped_tensor(19, delimited_field(0x6A, varint(0x3E00))), 1.5),
        (shaped_tensor(14, delimited_field(0x6A, varint(0x3FC0))), 1.5),
        (shaped_tensor(23, b"\x88\x01" + varint(1 << 63)), float(1 << 63)),
        (
            shaped_tensor(
                1,
                delimited_field(0x12, b"\x12\x02\x08\x01"),
                delimited_field(0x2A, struct.pack("<f", 1)),
            ),
            None,
        ),  # a vector
        (shaped_tensor(7, delimited_field(0x42, b"text")), None),
        (shaped_tensor(1, delimited_field(0x2A, struct.pack("<ff", 1, 2))), None),
        (shaped_tensor(8, delimited_field(0x22, b"\0" * 8)), None),  # a complex number
    ],
)
def test_a_tensor_is_a_number_where_it_has_no_dimensions(
    tensor: bytes, number: float | None
) -> None:
    values = dict(event_of(tensor_event(3, "x", tensor)).scalars)
    assert values == ({} if number is None else {"x": number})


@pytest.mark.parametrize(
    "tag", ["", "loss", "\x15abcd", "x" * 117, "x" * 118, "x" * 200, "\n\x15\x10"]
)
def test_an_event_of_the_usual_form_is_read_as_by_its_fields(tag: str) -> None:
    for step in (0, 1, 127, 128, 1 << 40, -1):
        usual = event(step, {tag: 0.5})
        assert (
            event_of(usual)
            == event_of(usual + b"\xd0\x3e\x01")
            == Event(1.7e9, step or None, ((tag, 0.5),))
        )


def test_an_event_whose_sizes_do_not_fit_is_malformed(bench: Bench) -> None:
    event_bytes = event(1, {"loss": 1.0})
    for at in range(len(event_bytes)):
        if event_bytes[at - 1 : at] in (b"\x2a", b"\x0a"):
            bench.write(event_bytes[:at] + bytes([event_bytes[at] + 1]) + event_bytes[at + 1 :])
    rows, _, problems = drain(bench.connect())
    assert (rows, len(problems)) == ([], 3)


def test_a_negative_step_and_unknown_fields_are_read(bench: Bench) -> None:
    bench.write(
        event(-1, {"loss": 1.0}) + b"\xca\x3e\x02hi\xd0\x3e\x01\xe5\x3e1234\xe1\x3e12345678"
    )
    (row,), _, problems = drain(bench.connect())
    assert (row.step, row.values, problems) == (-1, {"loss": 1.0}, [])


# --- damage --------------------------------------------------------------------------------------


def test_every_torn_tail_waits_for_its_end(bench: Bench) -> None:
    whole = b"".join(tfrecord(event(step, {"loss": 1.0})) for step in (1, 2))
    for cut in range(len(whole)):
        bench.file.unlink(missing_ok=True)
        bench.raw(whole[:cut])
        rows, cursor, problems = drain(bench.connect())
        bench.raw(whole[cut:])
        again = drain(bench.connect(), cursor)[0]
        assert [row.step for row in rows + again] == [1, 2], f"cut before byte {cut}"
        assert problems == []


def test_a_damaged_size_costs_no_more_than_its_event(bench: Bench) -> None:
    for damaged_byte in (0, 3, 7, 9):
        bench.file.unlink(missing_ok=True)
        bench.log((1, {"loss": 1.0}), (2, {"loss": 1.0}), (3, {"loss": 1.0}))
        data = bytearray(bench.file.read_bytes())
        data[len(data) // 3 + damaged_byte] ^= 0x81
        bench.file.write_bytes(data)
        rows, cursor, problems = drain(bench.connect())
        assert ([row.step for row in rows], len(problems)) == ([1, 3], 1), damaged_byte
        assert drain(bench.connect(), cursor)[2] == []


def test_zeros_that_a_crashed_host_left_are_no_events(bench: Bench) -> None:
    bench.log((1, {"loss": 1.0}))
    bench.raw(bytes(5000))
    rows, _, problems = drain(bench.connect())
    assert ([row.step for row in rows], problems) == ([1], [])


def test_an_event_larger_than_what_is_looked_at_is_read(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_tfrecord, "_SLAB", 64)
    bench.log((1, {"loss": 1.0}))
    bench.write(event(2, {f"m{number}": 1.0 for number in range(500)}))
    bench.log((3, {"loss": 1.0}))
    rows, _, problems = drain(bench.connect())
    assert ([(row.step, len(row.values)) for row in rows], problems) == (
        [(1, 1), (2, 500), (3, 1)],
        [],
    )


def test_what_is_no_event_is_a_problem(bench: Bench) -> None:
    bench.write(b"\x2a\x7f", event(1, {"loss": 1.0}))
    rows, _, problems = drain(bench.connect())
    assert [row.step for row in rows] == [1]
    (problem,) = problems
    assert mentions(problem, "events.out.tfevents.1000000001.host", "byte 18")


def test_the_checksum_is_the_one_of_the_format() -> None:
    """Of the nine digits, as every catalogue of checksums has it, turned and moved."""
    crc = 0xE3069283
    assert (
        compute_masked_checksum(b"123456789") == ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF
    )


# --- several files -------------------------------------------------------------------------------


def test_files_are_read_in_the_order_of_their_times_and_a_new_one_continues(bench: Bench) -> None:
    bench.log((1, {"loss": 1.0}))
    _, cursor, _ = drain(bench.connect())
    second = Bench(Path(bench.place.output_root))
    second.file = bench.file.with_name("events.out.tfevents.1000000002.host")
    second.log((1, {"loss": 2.0}))
    bench.log((2, {"loss": 1.0}))
    batch = bench.connect().read(cursor)
    assert not batch.restarted
    assert [(row.step, row.attempt[-6]) for row in batch.rows] == [(2, "1"), (1, "2")]


def test_a_folder_inside_and_other_files_are_not_the_runs(bench: Bench) -> None:
    bench.log((1, {"loss": 1.0}))
    (bench.file.parent / "notes.txt").write_text("words")
    shutil.copytree(RECORDINGS / "tensors", bench.file.parent / "eval")
    assert [row.step for row in drain(bench.connect())[0]] == [1]


def test_an_empty_folder_has_no_source_yet(bench: Bench) -> None:
    bench.file.parent.mkdir()
    with pytest.raises(FileNotFoundError):
        bench.connect().read("")


def test_a_shortened_file_is_read_from_its_start(bench: Bench) -> None:
    bench.log(*((step, {"loss": 1.0}) for step in range(9)))
    _, cursor, _ = drain(bench.connect())
    os.truncate(bench.file, len(tfrecord(event(0, {"loss": 1.0}))))
    batch = bench.connect().read(cursor)
    assert ([row.step for row in batch.rows], batch.restarted) == ([0], True)


@pytest.mark.parametrize(("limit", "most"), [("MAX_ROWS", 7), ("MAX_BYTES", 500)])
def test_one_read_is_bounded_and_no_row_is_torn(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, limit: str, most: int
) -> None:
    monkeypatch.setattr(_tail_reader, limit, most)
    bench.log(*((step, {"loss": 1.0, "grad": 2.0}) for step in range(30)))
    assert len(bench.connect().read("").rows) < 30
    rows = drain(bench.connect())[0]
    assert [(row.step, len(row.values)) for row in rows] == [(step, 2) for step in range(30)]


def test_a_remote_path_is_refused_with_what_to_do(bench: Bench) -> None:
    with pytest.raises(WrongUse, match="absolute `path`"):
        bench.connect("gs://bucket/logs")
