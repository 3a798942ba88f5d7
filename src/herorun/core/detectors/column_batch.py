"""Rows that follow one another without a gap, as columns."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import islice
from typing import NamedTuple

from herorun.core.detectors.state import MetricsState
from herorun.core.ports import Row
from herorun.core.ports.columnar import ColumnarRows

MAX_ROWS = 4096  # rows whose columns are in memory at once


class ColumnBatch(NamedTuple):
    """Consecutive rows, as columns."""

    steps: Sequence[int]  # as logged
    columns: Mapping[str, Sequence[float]]
    times: Sequence[datetime]  # none, or one for each row

    def first(self, count: int) -> "ColumnBatch":
        columns = {name: column[:count] for name, column in self.columns.items()}
        return ColumnBatch(self.steps[:count], columns, self.times[:count])

    def after(self, rows: Sequence[Row]) -> "ColumnBatch":
        """This batch, followed by rows with the same columns."""
        columns = {
            name: [*(row.values[name] for row in rows), *column]
            for name, column in self.columns.items()
        }
        times = [*(row.at for row in rows if row.at is not None), *self.times]
        return ColumnBatch([*(row.step for row in rows), *self.steps], columns, times)


NONE_ALIKE = ColumnBatch((), {}, ())


def batch_from(state: MetricsState, rows: Sequence[Row], first: int) -> ColumnBatch:
    """The rows from `first` on that follow the one before them, with the same columns."""
    newest = state.waiting[-1]
    columns, has_time = list(newest.values), newest.at is not None
    if any(list(row.values) != columns or (row.at is None) is has_time for row in state.waiting):
        return NONE_ALIKE
    attempts = ("", state.attempt)
    if isinstance(rows, ColumnarRows):
        if list(rows.columns) != columns or bool(rows.times) is not has_time:
            return NONE_ALIKE
        return _rising(rows, first, newest.step) if rows.attempt in attempts else NONE_ALIKE
    step = newest.step
    new_rows: list[Row] = []
    for row in islice(rows, first, first + MAX_ROWS):
        if row.step <= step or list(row.values) != columns:
            break
        if (row.at is None) is has_time or row.attempt not in attempts:
            break
        step = row.step
        new_rows.append(row)
    return _as_columns(new_rows) if new_rows else NONE_ALIKE


def _as_columns(rows: Sequence[Row]) -> ColumnBatch:
    by_column = zip(*(row.values.values() for row in rows), strict=True)
    columns = dict(zip(rows[0].values, by_column, strict=True))
    return ColumnBatch([row.step for row in rows], columns, [row.at for row in rows if row.at])


def _rising(rows: ColumnarRows, first: int, step: int) -> ColumnBatch:
    """Rows from `first` on whose steps rise from that one."""
    end = first + rows.rising(first, step, MAX_ROWS)
    columns = {name: column[first:end].tolist() for name, column in rows.columns.items()}
    return ColumnBatch(rows.steps[first:end].tolist(), columns, rows.times[first:end])
