"""Lines as columns are the rows that the same lines are one by one."""

import csv
import random
from collections.abc import Sequence
from pathlib import Path

import pytest

from herorun.core.backtest.curve import CHUNK
from herorun.core.ports import Row
from herorun.core.ports.columnar import ColumnarRows
from herorun.operations.report import curve_file
from herorun.operations.report.csv_table import CsvTable, plain_cells
from herorun.operations.report.curve_file import chunks_of, rows_of

PLAIN = ["3", "3.0", " 7 ", "1e3", "-2", "+4", "007"]
ODD = ["", "nan", "inf", "1_0", "2.5", "n/a", "1e400", "9" * 30]
MOMENTS = ["1700000000", "1700000000000", "2026-01-02T03:04:05", "", "soon", "nan", "1e300"]


def table(header: list[str]) -> CsvTable:
    step = "step" if "step" in header else None
    return CsvTable(Path("curve.csv"), header, step, frozenset(), curve_file.Notation.POINT)


def shown_lines(rows: Sequence[Row]) -> list[str]:
    return [repr((row.step, list(row.values.items()), row.at, row.attempt)) for row in rows]


@pytest.mark.parametrize("header", [["step", "loss", "timestamp"], ["loss", "lr"], ["lr", "step"]])
def test_columns_are_the_rows_of_their_lines(header: list[str]) -> None:
    lots, columnar = random.Random(5), 0
    for _ in range(2000):
        cells = PLAIN if lots.random() < 0.7 else PLAIN + ODD
        moments = MOMENTS[:3] if lots.random() < 0.5 else MOMENTS
        lines = [
            [lots.choice(moments if name == "timestamp" else cells) for name in header]
            for _ in range(lots.randint(1, 4))
        ]
        chunk = table(header).columnar(lines, 2)
        if chunk is not None:
            columnar += 1
            assert shown_lines(chunk) == shown_lines(list(table(header).rows(lines, 2)))
    assert columnar > 500


@pytest.mark.parametrize("delimiter", [",", ";"])
def test_plain_lines_have_the_cells_that_csv_finds(delimiter: str) -> None:
    lots, plain = random.Random(6), 0
    pieces = ["1", "2.5", delimiter, delimiter, delimiter, " ", '"', '"x"', "\r", "é", "\u2028"]
    for _ in range(5000):
        size = lots.randint(1, 3)
        texts = ["".join(lots.choices(pieces, k=lots.randint(1, 7))) for _ in range(size)]
        ends = lots.choice(("\n", "\r\n"))
        lines = [f"{text}{ends}" for text in texts]
        lines[-1] = lines[-1] if lots.random() < 0.5 else texts[-1]
        cells = plain_cells(lines, delimiter, 3)
        if cells is not None:
            plain += 1
            rows = [list(row) for row in zip(*cells, strict=True)]
            assert rows == list(csv.reader(lines, delimiter=delimiter, strict=True))
    assert plain > 50


@pytest.mark.parametrize("odd", ['1,"2\n3"', "1,2,3", "", '1,"2"'])
def test_lines_from_an_odd_one_on_are_read_too(tmp_path: Path, odd: str) -> None:
    path = tmp_path / "curve.csv"
    lines = [f"{step},{step / 7}" for step in range(3 * CHUNK)]
    lines[CHUNK + 5] = odd if odd != "1,2,3" else "1,2,"
    path.write_text("\n".join(["step,note", *lines]) + "\n", encoding="utf-8")
    table = CsvTable(path, ["step", "note"], "step", frozenset(), curve_file.Notation.POINT)
    with path.open(newline="", encoding="utf-8") as file:
        expected_rows = list(table.rows(list(csv.reader(file, strict=True))[1:], 2))
    text = path.read_text(encoding="utf-8").splitlines(keepends=True)[1:]
    chunks = curve_file._rows_of_lines(table, iter(text), ",", 2)
    assert shown_lines([row for chunk in chunks for row in chunk]) == shown_lines(expected_rows)


@pytest.mark.parametrize(
    "line",
    [["1"], ["1", "2", "3"], ["", ""], [], ["1", ""], ["1.5", "2"], ["inf", "2"], ["1", "word"]],
)
def test_a_chunk_with_an_odd_line_is_left_to_rows(line: list[str]) -> None:
    assert table(["step", "loss"]).columnar([["0", "1"], line], 2) is None


def test_an_odd_line_changes_nothing_of_the_chunks_next_to_it(tmp_path: Path) -> None:
    path = tmp_path / "curve.csv"
    lines = [f"{step},{step / 7}" for step in range(3 * CHUNK)]
    lines[CHUNK + 5] = f"{CHUNK + 5},"
    path.write_text("\n".join(["step,loss", *lines]) + "\n", encoding="utf-8")
    chunks = list(chunks_of(path))
    assert [isinstance(chunk, ColumnarRows) for chunk in chunks] == [True, False, True]
    rows = list(rows_of(path))
    assert [row.step for row in rows] == list(range(3 * CHUNK))
    assert rows[CHUNK + 5].values == {} and rows[CHUNK + 6].values == {"loss": (CHUNK + 6) / 7}
