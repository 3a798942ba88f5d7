"""The cells of a CSV file as rows: many plain lines at once as columns, odd ones line by line."""

import csv
import math
from array import array
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from herorun.core.errors import WrongUse
from herorun.core.ports import Row
from herorun.core.ports.columnar import ColumnarRows
from herorun.core.row_bounds import MAX_STEP
from herorun.operations.report.csv_numbers import Notation

CLOCKS = ("timestamp", "_timestamp", "Wall time", "time/timestamp")
NO_VALUES = frozenset(("", "-", "--", "na", "n/a", "none", "null", "<na>"))


class CsvTable:
    """Converts the cells below a header into rows."""

    def __init__(
        self,
        path: Path,
        header: list[str],
        step_name: str | None,
        judged_columns: frozenset[str],
        notation: Notation,
    ) -> None:
        """`judged_columns`: the columns in which a cell that is not a number is an error."""
        self._path, self._header, self._notation = path, header, notation
        self._judged_columns = judged_columns
        self._place = header.index(step_name) if step_name is not None else -1
        self._clock = next((header.index(name) for name in CLOCKS if name in header), -1)
        self._places = [i for i in range(len(header)) if i not in (self._place, self._clock)]
        self._names = [header[i] for i in self._places]

    def columnar(self, lines: Sequence[list[str]], first: int) -> ColumnarRows | None:
        """The same rows as `rows` returns, in a third of its time; None if a line is not plain,
        because only `rows` handles such lines.
        """
        if set(map(len, lines)) != {len(self._header)}:
            return None
        return self.of_cells(list(zip(*lines, strict=True)), first)

    def of_cells(self, cells: Sequence[Sequence[str]], first: int) -> ColumnarRows | None:
        """The same of the cells of each column."""
        if self._notation is not Notation.POINT:
            return None
        times = self._times(cells[self._clock]) if self._clock >= 0 else []
        try:  # an empty cell is no number
            steps = self._steps(cells, first, len(cells[0]))
            values = [array("d", map(float, cells[place])) for place in self._places]
        except ValueError:
            return None
        if times is None:
            return None
        return ColumnarRows(steps, dict(zip(self._names, values, strict=True)), times)

    def _steps(self, cells: Sequence[Sequence[str]], first: int, count: int) -> "array[int]":
        """The steps; `ValueError` if a cell is not a whole step."""
        if self._place < 0:
            return array("q", range(first - 2, first - 2 + count))
        return _whole_steps(cells[self._place])

    def _times(self, cells: Sequence[str]) -> list[datetime] | None:
        """The times of all lines, or none; None if only some lines have a time, or a cell is
        empty.
        """
        if "" in cells:
            return None
        times = [_parse_time(cell, self._notation) for cell in cells]
        present = [at for at in times if at is not None]
        return present if len(present) in (0, len(cells)) else None

    def rows(self, lines: Sequence[list[str]], first: int) -> Iterator[Row]:
        """The rows, line by line; `first` is the number of the first line."""
        header, place, clock = self._header, self._place, self._clock
        point = self._notation is Notation.POINT
        number_of: Callable[[str], float] = float if point else self._notation.number
        for number, cells in enumerate(lines, first):
            if not cells or not any(cells):
                continue
            if len(cells) > len(header) and any(cells[len(header) :]):
                raise self._too_long(number, cells)
            try:
                numbers = [number_of(cells[i]) for i in self._places]
                values = dict(zip(self._names, numbers, strict=True))
                step = self._notation.step(cells[place]) if place >= 0 else number - 2
            except (ValueError, IndexError):
                row = [cell.strip() for cell in cells]
                if row[: len(header)] == header:
                    continue  # the header of a second run that was appended to the file
                step, values = self._odd_row(number, cells, row)
            at = _parse_time(cells[clock], self._notation) if clock >= 0 else None
            yield Row(step, values, at)

    def _odd_row(
        self, number: int, cells: Sequence[str], row: Sequence[str]
    ) -> tuple[int, dict[str, float]]:
        """The step and values of a line with a cell that is not a number."""
        notation = self._notation
        try:
            values = _values_of(
                self._names, [row[i] for i in self._places], self._judged_columns, notation
            )
            return notation.step(row[self._place]) if self._place >= 0 else number - 2, values
        except (ValueError, IndexError):
            raise WrongUse(
                f"{self._path}:{number}: {','.join(cells)[:80]!r} must have a number in each "
                "cell, and an integer as its step."
            ) from None

    def _too_long(self, number: int, cells: Sequence[str]) -> WrongUse:
        return WrongUse(
            f"{self._path}:{number}: {','.join(cells)[:80]!r} has {len(cells)} cells, and the "
            f"first line names {len(self._header)}: a comma within a number needs quotes around it."
        )


def plain_cells(lines: Sequence[str], delimiter: str, width: int) -> list[list[str]] | None:
    """The cells of each column, in half the time of `csv`; None if a line has another width, a
    quote, or another end than a newline.
    """
    text = "".join(lines).replace("\r\n", "\n")
    if '"' in text or "\r" in text or max(map(len, lines)) > csv.field_size_limit():
        return None
    text = text if text.endswith("\n") else text + "\n"
    cells = text.replace("\n", f"{delimiter}\n{delimiter}").split(delimiter)
    del cells[-1]  # behind the last line
    ends = cells[width :: width + 1].count("\n")
    if ends != len(lines) or ends * (width + 1) != len(cells):
        return None
    return [cells[place :: width + 1] for place in range(width)]


def _whole_steps(cells: Sequence[str]) -> "array[int]":
    """The steps. Tries whole numbers first, in half the time: few files have `1e3` or `2.0`."""
    try:
        steps = array("q", map(int, cells))
    except (ValueError, OverflowError):
        numbers = array("d", map(float, cells))
        if not all(map(float.is_integer, numbers)) or max(map(abs, numbers)) > MAX_STEP:
            raise ValueError("no step") from None
        return array("q", map(int, numbers))
    if max(map(abs, steps)) > MAX_STEP:
        raise ValueError("no step")
    return steps


def _values_of(
    names: Sequence[str], cells: Sequence[str], judged_columns: frozenset[str], notation: Notation
) -> dict[str, float]:
    values: dict[str, float] = {}
    for name, cell in zip(names, cells, strict=True):
        if cell.lower() in NO_VALUES:
            continue
        try:
            values[name] = notation.number(cell)
        except ValueError:
            if name in judged_columns:
                raise
    return values


def _parse_time(text: str, notation: Notation) -> datetime | None:
    """The time of a cell: seconds or milliseconds since 1970 or another start, or a date and time;
    None if it is neither.
    """
    try:
        seconds = notation.number(text)
    except ValueError:
        return _date(text)
    if not math.isfinite(seconds):
        return None
    seconds = seconds / 1000 if seconds > 1e11 else seconds
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, OSError, ValueError):
        return None


def _date(text: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text.replace(",", "."))
    except ValueError:
        return None
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment
