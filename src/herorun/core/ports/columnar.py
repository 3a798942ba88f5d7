"""Rows as columns: a log of a million rows is read, judged and stored without a million objects."""

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import chain, compress, count, repeat
from operator import le
from typing import SupportsIndex, overload

from herorun.core.ports.metrics import Row


class _RowSequence(Sequence[Row]):
    """Equal to every sequence of the same rows."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence) or len(self) != len(other):
            return NotImplemented if not isinstance(other, Sequence) else False
        return all(one == another for one, another in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]  # as of a list


class ColumnarRows(_RowSequence):
    """Rows that have the same metrics in the same order, all or none of them a time.

    A `Row` is made on demand.
    """

    __slots__ = ("attempt", "columns", "steps", "times")

    def __init__(
        self,
        steps: "array[int]",
        columns: Mapping[str, "array[float]"],
        times: Sequence[datetime] = (),
        attempt: str = "",
    ) -> None:
        self.steps, self.columns, self.times, self.attempt = steps, columns, times, attempt

    def __len__(self) -> int:
        return len(self.steps)

    @overload
    def __getitem__(self, place: SupportsIndex) -> Row: ...
    @overload
    def __getitem__(self, place: "slice[int | None, int | None, int | None]") -> Sequence[Row]: ...
    def __getitem__(
        self, place: "SupportsIndex | slice[int | None, int | None, int | None]"
    ) -> Row | Sequence[Row]:
        if isinstance(place, slice):
            columns = {name: column[place] for name, column in self.columns.items()}
            return ColumnarRows(self.steps[place], columns, self.times[place], self.attempt)
        values = {name: column[place] for name, column in self.columns.items()}
        at = self.times[int(place)] if self.times else None
        return Row(self.steps[place], values, at, self.attempt)

    def __iter__(self) -> Iterator[Row]:
        by_row = zip(*self.columns.values(), strict=True) if self.columns else repeat(())
        times: Iterable[datetime | None] = self.times or repeat(None)
        for step, values, at in zip(self.steps, by_row, times, strict=False):
            yield Row(step, dict(zip(self.columns, values, strict=True)), at, self.attempt)

    def rising(self, first: int, step: int, most: int | None = None) -> int:
        """How many rows from `first` on, `most` at most, have a higher step each than the one
        before, which is `step` for the first of them.
        """
        steps = self.steps[first : None if most is None else first + most].tolist()
        falls = map(le, steps, chain((step,), steps))
        return next(compress(count(), falls), len(steps))


class ChainedRows(_RowSequence):
    """Several sequences of rows as one."""

    __slots__ = ("_size", "parts")

    def __init__(self, parts: Sequence[Sequence[Row]]) -> None:
        self.parts, self._size = parts, sum(map(len, parts))

    def __len__(self) -> int:
        return self._size

    @overload
    def __getitem__(self, place: SupportsIndex) -> Row: ...
    @overload
    def __getitem__(self, place: "slice[int | None, int | None, int | None]") -> Sequence[Row]: ...
    def __getitem__(
        self, place: "SupportsIndex | slice[int | None, int | None, int | None]"
    ) -> Row | Sequence[Row]:
        if isinstance(place, slice):
            first, end, stride = place.indices(self._size)
            return self._between(first, end) if stride == 1 else tuple(self)[place]
        at = range(self._size)[place]
        for part in self.parts:
            if at < len(part):
                return part[at]
            at -= len(part)
        raise IndexError(place)

    def _between(self, first: int, end: int) -> Sequence[Row]:
        parts = []
        for part in self.parts:
            if first < len(part) and end > 0:
                parts.append(part[max(first, 0) : end])
            first, end = first - len(part), end - len(part)
        return chain_rows(parts)

    def __iter__(self) -> Iterator[Row]:
        return chain.from_iterable(self.parts)


def chain_rows(parts: Iterable[Sequence[Row]]) -> Sequence[Row]:
    """One sequence of them all, a tuple where none of them holds columns."""
    flat = [part for rows in parts for part in parts_of(rows) if len(part)]
    if not any(isinstance(part, ColumnarRows) for part in flat):
        return tuple(chain.from_iterable(flat))
    return flat[0] if len(flat) == 1 else ChainedRows(flat)


def parts_of(rows: Sequence[Row]) -> Sequence[Sequence[Row]]:
    """What it was chained of, in order: columns, and lists of rows."""
    return rows.parts if isinstance(rows, ChainedRows) else (rows,)


def metric_names(rows: Sequence[Row]) -> dict[str, None]:
    """Every metric that a row has, in the order in which they come."""
    names: dict[str, None] = {}
    for part in parts_of(rows):
        if isinstance(part, ColumnarRows):
            names.update(dict.fromkeys(part.columns))
        else:
            names.update(dict.fromkeys(chain.from_iterable(row.values for row in part)))
    return names


def newest_time(rows: Sequence[Row]) -> datetime | None:
    """The latest of the rows' times."""
    times = [
        max(part.times if isinstance(part, ColumnarRows) else _row_times(part), default=None)
        for part in parts_of(rows)
    ]
    return max((at for at in times if at is not None), default=None)


def _row_times(rows: Sequence[Row]) -> Iterator[datetime]:
    return (row.at for row in rows if row.at is not None)


class RowBuilder:
    """Rows and columns, in the order in which they are added."""

    def __init__(self) -> None:
        self._parts: list[Sequence[Row]] = []
        self._open: list[Row] = []  # the newest part, where that is a list
        self._before = 0  # rows in the parts before it

    def __len__(self) -> int:
        return self._before + len(self._open)

    def append(self, row: Row) -> None:
        self._open.append(row)

    def extend(self, rows: Sequence[Row]) -> None:
        if not isinstance(rows, ColumnarRows):
            self._open.extend(rows)
            return
        self._parts += [self._open, rows]
        self._before, self._open = len(self) + len(rows), []

    def build(self) -> Sequence[Row]:
        return chain_rows([*self._parts, self._open])
