"""Lines as columns: the very rows, and the very complaints, that one line after the other gives."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime

import pytest
from hypothesis import given, strategies as st
from pydantic_core import from_json

from herorun.core.ports import Row
from herorun.core.ports.columnar import ColumnarRows, chain_rows
from herorun.trackers import _json_columns as json_columns
from herorun.trackers._json_columns import MIN_LINES, parse_rows
from herorun.trackers._json_rows import STEP_KEYS, UnusableLine, parse_row

MANY = 2 * MIN_LINES


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """So few lines are otherwise read one by one."""
    monkeypatch.setattr(json_columns, "FEW_BYTES", 0)


ALIKE = [b'{"step": %d, "loss": 2.5, "tokens": %d}' % (step, 7 * step) for step in range(MANY)]


def at_once(lines: Sequence[bytes], keys: tuple[str, ...] = STEP_KEYS) -> tuple[str, list[str]]:
    problems: list[str] = []
    rows = chain_rows(parse_rows(lines, lambda n, why: problems.append(f"{n}: {why}"), keys))
    return repr(list(rows)), problems  # as text, in which a NaN is equal to itself


def one_by_one(lines: Sequence[bytes], keys: tuple[str, ...] = STEP_KEYS) -> tuple[str, list[str]]:
    rows, problems = [], []
    for number, line in enumerate(lines):
        try:
            if row := parse_row(line, keys):
                rows.append(row)
        except UnusableLine as why:
            problems.append(f"{number}: {why}")
    return repr(rows), problems


def test_lines_with_the_same_names_become_columns() -> None:
    (rows,) = parse_rows(ALIKE, lambda *_: None)
    assert isinstance(rows, ColumnarRows)
    assert rows == [Row(step, {"loss": 2.5, "tokens": 7.0 * step}) for step in range(MANY)]


ODD = (
    "", "   ", "nonsense", "[1, 2]", "3", "null", '"step"', '{"step": 1', '{"step": 1} {"step": 2}',
    '{"step": 1}, {"step": 2}', '\ufeff{"step": 1, "loss": 1.0}', '\0\0{"step": 1, "loss": 1.0}',
    '{"step": 1, "loss": "\\ud800"}', '{"step": 1, "loss": 1.0, "loss": 2.0}', "{" * 5000,
    '{"step": 1, "deep": ' + "[" * 5000, '{"step": ' + "9" * 5000 + "}",
    'INFO {"tracker": "json_logger", "event": "log", "step": 1, "metrics": {"loss": 1.0}}',
    '{"tracker": "json_logger", "event": "hparams"}',
)  # fmt: skip


@pytest.mark.parametrize("odd", ODD)
def test_an_odd_line_among_others_is_read_as_if_alone(odd: str) -> None:
    lines = [*ALIKE, odd.encode("utf-8", "surrogatepass"), *ALIKE]
    assert at_once(lines) == one_by_one(lines)
    assert at_once([lines[MANY]] * MANY) == one_by_one([lines[MANY]] * MANY)


def test_a_line_that_is_not_utf_8_is_named() -> None:
    assert at_once([*ALIKE, b'{"step": 1, "x": "\xff"}'])[1] == [f"{MANY}: not UTF-8"]


VALUES = (
    "1", "-0", "2.5", "-1e-400", "1e400", "NaN", "Infinity", "-Infinity", "true", "null", "[1]",
    "{}", '{"a": 1.0}', '{"a": null}', '"7.5"', '"nan"', '"text"', "9007199254740993",
    "18446744073709551617", "9" * 400, "1700000000", '"2026-01-01T00:00:00+00:00"',
    '"json_logger"', '"log"',
)  # fmt: skip
NAMES = (
    *STEP_KEYS, "_timestamp", "timestamp", "time", "loss", "a", "a/a", "metrics", "tracker",
    "event",
)  # fmt: skip
RECORDS = st.lists(
    st.dictionaries(st.sampled_from(NAMES), st.sampled_from(VALUES), min_size=1), min_size=1
)


@pytest.mark.thorough
@given(RECORDS, st.sampled_from(VALUES), st.integers(0, MANY - 1))
def test_whatever_the_values_are_the_rows_are_the_same(
    records: list[dict[str, str]], other: str, place: int
) -> None:
    for record in records:
        lines = [_line({**record, "step": record.get("step", "3")})] * MANY
        lines[place] = _line({**record, max(record): other})
        assert at_once(lines) == one_by_one(lines)


def _line(record: dict[str, str]) -> bytes:
    return "{{{}}}".format(", ".join(f'"{k}": {v}' for k, v in record.items())).encode()


@pytest.mark.thorough
def test_a_json_logger_s_rows_and_nested_ones_are_the_same() -> None:
    record = {"tracker": "json_logger", "event": "log", "metrics": {"a": {"b": 1.5}, "c": 2}}
    lines = [json.dumps({**record, "step": step}).encode() for step in range(MANY)]
    (rows,) = parse_rows(lines, lambda *_: None)
    assert isinstance(rows, ColumnarRows) and rows[3] == Row(3, {"a/b": 1.5, "c": 2.0})
    assert at_once(lines) == one_by_one(lines)


@pytest.mark.parametrize("key", [b"_timestamp", b"time"])
def test_rows_that_tell_their_time_keep_it(key: bytes) -> None:
    lines = [b'{"step": %d, "%s": 1700000000.25}' % (step, key) for step in range(MANY)]
    (rows,) = parse_rows(lines, lambda *_: None)
    assert isinstance(rows, ColumnarRows)
    assert rows[0] == Row(0, {}, datetime(2023, 11, 14, 22, 13, 20, 250_000, UTC))
    assert at_once(lines) == one_by_one(lines)


@given(st.binary(max_size=60) | st.text(max_size=60).map(str.encode))
def test_the_quick_parser_accepts_nothing_that_json_reads_differently(data: bytes) -> None:
    try:
        value = from_json(data)
    except ValueError:
        return
    assert repr(value) == repr(json.loads(data))


@given(st.text("0123456789.eE+-", min_size=1, max_size=40))
def test_a_number_is_the_same_to_its_last_bit(text: str) -> None:
    try:
        value = from_json(text)
    except ValueError:
        return
    assert repr(value) == repr(json.loads(text))
