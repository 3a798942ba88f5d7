"""Read what was fetched: one metric over a range of steps, file by file, while a babysitter adds to
it.
"""

import io
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO

from herorun.core.decode import decode
from herorun.core.detectors.attempts import AttemptTracker
from herorun.core.detectors.names import Names
from herorun.core.errors import CouldNotLook
from herorun.core.lazy_dataclass import dataclass
from herorun.core.ports import Row
from herorun.system.metrics_cache.format import (
    OWN,
    DamagedBlock,
    Index,
    block_at,
    column_at,
    ends_of,
    index_at,
    own_at,
)
from herorun.system.metrics_cache.layout import FULL, OPEN, files_in, generation_folders
from herorun.system.metrics_cache.points import (
    Attempt,
    Point,
    PointColumns,
    _seconds_of_microseconds,
    piece_of,
)


@dataclass(frozen=True)
class _Part:
    """One block and the file that it is in."""

    path: Path
    index: Index


def generations(folder: Path) -> tuple["FetchedRows", ...]:
    """What was fetched from each source that the run had, newest first. The first one alone is not
    `older`.
    """
    folders = [each for each in reversed(generation_folders(folder)) if files_in(each)]
    return tuple(FetchedRows(each, older=number > 0) for number, each in enumerate(folders))


def read_fetched(folder: Path) -> "FetchedRows | None":
    """What was fetched from the run's present source; None where nothing was."""
    return next(iter(generations(folder)), None)


class FetchedRows:
    """The rows of one source, as they were when this was opened.

    `older` ones are no longer the tracker's: it reported other values, or its history was replaced,
    cut or deleted. Whatever is damaged is `CouldNotLook`.
    """

    def __init__(self, folder: Path, older: bool = False) -> None:
        self.folder = folder
        self.older = older
        self._open: dict[Path, bytes] = {}  # a full file will replace an open one, which is small
        self._parts: list[_Part] = []
        for path in files_in(folder):
            try:
                self._parts += self._parts_of(path)
            except FileNotFoundError:  # it was filled in between
                self._parts += self._parts_of(path.with_suffix(f".{FULL}"))

    @property
    def rows(self) -> int:
        """How many were fetched, those that came twice counted twice."""
        return sum(part.index.rows for part in self._parts)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """All metrics that were ever reported, sorted."""
        return tuple(sorted({name for part in self._parts for name in part.index.names}))

    @property
    def fetched_at(self) -> datetime | None:
        """When the newest rows were fetched: what came later is not in here."""
        return datetime.fromisoformat(self._parts[-1].index.facts["at"]) if self._parts else None

    @property
    def cursor(self) -> str:
        """The tracker's cursor behind the newest row; empty where nothing was fetched."""
        return str(self._parts[-1].index.facts["cursor"]) if self._parts else ""

    def number_rows(self, rows: Iterable[Row], names: Names) -> Iterator[tuple[int, Row]]:
        """Rows that follow these, each with the number of its attempt."""
        attempts = (
            decode(AttemptTracker, self._parts[-1].index.facts["arrivals"])
            if self._parts
            else AttemptTracker()
        )
        for row in rows:
            yield attempts.attempt_of(row, names), row

    @cached_property
    def attempts(self) -> tuple[Attempt, ...]:
        by_number: dict[int, Attempt] = {}
        for part in self._parts:
            for number, (low, high) in part.index.spans.items():
                earlier = by_number.get(number)
                low, high = (
                    (min(low, earlier.first_step), max(high, earlier.last_step))
                    if earlier
                    else (low, high)
                )
                by_number[number] = Attempt(number, low, high)
        return tuple(by_number[number] for number in sorted(by_number))

    def pieces(
        self,
        metric: str,
        first: int | None = None,
        last: int | None = None,
        attempt: int | None = None,
    ) -> Iterator[PointColumns]:
        """The metric's points from step `first` to `last`, both included, in the order in which
        they were fetched.

        One file's worth is held at a time. Of an attempt's step that was reported twice, the last
        value counts.
        """
        query = _SeriesQuery(metric, first, last, attempt)
        for number, part in enumerate(self._parts):
            if query.is_in(part.index):
                later = [
                    other
                    for other in self._parts[number + 1 :]
                    if query.is_in(other.index) and _overlap(part.index, other.index)
                ]
                piece = self._calm(part, query) if not later else None
                if piece is None:
                    again = [self._points(other, query).keys() for other in later]
                    points = self._points(part, query).items()
                    piece = piece_of(
                        {
                            key: value
                            for key, value in points
                            if not any(key in one for one in again)
                        }
                    )
                if piece:
                    yield piece

    def points(
        self,
        metric: str,
        first: int | None = None,
        last: int | None = None,
        attempt: int | None = None,
    ) -> Iterator[Point]:
        """The same, point by point."""
        for piece in self.pieces(metric, first, last, attempt):
            yield from piece

    def _calm(self, part: _Part, query: "_SeriesQuery") -> PointColumns | None:
        """The short way, for a block of one attempt whose steps rise, as nearly all are; None where
        it is another.
        """
        if len(part.index.spans) > 1:
            return None
        steps, times, attempts, values = self._columns(part, query)
        if sorted(set(steps)) != steps.tolist():
            return None
        first = 0 if query.first is None else bisect_left(steps, query.first)
        last = len(steps) if query.last is None else bisect_right(steps, query.last)
        seconds = array("d", map(_seconds_of_microseconds, times[first:last]))
        return PointColumns(attempts[first:last], steps[first:last], seconds, values[first:last])

    def _points(
        self, part: _Part, query: "_SeriesQuery"
    ) -> dict[tuple[int, int], tuple[int, float]]:
        steps, times, attempts, values = self._columns(part, query)
        return {
            (attempt, step): (at, value)
            for attempt, step, at, value in zip(attempts, steps, times, values, strict=True)
            if query.has(attempt, step)
        }

    def _columns(
        self, part: _Part, query: "_SeriesQuery"
    ) -> "tuple[array[Any], array[Any], array[Any], array[Any]]":
        """Steps, times and attempts of the rows that have the metric, and its values."""
        try:
            with self._file(part.path) as file:
                column = column_at(file, part.index, f"={query.metric}")
                steps, times, attempts = (own_at(file, part.index, name) for name in OWN)
        except (OSError, DamagedBlock) as error:
            raise self._unreadable(part.path, error) from None
        assert column is not None
        if column.places is None:
            return steps, times, attempts, column.values
        places = column.places
        at = [
            array(each.typecode, map(each.__getitem__, places)) for each in (steps, times, attempts)
        ]
        return at[0], at[1], at[2], column.values

    def _parts_of(self, path: Path) -> Iterator[_Part]:
        try:
            if path.suffix != f".{OPEN}":
                with path.open("rb") as file:
                    yield _Part(path, index_at(file))
                return
            data = self._open[path] = path.read_bytes()
        except FileNotFoundError:
            raise
        except (OSError, DamagedBlock) as error:
            raise self._unreadable(path, error) from None
        yield from _of_open(path, data)

    def _file(self, path: Path) -> BinaryIO:
        return io.BytesIO(self._open[path]) if path in self._open else path.open("rb")

    def _unreadable(self, path: Path, error: Exception) -> CouldNotLook:
        remaining = (
            "It is older than what the tracker has now"
            if self.older
            else "The next ticks fetch it again"
        )
        return CouldNotLook(
            f"The metrics in {path} cannot be read: {error}. Delete {self.folder}. {remaining}."
        )


@dataclass(frozen=True)
class _SeriesQuery:
    metric: str
    first: int | None
    last: int | None
    attempt: int | None

    def has(self, attempt: int, step: int) -> bool:
        return (
            (self.attempt is None or attempt == self.attempt)
            and (self.first is None or step >= self.first)
            and (self.last is None or step <= self.last)
        )

    def is_in(self, index: Index) -> bool:
        """Whether the block may hold rows of this range."""
        return f"={self.metric}" in index.parts and any(
            (self.attempt is None or number == self.attempt)
            and (self.first is None or high >= self.first)
            and (self.last is None or low <= self.last)
            for number, (low, high) in index.spans.items()
        )


def _overlap(one: Index, other: Index) -> bool:
    """Whether an attempt may have logged one step in both."""
    theirs = other.spans
    return any(
        number in theirs and low <= theirs[number][1] and high >= theirs[number][0]
        for number, (low, high) in one.spans.items()
    )


def _of_open(path: Path, data: bytes) -> Iterator[_Part]:
    """The blocks of an open file; what is torn at its end is not there yet."""
    file = io.BytesIO(data)
    blocks = ends_of(file, len(data))
    for number, (offset, _, _) in enumerate(blocks, 1):
        try:
            index = index_at(file, offset)
            if number == len(blocks):
                block_at(file, index)
        except DamagedBlock:
            return
        yield _Part(path, index)
